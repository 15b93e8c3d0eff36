internal import Foundation
internal import RoostCore

/// A compiler that turns predicates and expressions into the nodes of a program.
///
/// The compiler checks every name, type and number of arguments. A program can still fail at run
/// time, for example at a damaged record or an invalid regular expression in a record.
struct PredicateCompiler {
    struct Term {
        let node: PredicateProgram.Index
        let type: PredicateType
        /// Whether evaluation is fast, cannot fail, and depends only on the record.
        let isPlain: Bool
        /// The value if it is known at compile time.
        var constant: Value?
    }

    struct Condition {
        let node: PredicateProgram.Index
        let isPlain: Bool
    }

    private struct Variable {
        let name: String
        let slot: Int
        let type: PredicateType
    }

    static let maximumDepth = 200
    static let maximumListCount = 100_000
    static let maximumSubqueryDepth = 16

    static let maximumNodeCount = 1_000_000

    let model: ManagedObjectModel
    /// The entity whose properties the names refer to.
    let entity: ManagedObjectModel.Entity
    private(set) var parts = PredicateProgram.Parts()
    private var variables: [Variable] = []
    private var subqueryDepth = 0
    private var slotsByField: [FieldName: Int] = [:]
    /// The value of `now()`, which is the same for all records.
    private let start = Date()

    private struct FieldName: Hashable {
        let entity: Int
        let name: String
    }

    /// Whether nesting that is too deep for the caller's stack throws an error; see
    /// ``compile(_:)``.
    private let isShallow: Bool

    init(model: ManagedObjectModel, entity: ManagedObjectModel.Entity, isShallow: Bool = false) {
        self.model = model
        self.entity = entity
        self.isShallow = isShallow
    }

    // MARK: Nodes

    mutating func add(_ node: PredicateProgram.Node) -> PredicateProgram.Index {
        parts.nodes.append(node)
        return parts.nodes.count - 1
    }

    mutating func links(_ members: [PredicateProgram.Index]) -> PredicateProgram.Range {
        parts.links += members
        return PredicateProgram.Range(start: parts.links.count - members.count, count: members.count)
    }

    mutating func newVariable() -> Int {
        parts.variableCount += 1
        return parts.variableCount - 1
    }

    func invalid(_ message: String) -> StoreError {
        StoreError(.invalidRequest, "In a predicate on '\(entity.name)', \(message)")
    }

    static func requireDepth(_ depth: Int) throws(StoreError) {
        guard depth < maximumDepth else {
            throw StoreError(.invalidRequest, "The predicate is nested deeper than \(maximumDepth) levels.")
        }
    }

    private static let tooDeepForStack = StoreError.Code("tooDeepForStack")

    func requireDepthHere(_ depth: Int) throws(StoreError) {
        try Self.requireDepth(depth)
        guard parts.nodes.count < Self.maximumNodeCount else {
            throw StoreError(
                .limitExceeded, "The predicate has more than \(Self.maximumNodeCount) parts.")
        }
        guard !isShallow || depth < DeepStack.shallowDepth else {
            throw StoreError(Self.tooDeepForStack, "The predicate needs a stack of its own.")
        }
    }

    /// Runs `body` on the caller's stack, and again on a larger stack if the nesting is too deep.
    ///
    /// `body` must pass its argument as `isShallow` to a new compiler.
    static func compile<Result: Sendable>(
        _ body: @escaping @Sendable (Bool) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        do throws(StoreError) {
            return try body(true)
        } catch {
            guard error.code == tooDeepForStack else { throw error }
        }
        return try DeepStack.run { () throws(StoreError) in try body(false) }
    }

    // MARK: Conditions

    mutating func condition(_ predicate: FetchRequest.Predicate, depth: Int = 0) throws(StoreError) -> Condition {
        try requireDepthHere(depth)
        switch predicate {
        case .constant(let truth): return Condition(node: add(.truth(truth)), isPlain: true)
        case .comparison(let comparison): return try self.comparison(comparison, depth: depth)
        case .not(let member):
            let condition = try self.condition(member, depth: depth + 1)
            return Condition(node: add(.not(condition.node)), isPlain: condition.isPlain)
        case .and(let members):
            let (range, isPlain) = try conditions(members, depth: depth)
            return Condition(node: add(.and(range)), isPlain: isPlain)
        case .or(let members):
            let (range, isPlain) = try conditions(members, depth: depth)
            return Condition(node: add(.or(range)), isPlain: isPlain)
        }
    }

    private mutating func conditions(
        _ members: [FetchRequest.Predicate], depth: Int
    ) throws(StoreError) -> (PredicateProgram.Range, isPlain: Bool) {
        var nodes: [PredicateProgram.Index] = []
        var isPlain = true
        for member in members {
            let condition = try self.condition(member, depth: depth + 1)
            nodes.append(condition.node)
            isPlain = isPlain && condition.isPlain
        }
        return (links(nodes), isPlain)
    }

    // MARK: Variables

    /// Runs `body` with a variable that refers to `slot`.
    mutating func binding<Result>(
        _ name: String, slot: Int, type: PredicateType,
        _ body: (inout Self) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard subqueryDepth < Self.maximumSubqueryDepth else {
            throw StoreError(
                .limitExceeded, "SUBQUERY is nested deeper than \(Self.maximumSubqueryDepth) levels.")
        }
        subqueryDepth += 1
        variables.append(Variable(name: name, slot: slot, type: type))
        defer {
            variables.removeLast()
            subqueryDepth -= 1
        }
        return try body(&self)
    }

    /// Declares a variable, and returns its slot.
    ///
    /// The code that runs the program must set the variable's value.
    mutating func declare(_ name: String, type: PredicateType) -> Int {
        let slot = newVariable()
        variables.append(Variable(name: name, slot: slot, type: type))
        return slot
    }

    mutating func variable(_ name: String) throws(StoreError) -> Term {
        guard let variable = variables.last(where: { $0.name == name }) else {
            throw unbound(name, near: nearestName(to: name, among: variables.map(\.name)))
        }
        return Term(node: add(.variable(variable.slot)), type: variable.type, isPlain: true)
    }

    /// Returns the error for a variable without a value; `near` is a variable with a similar name.
    func unbound(_ name: String, near: String? = nil) -> StoreError {
        let hint = near.map { "did you mean '\(PredicatePrinter.variable($0))'? A variable" } ?? "a variable"
        return invalid(
            "the variable '$\(name)' has no value; \(hint) must be bound by an enclosing SUBQUERY, or be substituted before the fetch."
        )
    }

    // MARK: Constants and fields

    /// Throws `invalidRequest` for a value that no store can contain.
    func requireStorable(_ value: Value) throws(StoreError) {
        guard case .decimal(let decimal) = value, DecimalNumber(decimal) == nil else { return }
        throw invalid("a decimal constant has more than 38 digits; round it.")
    }

    mutating func constant(_ value: Value) -> Term {
        let constant = PredicateConstant(value, model: model)
        parts.constants.append(constant)
        return Term(
            node: add(.constant(constant.operand)), type: PredicateType(value, model: model), isPlain: true,
            constant: value)
    }

    var now: Value { .date(start) }

    /// Returns the index of a property's first place in ``PredicateProgram/places``.
    ///
    /// Each property has one place for each entity of the model.
    mutating func slots(_ name: String, of number: Int) -> Int {
        let key = FieldName(entity: number, name: name)
        if let slots = slotsByField[key] { return slots }
        let owner = model.entities[number]
        let slots = parts.places.count
        for member in model.entities {
            let field = owner.includes(member.number) ? member.layout.field(name) : nil
            parts.places.append(field.map { PredicateProgram.Place($0, in: member.layout, model: model) })
        }
        slotsByField[key] = slots
        return slots
    }

    mutating func add(_ path: PredicateProgram.Path) -> PredicateProgram.Index {
        parts.paths.append(path)
        return add(.path(parts.paths.count - 1))
    }

    /// Sets `readsEnd` of a collection's path if a path from index `count` on starts at the
    /// variable in `slot`.
    mutating func readEnds(of collection: Term, ifPathsFrom slot: Int, since count: Int) {
        guard case .path(let path) = parts.nodes[collection.node] else { return }
        for other in parts.paths[count...] {
            guard let start = other.start, case .variable(slot) = parts.nodes[start] else { continue }
            parts.paths[path].readsEnd = true
        }
    }

    mutating func add(_ step: PredicateProgram.Step) { parts.steps.append(step) }

    mutating func add(_ matcher: StringMatcher) -> Int {
        parts.matchers.append(matcher)
        return parts.matchers.count - 1
    }

    mutating func add(_ set: OperandSet) -> Int {
        parts.sets.append(set)
        return parts.sets.count - 1
    }

    mutating func add(_ call: PredicateProgram.Call) -> Int {
        parts.functions.append(call)
        return parts.functions.count - 1
    }
}
