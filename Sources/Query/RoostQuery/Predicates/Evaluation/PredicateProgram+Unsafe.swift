internal import RoostCore

/// Predicates and expressions compiled against a model: a list of nodes that name each other by
/// position.
///
/// Nothing in a node counts references, so that running one costs none. A program never changes;
/// ``PredicateEvaluator`` runs it.
final class PredicateProgram: @unchecked Sendable {
    // Proof of Sendable: nothing changes after `init`, and all that nodes point to belongs to the
    // program: the bytes of operands to `constants`, matchers and sets to their lists.

    /// The position of a node.
    typealias Index = Int

    /// A run of positions in ``links``.
    struct Range: Sendable {
        let start: Int
        let count: Int
    }

    /// An expression or a condition.
    enum Node: @unchecked Sendable {
        // Proof of Sendable: a value that never changes; the bytes of an operand are the program's.

        // MARK: Expressions
        case constant(PredicateOperand)
        case evaluatedObject
        /// The value that a SUBQUERY or a quantifier bound last.
        case variable(Int)
        /// A field of the record itself: where its slots begin.
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
        /// An operator on text whose right side is known, and what it is of null.
        case match(Index, matcher: Int, whenNull: Bool)
        /// An operator on text whose right side is known only when it is met.
        case compareText(Index, FetchRequest.Comparison.Operator, Index, FetchRequest.Comparison.Options)
        case member(Index, set: Int, FetchRequest.Comparison.Options)
        /// Whether the condition is true for an element, or for all, of a collection that the
        /// variable is bound to one by one.
        case any(Index, variable: Int, condition: Index)
        case all(Index, variable: Int, condition: Index)
    }

    /// One relationship of a path.
    enum Step: Sendable {
        case toOne(slots: Int)
        case toMany(relationship: Int, destinationRoot: Int)
    }

    /// A path that leads through relationships, or starts elsewhere than at the object.
    struct Path: Sendable {
        /// The start of the path; nil for the object itself.
        let start: Index?
        let steps: Swift.Range<Int>
        /// The position of the first slot of the field at its end; nil if it ends at objects.
        let slots: Int?
        /// The step after which no to-many relationship follows: from here on a null on the way is
        /// a value; before, it gives no value.
        let lastToMany: Int
        let collectionOperator: FetchRequest.CollectionOperator?
        /// From this step on, several ways may reach the same object.
        let firstRepetition: Int
        /// Whether the records of the objects at its end are looked at, so that they are better
        /// read together.
        var readsEnd = false
    }

    /// The location of a field in the records of one entity.
    struct Place: Sendable {
        let slot: FieldSlot
        /// The root of the hierarchy of a reference's destination; −1 if the value names its
        /// entity.
        let destinationRoot: Int

        init(_ field: RecordLayout.Field, in layout: RecordLayout, model: ManagedObjectModel) {
            slot = FieldSlot(field, in: layout)
            destinationRoot = field.destination.map { model.entities[$0].root } ?? -1
        }
    }

    /// A call of a function of the program's user.
    struct Call: Sendable {
        let function: RegisteredFunction
        let argumentKinds: [PredicateType.Kind]
    }

    /// The parts of a program.
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
    /// Field by field, one place for each entity of the model.
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

    /// Returns the field of an object whose record is of an entity; null if the entity lacks it.
    func operand(_ slots: Int, in record: RecordReader) -> PredicateOperand {
        guard let place = places[slots + record.entityNumber] else { return .null }
        return PredicateOperand(record, slot: place.slot, destinationRoot: place.destinationRoot)
    }
}
