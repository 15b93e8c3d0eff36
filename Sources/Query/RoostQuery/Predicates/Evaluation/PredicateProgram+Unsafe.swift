internal import RoostCore

/// Predicates and expressions compiled against a model: a list of nodes that refer to each other by
/// index.
///
/// Nodes contain no counted references, so their evaluation costs no reference counting.
final class PredicateProgram: @unchecked Sendable {
    // Proof of Sendable: nothing changes after `init`. The program owns everything that nodes point
    // to: the bytes in `constants`, the matchers and the sets.

    typealias Index = Int

    /// A range of indexes into ``links``.
    struct Range: Sendable {
        let start: Int
        let count: Int
    }

    enum Node: @unchecked Sendable {
        // Proof of Sendable: a value that never changes. The program owns the bytes of operands.

        // MARK: Expressions
        case constant(PredicateOperand)
        case evaluatedObject
        /// The current value of a variable, for example of a SUBQUERY or a quantifier.
        case variable(Int)
        /// A field of the current record; the number is the index of the field's first place.
        case field(Int)
        case path(Int)
        case list(Range)
        case call(FetchRequest.Function, Range)
        case registered(Int, Range)
        case cast(FetchRequest.CastType, PredicateType.Kind, Index)
        case subquery(Index, variable: Int, condition: Index)
        case conditional(Index, Index, Index)
        case first(of: Index)
        case last(of: Index)
        case size(of: Index)
        case element(of: Index, at: Index)
        case setOperation(FetchRequest.SetOperation, Index, Index)

        // MARK: Conditions
        case truth(Bool)
        case and(Range)
        case or(Range)
        case not(Index)
        case compare(Index, FetchRequest.Comparison.Operator, Index)
        case between(Index, Index, Index)
        /// A comparison of a text with a constant; `whenNull` is the result if the text is null.
        case match(Index, matcher: Int, whenNull: Bool)
        /// A comparison of texts whose right side is known only at run time.
        case compareText(Index, FetchRequest.Comparison.Operator, Index, FetchRequest.Comparison.Options)
        case member(Index, set: Int, FetchRequest.Comparison.Options)
        case any(Index, variable: Int, condition: Index)
        case all(Index, variable: Int, condition: Index)
    }

    enum Step: Sendable {
        case toOne(slots: Int)
        case toMany(relationship: Int, destinationRoot: Int)
    }

    /// A path that passes through relationships, or does not start at the current object.
    struct Path: Sendable {
        /// The start of the path; nil for the current object.
        let start: Index?
        let steps: Swift.Range<Int>
        /// The index of the first place of the field at the end; nil if the path ends at objects.
        let slots: Int?
        /// The last step through a to-many relationship, or −1.
        ///
        /// A null before this step gives no value. A null after this step is a value.
        let lastToMany: Int
        let collectionOperator: FetchRequest.CollectionOperator?
        /// The first step at which several routes may reach the same object.
        let firstRepetition: Int
        /// Whether the records of the objects at the end are read.
        var readsEnd = false
    }

    /// The location of a field in the records of one entity.
    struct Place: Sendable {
        let slot: FieldSlot
        /// The root of the hierarchy of a reference's destination; −1 for other fields.
        let destinationRoot: Int

        init(_ field: RecordLayout.Field, in layout: RecordLayout, model: ManagedObjectModel) {
            slot = FieldSlot(field, in: layout)
            destinationRoot = field.destination.map { model.entities[$0].root } ?? -1
        }
    }

    struct Call: Sendable {
        let function: RegisteredFunction
        let argumentKinds: [PredicateType.Kind]
    }

    struct Parts {
        var nodes: [Node] = []
        var links: [Index] = []
        var paths: [Path] = []
        var steps: [Step] = []
        var places: [Place?] = []
        var variableCount = 0
        var constants: [PredicateConstant] = []
        var matchers: [StringMatcher] = []
        var sets: [OperandSet] = []
        var functions: [Call] = []
    }

    let model: ManagedObjectModel
    let nodes: PlainArray<Node>
    let links: PlainArray<Index>
    let paths: PlainArray<Path>
    let steps: PlainArray<Step>
    /// The places of the fields: for each field, one place for each entity of the model.
    let places: PlainArray<Place?>
    let variableCount: Int
    let constants: [PredicateConstant]
    let matchers: [StringMatcher]
    let sets: [OperandSet]
    let functions: [Call]

    init(_ parts: Parts, model: ManagedObjectModel) {
        self.model = model
        nodes = PlainArray(parts.nodes)
        links = PlainArray(parts.links)
        paths = PlainArray(parts.paths)
        steps = PlainArray(parts.steps)
        places = PlainArray(parts.places)
        variableCount = parts.variableCount
        constants = parts.constants
        matchers = parts.matchers
        sets = parts.sets
        functions = parts.functions
    }

    /// Returns the value of a field in a record; null if the record's entity lacks the field.
    func operand(_ slots: Int, in record: RecordReader) -> PredicateOperand {
        guard let place = places[slots + record.entityNumber] else { return .null }
        return PredicateOperand(record, slot: place.slot, destinationRoot: place.destinationRoot)
    }
}
