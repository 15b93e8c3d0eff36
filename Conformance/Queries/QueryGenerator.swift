internal import Foundation
internal import RoostCore

/// A generator of random fetch requests for a world, valid except for ``senselessRequest()``.
struct QueryGenerator {
    typealias Predicate = FetchRequest.Predicate
    typealias Expression = FetchRequest.Expression
    typealias Comparison = FetchRequest.Comparison

    /// The context of an expression: the entity where key paths start, and the variables.
    struct Scope {
        let entity: ManagedObjectModel.Entity
        var variables: [(name: String, entity: ManagedObjectModel.Entity)] = []
        /// The number of levels that the predicate may still nest.
        var depth: Int

        func deeper() -> Scope {
            var scope = self
            scope.depth -= 1
            return scope
        }
    }

    /// A kind of values that compare with each other.
    enum Kind: CaseIterable {
        case number, text, date, uuid, data
    }

    let world: QueryWorld
    var random: SeededGenerator
    var model: ManagedObjectModel { world.model }
    /// The values of objects by kind, for requests that find objects.
    private var stored: [Kind: [Value]] = [:]

    init(_ world: QueryWorld, seed: UInt64) {
        self.world = world
        random = SeededGenerator(seed: seed)
        for object in world.objects {
            for name in object.values.keys.sorted() { store(object.values[name] ?? .null) }
        }
    }

    private mutating func store(_ value: Value) {
        switch value {
        case .bool, .int, .double, .decimal: stored[.number, default: []].append(value)
        case .string, .uri: stored[.text, default: []].append(value)
        case .date: stored[.date, default: []].append(value)
        case .uuid: stored[.uuid, default: []].append(value)
        case .data: stored[.data, default: []].append(value)
        case .composite(let elements): for name in elements.keys.sorted() { store(elements[name] ?? .null) }
        case .null, .objectID: break
        }
    }

    // MARK: Requests

    mutating func request() -> FetchRequest {
        // Selects persons most often, because they are the most numerous.
        let people = model.entities.filter { $0.layout.field("name") != nil && $0.layout.field("budget") == nil }
        let entity = random.pick(random.oneIn(3) || people.isEmpty ? model.entities : people)
        var request = FetchRequest(entity.name)
        if !random.oneIn(20) {
            request.predicate = predicate(Scope(entity: entity, depth: random.below(4)))
        }
        if random.oneIn(3) { request.sortDescriptors = (0...random.below(3)).map { _ in sortDescriptor(entity) } }
        if random.oneIn(4) { request.fetchLimit = random.below(12) }
        if random.oneIn(5) { request.fetchOffset = random.below(9) }
        if random.oneIn(8) { request.includesSubentities = false }
        return request
    }

    mutating func sortDescriptor(_ entity: ManagedObjectModel.Entity) -> FetchRequest.SortDescriptor {
        let (names, _) = toOneSteps(entity)
        let end = names.reduce(entity) { entity, name in
            entity.relationship(name).map { model.entities[$0.destination] } ?? entity
        }
        let fields =
            self.fields(of: end, kind: .number) + self.fields(of: end, kind: .text) + self.fields(of: end, kind: .date)
        guard !fields.isEmpty else { return .init("name", ascending: random.oneIn(2)) }
        let path = (names + random.pick(fields)).joined(separator: ".")
        let options: Comparison.Options = random.pick([
            [], [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive], .localized,
        ])
        return .init(path, ascending: random.oneIn(2), options: options)
    }

    // MARK: Predicates

    mutating func predicate(_ scope: Scope) -> Predicate {
        guard scope.depth > 0 else { return leaf(scope) }
        let inner = scope.deeper()
        switch random.below(9) {
        case 0, 1: return .and((0..<random.below(4)).map { _ in predicate(inner) })
        case 2, 3: return .or((0..<random.below(4)).map { _ in predicate(inner) })
        case 4: return .not(predicate(inner))
        case 5: return random.oneIn(6) ? .constant(random.oneIn(2)) : leaf(scope)
        default: return leaf(scope)
        }
    }

    private mutating func leaf(_ scope: Scope) -> Predicate {
        switch random.below(16) {
        case 0...3: return scalarComparison(.number, scope: scope)
        case 4...7: return textComparison(scope)
        case 8: return scalarComparison(random.pick([.date, .uuid, .data]), scope: scope)
        case 9: return objectComparison(scope)
        case 10: return membership(scope)
        case 11, 12: return quantified(scope)
        case 13: return aboutCollection(scope)
        case 14:
            let names = [["home"], ["home", "position"], ["coded"], ["ref"]].filter {
                scope.entity.attribute($0.first ?? "") != nil
            }
            guard !names.isEmpty else { return scalarComparison(.text, scope: scope) }
            return .comparison(
                .init(
                    left: .keyPath(random.pick(names)), operator: random.oneIn(2) ? .equal : .notEqual,
                    right: .constant(.null)))
        default: return scalarComparison(random.pick(Kind.allCases), scope: scope)
        }
    }

    static let orders: [Comparison.Operator] = [
        .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ]

    private mutating func options() -> Comparison.Options {
        guard random.oneIn(2) else { return [] }
        return random.pick([
            .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
            [.caseInsensitive, .diacriticInsensitive], .normalized,
        ])
    }

    private mutating func scalarComparison(_ kind: Kind, scope: Scope) -> Predicate {
        if kind == .date, random.oneIn(8) { return comparisonWithNow(scope) }
        let left = scalar(kind, scope: scope)
        let options = kind == .text ? options() : []
        if random.oneIn(6) {
            let bounds = Expression.aggregate([scalar(kind, scope: scope), scalar(kind, scope: scope)])
            return .comparison(.init(left: left, operator: .between, right: bounds, options: options))
        }
        return .comparison(
            .init(left: left, operator: random.pick(Self.orders), right: scalar(kind, scope: scope), options: options))
    }

    /// Returns a comparison with the time of the fetch, which is far from every date of a world.
    private mutating func comparisonWithNow(_ scope: Scope) -> Predicate {
        let order = random.pick(
            [.less, .lessOrEqual, .greater, .greaterOrEqual] as [Comparison.Operator])
        let (field, now) = (time(scope), Expression.function(.now, []))
        return .comparison(
            random.oneIn(2)
                ? .init(left: field, operator: order, right: now) : .init(left: now, operator: order, right: field))
    }

    private mutating func textComparison(_ scope: Scope) -> Predicate {
        let (left, options) = (scalar(.text, scope: scope), options())
        switch random.below(10) {
        case 9:
            let pattern = Expression.registered(
                CampaignFunctions.pattern, [.constant(.int(0)), scalar(.text, scope: scope.deeper())])
            return .comparison(.init(left: left, operator: .matches, right: pattern, options: options))
        case 0, 1:
            return .comparison(
                .init(left: left, operator: .contains, right: scalar(.text, scope: scope), options: options))
        case 2:
            return .comparison(
                .init(left: left, operator: .beginsWith, right: scalar(.text, scope: scope), options: options))
        case 3:
            return .comparison(
                .init(left: left, operator: .endsWith, right: scalar(.text, scope: scope), options: options))
        case 4:
            return .comparison(.init(left: left, operator: .isIn, right: scalar(.text, scope: scope), options: options))
        case 5:
            return .comparison(
                .init(left: left, operator: .like, right: .constant(.string(likePattern())), options: options))
        case 6:
            return .comparison(.init(left: left, operator: .like, right: scalar(.text, scope: scope), options: options))
        case 7:
            let pattern = random.pick([
                "a", "a.*", ".*b", "[ab]+", "(a|b)*", "rob|ab", ".", ".?", "a{1,3}b?", "\\w+", "\\d+", "^a.*$",
                "(?s).*",
                "r.b", "röb", "[^a]*", "(?i)ROB", "\\QA\\E", "é", "ß",
            ])
            return .comparison(
                .init(left: left, operator: .matches, right: .constant(.string(pattern)), options: options))
        default:
            let order = random.pick(
                [.less, .lessOrEqual, .greater, .greaterOrEqual] as [Comparison.Operator])
            return .comparison(
                .init(left: left, operator: order, right: scalar(.text, scope: scope), options: .localized))
        }
    }

    private mutating func likePattern() -> String {
        guard random.oneIn(3) else {
            return random.pick([
                "*", "?", "a*", "*b", "*b*", "??", "r?b*", "", "\\*", "a\\?b", "*\\", "A*B*", "***a", "?*?",
            ])
        }
        let text = random.pick(QueryValues.texts)
        return random.oneIn(2) ? "*\(text)" : "\(text.unicodeScalars.first.map(String.init) ?? "")*"
    }

    private mutating func objectComparison(_ scope: Scope) -> Predicate {
        let entity = random.pick(model.entities)
        let left = object(entity.root, scope: scope)
        if random.oneIn(3) {
            let list = Expression.aggregate((0..<random.below(4)).map { _ in object(entity.root, scope: scope) })
            return .comparison(.init(left: left, operator: .isIn, right: list))
        }
        return .comparison(
            .init(left: left, operator: random.oneIn(2) ? .equal : .notEqual, right: object(entity.root, scope: scope)))
    }

    /// Returns an `IN` or `CONTAINS` comparison with a list or a collection.
    private mutating func membership(_ scope: Scope) -> Predicate {
        let kind = random.pick(Kind.allCases)
        let options = kind == .text ? options() : []
        if random.oneIn(4), let (objects, entity) = objects(scope) {
            return random.oneIn(2)
                ? .comparison(.init(left: object(entity.root, scope: scope), operator: .isIn, right: objects))
                : .comparison(.init(left: objects, operator: .contains, right: object(entity.root, scope: scope)))
        }
        if random.oneIn(3), let values = values(kind, scope: scope) {
            return random.oneIn(2)
                ? .comparison(.init(left: scalar(kind, scope: scope), operator: .isIn, right: values, options: options))
                : .comparison(
                    .init(left: values, operator: .contains, right: scalar(kind, scope: scope), options: options))
        }
        let count = random.oneIn(12) ? 40 : random.below(5)
        let list = Expression.aggregate(
            (0..<count).map { _ in random.oneIn(4) ? scalar(kind, scope: scope) : constant(kind) })
        return .comparison(.init(left: scalar(kind, scope: scope), operator: .isIn, right: list, options: options))
    }

    private mutating func quantified(_ scope: Scope) -> Predicate {
        let modifier: Comparison.Modifier = random.oneIn(2) ? .any : .all
        var comparison: Comparison
        if random.oneIn(5), let (objects, entity) = objects(scope) {
            comparison = .init(
                left: objects, operator: random.oneIn(2) ? .equal : .notEqual, right: object(entity.root, scope: scope),
                modifier: modifier)
        } else {
            let kind = random.pick([Kind.number, .number, .text, .text, .date, .uuid, .data])
            guard let values = values(kind, scope: scope) else { return scalarComparison(kind, scope: scope) }
            guard
                case .comparison(let inner) = kind == .text
                    ? textComparison(scope) : scalarComparison(kind, scope: scope)
            else { return .constant(true) }
            comparison = inner
            comparison.left = values
            comparison.modifier = modifier
        }
        return random.oneIn(3) ? .not(.comparison(comparison)) : .comparison(comparison)
    }

    private mutating func aboutCollection(_ scope: Scope) -> Predicate {
        guard let (objects, _) = objects(scope) else { return scalarComparison(.number, scope: scope) }
        let count: Expression = random.oneIn(3) ? .element(of: objects, .size) : .path(of: objects, ["@count"])
        return .comparison(
            .init(left: count, operator: random.pick(Self.orders), right: .constant(.int(Int64(random.below(4))))))
    }

    // MARK: Constants

    private mutating func constant(_ kind: Kind) -> Expression {
        if random.oneIn(14) { return .constant(.null) }
        if let stored = stored[kind], !random.oneIn(3) { return .constant(random.pick(stored)) }
        switch kind {
        case .number: return .constant(numberConstant())
        case .text:
            return .constant(
                random.oneIn(12) ? .uri(random.pick(QueryValues.uris)) : .string(random.pick(QueryValues.texts)))
        case .date: return .constant(.date(Date(timeIntervalSinceReferenceDate: random.pick(QueryValues.seconds))))
        case .uuid: return .constant(.uuid(random.pick(QueryValues.uuids)))
        case .data: return .constant(.data(Data(random.pick(QueryValues.blobs))))
        }
    }

    private mutating func numberConstant() -> Value {
        switch random.below(7) {
        case 0: .int(random.pick(QueryValues.bigIntegers))
        case 1: .double(random.pick(QueryValues.doubles))
        case 2: .decimal(random.pick(QueryValues.decimals))
        case 3: random.oneIn(3) ? .bool(random.oneIn(2)) : .double(Double(random.pick(QueryValues.floats)))
        default: .int(random.pick(QueryValues.integers))
        }
    }

    // MARK: Paths

    /// Returns the paths of an entity's attributes of a kind, including elements of composites.
    func fields(of entity: ManagedObjectModel.Entity, kind: Kind) -> [[String]] {
        func paths(_ attributes: [AttributeDescription], prefix: [String]) -> [[String]] {
            attributes.flatMap { attribute -> [[String]] in
                let path = prefix + [attribute.name]
                let own: Kind? =
                    switch attribute.type {
                    case .integer16, .integer32, .integer64, .double, .float, .decimal, .boolean: .number
                    case .string, .uri: .text
                    case .date: .date
                    case .uuid: .uuid
                    case .binaryData: .data
                    case .undefined, .transformable, .objectID, .composite: nil
                    }
                if attribute.type == .composite { return paths(attribute.elements, prefix: path) }
                return own == kind ? [path] : []
            }
        }
        return paths(entity.attributes, prefix: [])
    }

    /// Returns a path of up to two to-one relationships, and its destination.
    mutating func toOneSteps(
        _ entity: ManagedObjectModel.Entity
    ) -> (names: [String], entity: ManagedObjectModel.Entity) {
        var (names, current): ([String], ManagedObjectModel.Entity) = ([], entity)
        while names.count < 2, random.oneIn(4) {
            let steps = current.relationships.filter { !$0.isToMany }
            guard !steps.isEmpty else { break }
            let step = random.pick(steps)
            names.append(step.name.name)
            current = model.entities[step.destination]
        }
        return (names, current)
    }

    /// Returns a path from the object itself to a field of a kind.
    mutating func path(_ kind: Kind, entity: ManagedObjectModel.Entity) -> Expression? {
        let (names, end) = toOneSteps(entity)
        let fields = fields(of: end, kind: kind)
        return fields.isEmpty ? nil : .keyPath(names + random.pick(fields))
    }

    /// Returns a path that ends with a to-one relationship.
    mutating func toOnePath(_ entity: ManagedObjectModel.Entity) -> Expression? {
        let (names, end) = toOneSteps(entity)
        let ends = end.relationships.filter { !$0.isToMany }
        return ends.isEmpty ? nil : .keyPath(names + [random.pick(ends).name.name])
    }

    /// Returns the entity at the start of a path, and a function that makes the path from names.
    private mutating func start(
        _ scope: Scope
    ) -> (entity: ManagedObjectModel.Entity, path: @Sendable ([String]) -> Expression) {
        if let variable = scope.variables.last, random.below(5) < 4 {
            let chosen = random.oneIn(3) ? random.pick(scope.variables) : variable
            return (chosen.entity, { .path(of: .variable(chosen.name), $0) })
        }
        if random.oneIn(20) {
            let lists = scope.entity.relationships.filter(\.isOrdered)
            if !lists.isEmpty {
                let list = random.pick(lists)
                let element = Expression.element(of: .keyPath([list.name.name]), index())
                return (model.entities[list.destination], { .path(of: element, $0) })
            }
        }
        if random.oneIn(30) { return (scope.entity, { .path(of: .evaluatedObject, $0) }) }
        return (scope.entity, { .keyPath($0) })
    }

    private mutating func index() -> FetchRequest.Index {
        switch random.below(4) {
        case 0: .first
        case 1: .last
        default: .position(.constant(.int(Int64(random.below(5)) - 1)))
        }
    }

    /// Returns the path of a field of a kind, possibly through to-one relationships.
    private mutating func field(_ kind: Kind, scope: Scope) -> Expression? {
        let start = start(scope)
        let (names, entity) = toOneSteps(start.entity)
        let fields = fields(of: entity, kind: kind)
        return fields.isEmpty ? nil : start.path(names + random.pick(fields))
    }

    /// Returns a path through to-many relationships: its names, its destination, and a function
    /// that makes it.
    private mutating func toManyPath(
        _ scope: Scope
    ) -> (names: [String], entity: ManagedObjectModel.Entity, path: @Sendable ([String]) -> Expression)? {
        let start = start(scope)
        var (names, entity) = toOneSteps(start.entity)
        var count = random.oneIn(5) ? 2 : 1
        // With three or four steps, several ways can end at the same object.
        if random.oneIn(12) { count = 3 + random.below(2) }
        for number in 0..<count {
            let toOnes = entity.relationships.filter { !$0.isToMany }
            if number > 0, !toOnes.isEmpty, random.oneIn(5) {
                let step = random.pick(toOnes)
                names.append(step.name.name)
                entity = model.entities[step.destination]
            }
            let steps = entity.relationships.filter(\.isToMany)
            guard !steps.isEmpty else { break }
            let step = random.pick(steps)
            names.append(step.name.name)
            entity = model.entities[step.destination]
        }
        guard names.contains(where: { name in model.relationships.contains { $0.name.name == name && $0.isToMany } })
        else {
            return nil
        }
        return (names, entity, start.path)
    }

    private mutating func objects(_ scope: Scope) -> (Expression, ManagedObjectModel.Entity)? {
        guard let (names, entity, path) = toManyPath(scope) else { return nil }
        let list = path(names)
        guard scope.depth > 0, random.oneIn(3) else { return (list, entity) }
        if random.oneIn(4), let (other, otherEntity) = objects(scope.deeper()), otherEntity.number == entity.number {
            return (.setOperation(random.pick(FetchRequest.SetOperation.allCases), list, other), entity)
        }
        var inner = scope.deeper()
        let name = "x\(inner.variables.count)"
        inner.variables.append((name, entity))
        return (.subquery(list, variable: name, predicate(inner)), entity)
    }

    /// Returns an expression with several values of a kind.
    private mutating func values(_ kind: Kind, scope: Scope) -> Expression? {
        if random.oneIn(10) {
            return .aggregate((0..<random.below(4)).map { _ in scalar(kind, scope: scope.deeper()) })
        }
        if random.oneIn(4), let (objects, entity) = objects(scope) {
            let fields = fields(of: entity, kind: kind)
            guard !fields.isEmpty else { return nil }
            return .path(of: objects, random.pick(fields))
        }
        guard let (names, entity, path) = toManyPath(scope) else { return nil }
        let (more, end) = toOneSteps(entity)
        let fields = fields(of: end, kind: kind)
        guard !fields.isEmpty else { return nil }
        let rest = more + random.pick(fields)
        guard random.oneIn(8) else { return path(names + rest) }
        return path(names + [random.pick(["@unionOfObjects", "@distinctUnionOfObjects"])] + rest)
    }

    /// Returns an expression such as `rel.@sum.price`.
    private mutating func collected(_ kind: Kind, operators: [String], scope: Scope) -> Expression? {
        guard let (names, entity, path) = toManyPath(scope) else { return nil }
        let fields = fields(of: entity, kind: kind)
        return fields.isEmpty ? nil : path(names + [random.pick(operators)] + random.pick(fields))
    }

    // MARK: Scalars

    /// Returns an expression with one value of a kind.
    mutating func scalar(_ kind: Kind, scope: Scope) -> Expression {
        let inner = scope.deeper()
        let isPlain = scope.depth <= 0 || random.below(5) < 3
        if isPlain { return random.oneIn(2) ? constant(kind) : field(kind, scope: scope) ?? constant(kind) }
        if random.oneIn(12) {
            return .conditional(predicate(inner), scalar(kind, scope: inner), scalar(kind, scope: inner))
        }
        let made: Expression? =
            switch kind {
            case .number: number(inner)
            case .text: text(inner)
            case .date: date(inner)
            case .uuid, .data: field(kind, scope: inner)
            }
        return made ?? constant(kind)
    }

    private mutating func number(_ scope: Scope) -> Expression? {
        func call(_ function: FetchRequest.Function, _ arguments: Expression...) -> Expression {
            .function(function, arguments)
        }
        switch random.below(16) {
        case 15: return .registered(CampaignFunctions.number, [.constant(.int(0)), scalar(.text, scope: scope)])
        case 0...2:
            return call(
                random.pick([.add, .subtract, .multiply, .divide]), scalar(.number, scope: scope),
                scalar(.number, scope: scope))
        case 3:
            return call(random.pick([.negate, .absolute, .floor, .ceiling, .truncate]), scalar(.number, scope: scope))
        case 4: return call(random.pick([.squareRoot, .log, .naturalLog, .exponential]), scalar(.number, scope: scope))
        case 5: return call(.power, scalar(.number, scope: scope), .constant(.int(Int64(random.below(6)) - 1)))
        case 6: return call(.modulus, integer(scope), integer(scope))
        case 7:
            return random.oneIn(4)
                ? call(.onesComplement, integer(scope))
                : call(
                    random.pick([.bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift]), integer(scope),
                    random.oneIn(2) ? .constant(.int(Int64(random.below(70)) - 2)) : integer(scope))
        case 8: return call(.length, scalar(.text, scope: scope))
        case 9: return objects(scope).map { .path(of: $0.0, ["@count"]) }
        case 10: return collected(.number, operators: ["@sum", "@avg", "@min", "@max"], scope: scope)
        case 11:
            let functions: [FetchRequest.Function] = [
                .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation,
            ]
            return values(.number, scope: scope).map { .function(random.pick(functions), [$0]) }
        case 12: return call(.subtract, time(scope), time(scope))
        case 13: return .cast(.constant(.string(random.pick(["1", "-7", "x", "", "1.5", "10 ", "1e3"]))), .number)
        default: return call(.noIndex, scalar(.number, scope: scope))
        }
    }

    /// Returns an expression of an integer type.
    private mutating func integer(_ scope: Scope) -> Expression {
        switch random.below(4) {
        case 0: return .constant(.int(random.pick(QueryValues.bigIntegers)))
        case 1: return .function(.length, [scalar(.text, scope: scope)])
        case 2:
            let start = start(scope)
            let names = start.entity.attributes.filter { [.integer16, .integer32, .integer64].contains($0.type) }
            return names.isEmpty ? .constant(.int(3)) : start.path([random.pick(names).name])
        default: return .constant(.int(random.pick(QueryValues.integers)))
        }
    }

    private mutating func text(_ scope: Scope) -> Expression? {
        switch random.below(7) {
        case 6: return .registered(CampaignFunctions.text, [.constant(.int(0)), scalar(.text, scope: scope)])
        case 0, 1, 2:
            return .function(random.pick([.uppercase, .lowercase, .canonical]), [scalar(.text, scope: scope)])
        case 3: return collected(.text, operators: ["@min", "@max"], scope: scope)
        case 4: return .cast(integer(scope), .string)
        default:
            return values(.text, scope: scope).map { .function(random.oneIn(2) ? .minimum : .maximum, [$0]) }
        }
    }

    /// Returns a field or constant of type date; not the constant null, because `null + 1` has no
    /// type.
    private mutating func time(_ scope: Scope) -> Expression {
        if random.oneIn(2), let field = field(.date, scope: scope) { return field }
        return .constant(.date(Date(timeIntervalSinceReferenceDate: random.pick(QueryValues.seconds))))
    }

    private mutating func date(_ scope: Scope) -> Expression? {
        switch random.below(4) {
        case 0: return .function(random.oneIn(2) ? .add : .subtract, [time(scope), scalar(.number, scope: scope)])
        case 1: return collected(.date, operators: ["@min", "@max"], scope: scope)
        case 2: return .cast(scalar(.number, scope: scope), .date)
        default: return field(.date, scope: scope)
        }
    }

    private mutating func objectConstant(_ root: Int) -> Expression {
        if random.oneIn(10) { return .constant(.null) }
        let entities = model.entities.filter { $0.root == root }
        return .constant(.objectID(ObjectID(random.pick(entities).name, key: Int64(1 + random.below(14)))))
    }

    /// Returns an object of a hierarchy, or null.
    private mutating func object(_ root: Int, scope: Scope) -> Expression {
        let constant = objectConstant(root)
        guard random.oneIn(2) else { return constant }
        let start = start(scope)
        if start.entity.root == root, random.oneIn(3) {
            if case .path(let source, _) = start.path([]) { return source }
            return .evaluatedObject
        }
        let (names, entity) = toOneSteps(start.entity)
        let ends = entity.relationships.filter { !$0.isToMany && model.entities[$0.destination].root == root }
        return ends.isEmpty ? constant : start.path(names + [random.pick(ends).name.name])
    }
}
