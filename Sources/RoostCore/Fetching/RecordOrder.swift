/// A fetch request's order, compiled against record layouts: tells of two packed records which comes first.
///
/// Nulls come before everything, NaN after every number, 0.0 and −0.0 are equal, text goes by code point, data and UUIDs by
/// their bytes. Ties go by ascending key. This is the meaning of sort descriptors in every store.
public struct RecordOrder: Sendable {
    /// For each level, the place of the field by entity number.
    private let levels: [(slots: [FieldSlot?], isAscending: Bool)]

    /// Compiles the sort descriptors of a request.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for a property that has no order.
    public init(_ request: FetchRequest, model: ManagedObjectModel) throws(StoreError) {
        let entity = try model.requireEntity(request.entity)
        var levels: [(slots: [FieldSlot?], isAscending: Bool)] = []
        for descriptor in request.sortDescriptors {
            let kind = try entity.layout.requireField(descriptor.key).kind
            switch kind {
            case .reference, .polymorphicReference, .objectID, .transformable, .composite:
                throw StoreError(
                    .invalidRequest,
                    "'\(entity.name)' cannot be sorted by '\(descriptor.key)': values of type \(kind) have no order.")
            default: break
            }
            let slots = model.entities.map { member -> FieldSlot? in
                guard entity.includes(member.number), let field = member.layout.field(descriptor.key) else {
                    return nil
                }
                return FieldSlot(field, in: member.layout)
            }
            levels.append((slots, descriptor.isAscending))
        }
        self.levels = levels
    }

    /// Whether the order is that of the keys alone.
    public var isByKey: Bool { levels.isEmpty }

    /// Whether `left` comes before `right`.
    public func precedes(_ left: RecordReader, _ right: RecordReader) -> Bool {
        for level in levels {
            guard let a = level.slots[left.entityNumber], let b = level.slots[right.entityNumber] else { continue }
            // What refers to objects has no order, so no level needs to know where it leads.
            let order = Self.order(
                PredicateOperand(left, a, destinationRoot: -1), PredicateOperand(right, b, destinationRoot: -1))
            if order != 0 { return level.isAscending ? order < 0 : order > 0 }
        }
        return left.key < right.key
    }

    /// A total order: null, then numbers and bytes, then NaN.
    private static func order(_ left: PredicateOperand, _ right: PredicateOperand) -> Int {
        if let order = PredicateOperand.order(left, right) { return order }
        let (a, b) = (rank(left), rank(right))
        return a - b
    }

    private static func rank(_ operand: PredicateOperand) -> Int {
        switch operand {
        case .null: 0
        case .double(let number) where number.isNaN: 2
        case .decimal(let number) where number.isNaN: 2
        default: 1
        }
    }
}
