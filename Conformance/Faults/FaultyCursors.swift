internal import RoostCore

/// A record cursor that alters each batch.
final class AlteringRecordCursor: RecordCursor {
    private let base: any RecordCursor
    private let alter: (RecordBatch) throws(StoreError) -> RecordBatch

    init(_ base: any RecordCursor, _ alter: @escaping (RecordBatch) throws(StoreError) -> RecordBatch) {
        (self.base, self.alter) = (base, alter)
    }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        guard try base.next(into: &batch) else { return false }
        batch = try alter(batch)
        return true
    }
}

/// A record cursor that reverses the order of records with equal sort values within each batch.
///
/// It supports only orders by properties of the records themselves.
final class TieReversingCursor: RecordCursor {
    private let base: any RecordCursor
    private let keys: [[String]]

    init(_ base: any RecordCursor, request: FetchRequest) {
        self.base = base
        keys = request.sortDescriptors.map { $0.key.split(separator: ".").map(String.init) }
    }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        guard try base.next(into: &batch) else { return false }
        let values = (0..<batch.count).map { index in
            let values = batch.values(at: index)
            return keys.map { $0.first.flatMap { values[$0] } ?? .null }
        }
        var order: [Int] = []
        var start = 0
        while start < values.count {
            let end = values[start...].firstIndex { $0 != values[start] } ?? values.count
            order += (start..<end).reversed()
            start = end
        }
        var result = RecordBatch(model: batch.model)
        for index in order { result.append(batch, at: index) }
        batch = result
        return true
    }
}

/// A record cursor that returns an empty record for each damaged object instead of an error.
final class UnverifiedRecordCursor: RecordCursor {
    private let base: any RecordCursor

    init(_ base: any RecordCursor) { self.base = base }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        do throws(StoreError) { return try base.next(into: &batch) } catch {
            guard error.code == .corrupted, let id = error.damagedObject else { throw error }
            batch.removeAll()
            try batch.append(id, version: 1, values: [:])
            return true
        }
    }
}

/// A cursor that adds to the first batch instead of replacing its content.
final class AddingRecordCursor: RecordCursor {
    private let base: any RecordCursor
    private var hasStarted = false

    init(_ base: any RecordCursor) { self.base = base }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        // Only the first batch has the fault. Otherwise, every check that reads several batches
        // would notice it.
        if hasStarted { return try base.next(into: &batch) }
        hasStarted = true
        var fresh = RecordBatch(model: batch.model)
        guard try base.next(into: &fresh) else {
            batch.removeAll()
            return false
        }
        for index in 0..<fresh.count { batch.append(fresh, at: index) }
        return true
    }
}

/// A cursor that returns the sound cursor's records, then those of an unfinished load.
final class ChainedRecordCursor: RecordCursor {
    private let base: any RecordCursor
    private var unfinished: RecordBatch

    init(
        _ base: any RecordCursor, batches: [RecordBatch], of entity: ManagedObjectModel.Entity, after id: ObjectID?,
        in model: ManagedObjectModel
    ) {
        self.base = base
        unfinished = RecordBatch(model: model)
        for batch in batches {
            for index in 0..<batch.count
            where entity.includes(batch.entityNumber(at: index)) && batch.key(at: index) > id?.key ?? 0 {
                unfinished.append(batch, at: index)
            }
        }
    }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        if try base.next(into: &batch) { return true }
        guard !unfinished.isEmpty else { return false }
        batch = unfinished
        unfinished.removeAll()
        return true
    }
}

/// A link cursor that drops the last link or the places of links.
final class FaultyLinkCursor: LinkCursor {
    private let base: any LinkCursor
    private let fault: FaultyStoreType.Fault

    init(_ base: any LinkCursor, fault: FaultyStoreType.Fault) { (self.base, self.fault) = (base, fault) }

    func next(into batch: inout LinkBatch) throws(StoreError) -> Bool {
        guard try base.next(into: &batch) else { return false }
        if fault == .dropsLastLink, !batch.isFull, batch.count > 1 { batch.links.removeLast() }
        if fault == .forgetsPlaces { batch.links = batch.links.map { Link($0.source, $0.target) } }
        return true
    }
}
