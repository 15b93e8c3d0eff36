/// The objects that to-one relationships lead to from the records of a batch, read together.
///
/// A path through relationships is registered once and then known by a number; paths share what they have in common. Memory is that
/// of the related records of one slice of a batch; slices become smaller where those are large.
struct RelatedRecordBatches {
    /// The number of the records themselves: the path through no relationship.
    static let origin = 0

    private struct Step {
        /// The step that this one goes on from.
        let previous: Int
        let relationship: Int
        /// The root of the hierarchy it leads into.
        let root: Int
        /// Where the reference is, by the number of the entity that has it.
        let slots: PlainArray<FieldSlot?>
        /// The records it leads to in this slice.
        var batch: RecordBatch
        /// By key, the position in `batch`.
        var positions: [Int64: Int]
        /// For each record of the slice, the position in `batch`; −1 where it leads nowhere.
        var places: [Int]
    }

    private let model: ManagedObjectModel
    private var steps: [Step] = []
    private var first = 0
    private var sliceCount = 64

    init(model: ManagedObjectModel) { self.model = model }

    /// The number of a path through these to-one relationships, each of which starts where the one before it leads.
    mutating func register(_ relationships: [ManagedObjectModel.Relationship]) -> Int {
        var path = Self.origin
        for relationship in relationships {
            if let known = steps.firstIndex(where: { $0.previous == path && $0.relationship == relationship.number }) {
                path = known + 1
                continue
            }
            steps.append(
                Step(
                    previous: path, relationship: relationship.number,
                    root: model.entities[relationship.destination].root,
                    slots: PlainArray(
                        FieldSlot.all(relationship.name.name, of: model.entities[relationship.source], in: model)),
                    batch: RecordBatch(model: model), positions: [:], places: []))
            path = steps.count
        }
        return path
    }

    /// Reads what all paths lead to from a slice of the records of a batch that starts at `start`.
    ///
    /// - Parameters:
    ///   - records: The batch.
    ///   - start: The position of the first record.
    ///   - graph: How they are read; nil where no path was registered.
    /// - Returns: The end of the slice: there the next one starts.
    /// - Throws: `corrupted` for a damaged record, and what the store's own reading throws.
    mutating func load(_ records: RecordBatch, from start: Int, _ graph: (any ObjectGraph)?) throws(StoreError) -> Int {
        first = start
        guard let graph, !steps.isEmpty else { return records.count }
        let end = min(records.count, start + sliceCount)
        var largest = 0
        for index in steps.indices {
            try load(&steps[index], records, start..<end, graph)
            largest = max(largest, steps[index].batch.byteCount)
        }
        if largest > 4 * RecordBatch.capacityBytes {
            sliceCount = max(1, sliceCount / 2)
        } else if largest < RecordBatch.capacityBytes {
            sliceCount = min(RecordBatch.capacityCount, sliceCount * 2)
        }
        return end
    }

    private func load(
        _ step: inout Step, _ records: RecordBatch, _ slice: Range<Int>, _ graph: any ObjectGraph
    ) throws(StoreError) {
        var keys: [Int64] = []
        keys.reserveCapacity(slice.count)
        let slots = step.slots
        for index in slice {
            // No object has key 0.
            let key =
                withRecord(at: index, of: records, step.previous) { record -> Int64? in
                    guard let slot = slots[record.entityNumber], !slot.isNull(in: record) else { return nil }
                    return slot.integer(in: record)
                } ?? nil
            keys.append(key ?? 0)
        }
        // Many objects lead to the same few, which the slice before this one mostly led to as well.
        if keys.contains(where: { $0 > 0 && step.positions[$0] == nil }) {
            var wanted = keys.filter { $0 > 0 }.sorted()
            wanted = wanted.indices.filter { $0 == 0 || wanted[$0] != wanted[$0 - 1] }.map { wanted[$0] }
            step.positions.removeAll(keepingCapacity: true)
            step.batch.removeAll()
            try graph.read(wanted, inHierarchyOf: step.root, into: &step.batch)
            for position in 0..<step.batch.count { step.positions[step.batch.key(at: position)] = position }
        }
        step.places.removeAll(keepingCapacity: true)
        for key in keys { step.places.append(key > 0 ? step.positions[key] ?? -1 : -1) }
    }

    /// Runs `body` with the record that a path leads to from the record at `index` of the batch that was loaded; nil if there is none.
    @inline(__always)
    func withRecord<Result, Failure: Error>(
        at index: Int, of records: RecordBatch, _ path: Int, _ body: (RecordReader) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard path != Self.origin else { return try records.withRecord(at: index, body) }
        let place = steps[path - 1].places[index - first]
        return place < 0 ? nil : try steps[path - 1].batch.withRecord(at: place, body)
    }
}

extension FieldSlot {
    /// Where the field called `name` is, by entity number; nil for entities that are not `entity` or a subentity of it.
    static func all(
        _ name: String, of entity: ManagedObjectModel.Entity, in model: ManagedObjectModel
    ) -> [FieldSlot?] {
        model.entities.map { member in
            guard entity.includes(member.number), let field = member.layout.field(name) else { return nil }
            return FieldSlot(field, in: member.layout)
        }
    }
}
