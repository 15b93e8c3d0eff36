package import RoostCore

/// The compiled order of a fetch request, which compares packed records.
///
/// Nulls precede all values, NaN follows all numbers, and 0.0 equals −0.0. Without options, text is
/// ordered by code point. Data and UUIDs are ordered by their bytes. Records with equal values are
/// in ascending order of their object keys. This order defines the meaning of sort descriptors for
/// every store.
package struct RecordSortOrder: Sendable {
    /// The order by one value, for the records of one entity.
    private struct Level {
        /// The slot of the value; nil for entities that are not requested.
        let slot: FieldSlot?
        let isAscending: Bool
    }

    /// The levels of the order, with one element for each level and entity of the model.
    private let levels: PlainArray<Level>
    private let entityCount: Int
    /// The encoder of the sort keys; nil if records can be compared directly.
    let encoder: SortKeyEncoder?

    /// Compiles the sort descriptors of a request.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for a path with many values
    ///   or with values that have no order.
    package init(_ request: FetchRequest, model: ManagedObjectModel) throws(StoreError) {
        let entity = try model.requireEntity(request.entity)
        guard !request.sortDescriptors.isEmpty else {
            (levels, entityCount, encoder) = (Self.noLevels, model.entities.count, nil)
            return
        }
        var levels: [Level] = []
        var made: [SortKeyEncoder.Level] = []
        var needsKeys = false
        for descriptor in request.sortDescriptors {
            let level = try Self.level(descriptor, entity: entity, model: model)
            made.append(level)
            needsKeys = needsKeys || !level.path.steps.isEmpty || !level.options.isEmpty
            for number in model.entities.indices {
                levels.append(Level(slot: level.path.slots[number], isAscending: level.isAscending))
            }
        }
        encoder = needsKeys ? SortKeyEncoder(levels: made) : nil
        self.levels = PlainArray(levels)
        entityCount = model.entities.count
    }

    /// Returns the levels for a ``SortKeyEncoder``, even if records can be compared directly.
    static func madeLevels(
        _ request: FetchRequest, model: ManagedObjectModel
    ) throws(StoreError) -> [SortKeyEncoder.Level] {
        let entity = try model.requireEntity(request.entity)
        var made: [SortKeyEncoder.Level] = []
        for descriptor in request.sortDescriptors { made.append(try level(descriptor, entity: entity, model: model)) }
        return made
    }

    private static let noLevels = PlainArray<Level>([])

    /// The order by key only.
    static let byKey = RecordSortOrder()

    private init() { (levels, entityCount, encoder) = (Self.noLevels, 0, nil) }

    private static func level(
        _ descriptor: FetchRequest.SortDescriptor, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) throws(StoreError) -> SortKeyEncoder.Level {
        let path = try ResolvedPath(descriptor.key.names, from: entity.number, model: model)
        guard path.relationships.allSatisfy({ !$0.isToMany }) else {
            throw StoreError(
                .invalidRequest,
                "'\(entity.name)' cannot be sorted by '\(descriptor.key)': the path has many objects at its end; sort by a path through to-one relationships."
            )
        }
        guard case .field(let field) = path.end, field.kind.hasOrder, let end = RowPath(path, model: model) else {
            throw StoreError(
                .invalidRequest,
                "'\(entity.name)' cannot be sorted by '\(descriptor.key)': \(path.end.kindDescription) have no order.")
        }
        // Options affect only text.
        let isText = field.kind == .string || field.kind == .uri
        return SortKeyEncoder.Level(
            path: end,
            options: isText ? descriptor.options.subtracting(.normalized) : [], isAscending: descriptor.isAscending)
    }

    package var isByKey: Bool { levels.count == 0 }

    /// Whether records cannot be compared directly, because the order needs related objects, or
    /// folded or localized text.
    package var needsKeys: Bool { encoder != nil }

    /// Whether `left` precedes `right`; ``needsKeys`` must be false.
    package func precedes(_ left: RecordReader, _ right: RecordReader) -> Bool {
        precondition(encoder == nil, "an order that needs keys cannot compare records")
        let (leftEntity, rightEntity) = (left.entityNumber, right.entityNumber)
        var first = 0
        while first < levels.count {
            let (a, b) = (levels[first + leftEntity], levels[first + rightEntity])
            first += entityCount
            guard let leftSlot = a.slot, let rightSlot = b.slot else { continue }
            // No level sorts by a reference, so the root of a destination entity is not needed.
            let order = Self.order(
                PredicateOperand(left, slot: leftSlot, destinationRoot: -1),
                PredicateOperand(right, slot: rightSlot, destinationRoot: -1))
            if order != 0 { return a.isAscending ? order < 0 : order > 0 }
        }
        return left.key < right.key
    }

    /// Returns a number that approximates the position of a record.
    ///
    /// A record with a smaller number precedes a record with a larger number. Records with equal
    /// numbers can be in either order. ``isByKey`` and ``needsKeys`` must be false.
    @inline(__always)
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
            // Both zeros are equal.
            let bits = (number == 0 ? 0 : number).bitPattern
            return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
        case .string, .uri, .data, .uuid: return slot.firstBytes(in: record)
        case .decimal, .transformable, .composite, .reference, .polymorphicReference, .objectID: return 0
        }
    }

    /// Compares operands in a total order: null, then numbers and bytes, then NaN.
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

extension RecordLayout.Field.Kind {
    var hasOrder: Bool {
        switch self {
        case .reference, .polymorphicReference, .objectID, .transformable, .composite: false
        default: true
        }
    }
}

extension ResolvedPath.End {
    fileprivate var kindDescription: String {
        switch self {
        case .object: "objects"
        case .field(let field): "values of type \(field.kind)"
        }
    }
}
