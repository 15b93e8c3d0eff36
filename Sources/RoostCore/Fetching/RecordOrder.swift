/// A fetch request's order, compiled against record layouts: tells of two packed records which comes first.
///
/// Nulls come before everything, NaN after every number, 0.0 and −0.0 are equal, text goes by code point, data and UUIDs by
/// their bytes. Ties go by ascending key. This is the meaning of sort descriptors in every store.
public struct RecordOrder: Sendable {
    /// One level of the order for the records of one entity.
    private struct Level {
        /// Where the value is; nil for entities that the request does not ask for.
        let slot: FieldSlot?
        let isAscending: Bool
    }

    /// Level by level, one for each entity of the model.
    private let levels: PlainArray<Level>
    private let entityCount: Int

    /// Compiles the sort descriptors of a request.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for a property that has no order.
    public init(_ request: FetchRequest, model: ManagedObjectModel) throws(StoreError) {
        let entity = try model.requireEntity(request.entity)
        var levels: [Level] = []
        for descriptor in request.sortDescriptors {
            let kind = try entity.layout.requireField(descriptor.key).kind
            switch kind {
            case .reference, .polymorphicReference, .objectID, .transformable, .composite:
                throw StoreError(
                    .invalidRequest,
                    "'\(entity.name)' cannot be sorted by '\(descriptor.key)': values of type \(kind) have no order.")
            default: break
            }
            for member in model.entities {
                let field = entity.includes(member.number) ? member.layout.field(descriptor.key) : nil
                levels.append(
                    Level(slot: field.map { FieldSlot($0, in: member.layout) }, isAscending: descriptor.isAscending))
            }
        }
        self.levels = PlainArray(levels)
        entityCount = model.entities.count
    }

    /// Whether the order is that of the keys alone.
    public var isByKey: Bool { levels.count == 0 }

    /// Whether `left` comes before `right`.
    public func precedes(_ left: RecordReader, _ right: RecordReader) -> Bool {
        let (leftEntity, rightEntity) = (left.entityNumber, right.entityNumber)
        var first = 0
        while first < levels.count {
            let (a, b) = (levels[first + leftEntity], levels[first + rightEntity])
            first += entityCount
            guard let leftSlot = a.slot, let rightSlot = b.slot else { continue }
            // What refers to objects has no order, so no level needs to know where it leads.
            let order = Self.order(
                PredicateOperand(left, leftSlot, destinationRoot: -1),
                PredicateOperand(right, rightSlot, destinationRoot: -1))
            if order != 0 { return a.isAscending ? order < 0 : order > 0 }
        }
        return left.key < right.key
    }

    /// A number that says most of where a record comes: one with a smaller number precedes one with a larger; equal numbers say nothing.
    ///
    /// Comparing a number with that of a bound is much cheaper than ``precedes(_:_:)``. The order must not be by key alone.
    func leadingNumber(of record: RecordReader) -> UInt64 {
        let level = levels[record.entityNumber]
        guard let slot = level.slot else { return 0 }
        let number = Self.leadingNumber(of: slot, in: record)
        return level.isAscending ? number : ~number
    }

    @inline(__always)
    private static func leadingNumber(of slot: FieldSlot, in record: RecordReader) -> UInt64 {
        guard !slot.isNull(in: record) else { return 0 }
        switch slot.kind {
        case .integer64, .integer32, .integer16, .boolean, .order:
            return UInt64(bitPattern: slot.integer(in: record)) ^ 1 << 63
        case .double, .float, .date:
            let number = slot.double(in: record)
            guard !number.isNaN else { return .max }
            // Both zeros are the same number.
            let bits = (number == 0 ? 0 : number).bitPattern
            return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
        case .string, .uri, .data, .uuid: return slot.firstBytes(in: record)
        case .decimal, .transformable, .composite, .reference, .polymorphicReference, .objectID: return 0
        }
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
