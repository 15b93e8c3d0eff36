internal import RoostCore
internal import RoostQuery

extension RecordTransform {
    /// A step for each record, in addition to the moves.
    enum Step {
        /// Variable-size fields that are adjacent in the tails of both records.
        case tail(RecordMoves.Tail)
        case constant(RecordLayout.Field, Value, marker: RecordLayout.Field?)
        /// A field whose kind differs, whose null is replaced, or whose composite may be absent.
        case convert(RecordLayout.Field, from: RecordLayout.Field, fallback: Value?, marker: RecordLayout.Field?)
        case expression(RecordLayout.Field, ExpressionEvaluator, fallback: Value?, marker: RecordLayout.Field?)
        case objectID(RecordLayout.Field, from: RecordLayout.Field)
        case reference(ReferencePlan)
        case backReference(BackReferencePlan)
    }

    /// A composite that is set before its elements, because their values depend on it.
    struct Presence {
        var composite: RecordLayout.Field
        var isConstant = false
        var fields: [RecordLayout.Field] = []
        var expressions: [ExpressionEvaluator] = []
        var marker: RecordLayout.Field?
    }

    /// A possible new entity for the objects of a source entity, to translate their IDs in
    /// attributes.
    struct Successor {
        var entity: Int
        /// The keys of the objects that get the new entity, or nil for all objects.
        var keys: KeySet?

        static func lists(_ plan: MappingPlan, keySets: [KeySet]) -> [[Successor]] {
            plan.entityPlansBySource.map { entityPlans -> [Successor] in
                // In three passes, the IDs are translated later, when the new objects are known.
                if plan.isForThreePasses {
                    return entityPlans.prefix(1).map { Successor(entity: $0.destination.number) }
                }
                return entityPlans.map { entityPlan in
                    let keys = entityPlan.filter == nil ? nil : plan.keySets.firstIndex(of: [entityPlan.number])
                    return Successor(
                        entity: entityPlan.destination.number,
                        keys: keys.flatMap { keySets.indices.contains($0) ? keySets[$0] : nil })
                }
            }
        }

        /// Returns whether IDs in attributes stay unchanged.
        static func areSame(_ lists: [[Successor]], plan: MappingPlan) -> Bool {
            zip(plan.source.entities, lists).allSatisfy {
                $0.isAbstract || $1.count == 1 && $1[0].entity == $0.number
            } && plan.entityPlans.allSatisfy { $0.filter == nil }
        }
    }

    /// A field that must have a value, unless its composite is absent.
    struct Requirement {
        var field: RecordLayout.Field
        var marker: RecordLayout.Field?
    }

    /// A transform under construction.
    struct Draft {
        private let entityPlan: MappingPlan.EntityPlan
        private let plan: MappingPlan
        private let graph: (any ObjectGraph)?
        private let keepsIDs: Bool
        private var moved: [(RecordLayout.Field, RecordLayout.Field)] = []
        /// The steps, each with the index of its field, or -1 if the field is not in the tail.
        private var placed: [(position: Int, step: Step)] = []
        private(set) var constants: [(RecordLayout.Field, Value)] = []
        private(set) var requirements: [Requirement] = []
        private(set) var presences: [Presence] = []

        init(_ entityPlan: MappingPlan.EntityPlan, plan: MappingPlan, graph: (any ObjectGraph)?, keepsIDs: Bool) {
            (self.entityPlan, self.plan, self.graph, self.keepsIDs) = (entityPlan, plan, graph, keepsIDs)
        }

        mutating func add(_ field: FieldPlan) throws(StoreError) {
            if field.isRequired { requirements.append(Requirement(field: field.to, marker: field.marker)) }
            switch field.source {
            case .constant(let value): add(value, field: field)
            case .move(let from) where field.fallback == nil: moved.append((from, field.to))
            case .move(let from), .convert(let from):
                add(.convert(field.to, from: from, fallback: field.fallback, marker: field.marker), to: field)
            case .objectID(let from) where keepsIDs: moved.append((from, field.to))
            case .objectID(let from): add(.objectID(field.to, from: from), to: field)
            case .presence(let values):
                var presence = Presence(composite: field.to, marker: field.marker)
                for value in values {
                    switch value {
                    case .constant: presence.isConstant = true
                    case .field(let from): presence.fields.append(from)
                    case .expression(let expression):
                        presence.expressions.append(try evaluator(expression, field: field.to))
                    }
                }
                presences.append(presence)
            case .expression(let expression):
                let evaluator = try evaluator(expression, field: field.to)
                add(.expression(field.to, evaluator, fallback: field.fallback, marker: field.marker), to: field)
            }
        }

        private mutating func add(_ value: Value, field: FieldPlan) {
            if value.isNull { return }
            if field.to.kind.isVariable || field.marker != nil {
                add(.constant(field.to, value, marker: field.marker), to: field)
            } else {
                constants.append((field.to, value))
            }
        }

        private mutating func add(_ step: Step, to field: FieldPlan) {
            placed.append((field.to.kind.isVariable ? field.to.index : -1, step))
        }

        /// Adds a to-one relationship.
        ///
        /// `pairs` is nil if one-sided pairs were not searched for.
        mutating func add(_ reference: ReferencePlan, pairs: [Int: OneSidedPairs]?) {
            let isWhole = reference.oneToOne.map { number in pairs.map { $0[number] == nil } ?? false } ?? true
            // A position in an ordered inverse can be moved only if the source record has a field for the position.
            let movesPlace = reference.order == nil || reference.orderFrom != nil
            guard reference.isMove, isWhole, !reference.isNewlyRequired, movesPlace else {
                return placed.append((-1, .reference(reference)))
            }
            moved.append((reference.from, reference.to))
            if let from = reference.orderFrom, let to = reference.order { moved.append((from, to)) }
        }

        mutating func add(_ reference: BackReferencePlan) { placed.append((-1, .backReference(reference))) }

        func moves() -> RecordMoves {
            RecordMoves(
                moved.map { ($0.0, $0.1) }, from: entityPlan.source.layout, to: entityPlan.destination.layout)
        }

        func steps(after moves: RecordMoves) -> [Step] {
            let all = placed + moves.tails.map { (position: $0.firstField, step: .tail($0)) }
            // Fields in the tail must be set in the layout's order.
            return all.sorted { $0.position < $1.position }.map(\.step)
        }

        private func evaluator(
            _ expression: FetchRequest.Expression, field: RecordLayout.Field
        ) throws(StoreError) -> ExpressionEvaluator {
            do throws(StoreError) {
                return try CompiledExpression(expression, for: entityPlan.source.name, model: plan.source)
                    .evaluator(over: graph)
            } catch {
                throw error.naming(plan.entityMapping(of: entityPlan), property: field.name)
            }
        }
    }
}
