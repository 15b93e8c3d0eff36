internal import Foundation
internal import RoostCore
internal import RoostQuery
internal import RoostStores

/// A compiled request that examines single objects or fetches the whole result.
struct ResultsRequest {
    let checked: CheckedFetchRequest
    let entity: ManagedObjectModel.Entity
    let reach: RequestReach
    let includesPendingChanges: Bool
    /// The number of sort descriptors that determine the section; 0 for a result without sections.
    let sectionLevels: Int
    /// The function that computes a section's name, or nil for the text of the value.
    let sectionName: ((Value) -> String)?
    /// The examiner of single objects, or nil if examining an object also reads related objects.
    private let examiner: RecordExaminer?

    init(
        _ request: FetchRequest, includesPendingChanges: Bool, sections path: String?, named name: ((Value) -> String)?,
        model: ManagedObjectModel
    ) throws(StoreError) {
        var request = request
        var levels = 0
        if let path {
            levels = 1
            let first = request.sortDescriptors.first { $0.key == path }
            if first == nil || request.sortDescriptors[0].key != path {
                request.sortDescriptors.insert(FetchRequest.SortDescriptor(path), at: 0)
            } else if let first, !first.options.isEmpty, name == nil {
                // With sort options, different texts can be equal in the order. They form separate
                // sections, so a descriptor without options separates them.
                levels = 2
                request.sortDescriptors.insert(
                    FetchRequest.SortDescriptor(path, ascending: first.isAscending), at: 1)
            }
        }
        entity = try model.requireEntity(request.entity)
        checked = try CheckedFetchRequest(request, model: model)
        reach = RequestReach(request, entity: entity, model: model)
        self.includesPendingChanges = includesPendingChanges
        (sectionLevels, sectionName) = (levels, name)
        examiner = reach.followedRoots.isEmpty ? try RecordExaminer(checked, graph: nil) : nil
    }

    func with(offset: Int?, limit: Int?) throws(StoreError) -> ResultsRequest {
        var other = request
        (other.fetchOffset, other.fetchLimit) = (offset, limit)
        return try ResultsRequest(self, checked: try CheckedFetchRequest(other, model: checked.model))
    }

    private init(_ base: ResultsRequest, checked: CheckedFetchRequest) throws(StoreError) {
        self.checked = checked
        (entity, reach, includesPendingChanges) = (base.entity, base.reach, base.includesPendingChanges)
        (sectionLevels, sectionName) = (base.sectionLevels, base.sectionName)
        examiner = reach.followedRoots.isEmpty ? try RecordExaminer(checked, graph: nil) : nil
    }

    var request: FetchRequest { checked.request }

    /// Returns whether changing an object of the given hierarchy can affect how other objects match
    /// or are sorted.
    func follows(_ root: Int) -> Bool { reach.followedRoots.contains(root) }

    // MARK: Single objects

    /// Calls `body` for the noted objects that match the predicate, regardless of the window.
    ///
    /// Returns the keys of the noted objects that no longer exist or do not match.
    func examine(
        _ noted: [Int64: ResultsNote], context: ManagedObjectContext,
        _ body: (RecordReader, RecordExaminer) throws(StoreError) -> Void
    ) throws(StoreError) -> [Int64] {
        let core = context.core
        let examiner = try makeExaminer(context)
        var missing: [Int64] = []
        var unread: [Int64] = []
        for (key, note) in noted {
            // After a discard or a deletion by another context, the row in memory does not show whether the store has
            // the object.
            let mustRead =
                note.contains(.stored)
                || !core.deletedElsewhere.isEmpty
                    && core.deletedElsewhere.contains(ObjectPlace(root: entity.root, key: key))
            guard let object = core.registered(entity.root, key: key), let row = object.row,
                !mustRead || core.hasPendingRow(object)
            else {
                unread.append(key)
                continue
            }
            guard object.flags.isDisjoint(with: [.deleted, .inaccessible, .orphan]) || isPlanted(.showsDeleted) else {
                missing.append(key)
                continue
            }
            let record = RecordReader(row: row, byteCount: Int(object.byteCount), key: key, model: core.model)
            if try examiner.matches(record) { try body(record, examiner) } else { missing.append(key) }
        }
        guard !unread.isEmpty else { return missing }
        let stored = core.parent == nil ? unread.filter { $0 > 0 } : unread
        var found: Set<Int64> = []
        if !stored.isEmpty {
            var batch = RecordBatch(model: core.model)
            try core.openReader().graph(ofEntity: entity.number).read(
                stored, inHierarchyOf: entity.root, into: &batch)
            try batch.forEachRecord { (record) throws(StoreError) in
                // The object may be deleted in this context.
                if let object = core.registered(entity.root, key: record.key), object.flags.contains(.deleted) {
                    return
                }
                guard try examiner.matches(record) else { return }
                found.insert(record.key)
                try body(record, examiner)
            }
        }
        return missing + unread.filter { !found.contains($0) }
    }

    private func makeExaminer(_ context: ManagedObjectContext) throws(StoreError) -> RecordExaminer {
        if let examiner { return examiner }
        let core = context.core
        let graph = try core.openReader().graph(ofEntity: entity.number)
        guard includesPendingChanges, !core.changed.isEmpty else { return try RecordExaminer(checked, graph: graph) }
        let pending = try core.pendingChanges(store: context.base.storeSet.storeOfEntity[entity.number], in: reach)
        guard !pending.changes.isEmpty else { return try RecordExaminer(checked, graph: graph) }
        return try RecordExaminer(checked, graph: try ChangedGraph(pending.changes, over: graph))
    }

    func row(_ record: RecordReader, examiner: RecordExaminer) throws(StoreError) -> ResultsRow {
        ResultsRow(
            key: record.key, entity: record.entityNumber,
            fingerprint: RecordHash.content(of: record.bytes, key: record.key),
            order: try examiner.order(of: record), section: try name(of: record, examiner: examiner))
    }

    private func name(of record: RecordReader, examiner: RecordExaminer) throws(StoreError) -> String {
        guard sectionLevels > 0 else { return "" }
        let value = try examiner.firstValue(of: record)
        if let sectionName { return sectionName(value) }
        return switch value {
        case .null: ""
        case .string(let text), .uri(let text): text
        case .decimal(let number): "\(number)"
        case .date(let date): Self.text(of: date.timeIntervalSinceReferenceDate)
        case .double(let number): Self.text(of: number)
        default: "\(value)"
        }
    }

    /// Returns equal texts for numbers that are equal in a sort order: 0 and -0, and all NaNs.
    private static func text(of number: Double) -> String { number.isNaN ? "nan" : "\(number + 0)" }

    // MARK: The whole result

    /// Fetches the result without ending the event, and calls `body` with each object in order.
    func fetch(
        _ context: ManagedObjectContext, _ body: (RecordReader, RecordExaminer) throws(StoreError) -> Void
    ) throws(StoreError) {
        let fetch = try context.combined(request, includesPendingChanges: includesPendingChanges)
        let cursor: any RecordCursor
        if let pending = fetch.pending {
            cursor = try pending.cursor()
        } else {
            cursor = try fetch.snapshot.fetch(request)
        }
        let examiner = try makeExaminer(context)
        var batch = RecordBatch(model: checked.model)
        while try cursor.next(into: &batch) {
            examiner.prepare(batch)
            try batch.forEachRecord { (record) throws(StoreError) in try body(record, examiner) }
        }
    }

    /// Fetches the rows of the result without ending the event.
    func fetchList(_ context: ManagedObjectContext) throws(StoreError) -> ResultsList {
        var list = ResultsList(isOneSection: sectionLevels == 0)
        // Neighboring objects usually have the same section, so its name is kept for the next object.
        var known: (prefix: [UInt8], name: String)?
        try fetch(context) { (record, examiner) throws(StoreError) in
            var row = ResultsRow(
                key: record.key, entity: record.entityNumber,
                fingerprint: RecordHash.content(of: record.bytes, key: record.key),
                order: try examiner.order(of: record))
            if sectionLevels > 0 {
                if let known, row.order.starts(with: known.prefix) {
                    row.section = known.name
                } else {
                    row.section = try name(of: record, examiner: examiner)
                    let count = try examiner.byteCount(ofFirst: sectionLevels, levelsOf: record)
                    known = (Array(row.order.prefix(count)), row.section)
                }
            }
            list.append(row)
        }
        return list
    }
}
