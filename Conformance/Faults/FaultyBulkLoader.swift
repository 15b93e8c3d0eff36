internal import RoostCore

final class FaultyBulkLoader: BulkLoader {
    private let base: any BulkLoader
    private let fault: FaultyStoreType.Fault
    private let memory: Mutex<FaultyStore.Memory>

    init(_ base: any BulkLoader, fault: FaultyStoreType.Fault, memory: Mutex<FaultyStore.Memory>) {
        (self.base, self.fault, self.memory) = (base, fault, memory)
    }

    func append(_ records: RecordBatch) throws(StoreError) {
        try base.append(fault.altersValues ? try fault.altered(records) : records)
        if fault == .showsUnfinishedLoads { memory.withLock { $0.unfinished.append(records) } }
    }

    func append(_ links: LinkBatch) throws(StoreError) { try base.append(links) }

    func finish() throws(StoreError) -> StoreTally {
        defer { memory.withLock { $0.unfinished = [] } }
        return try base.finish()
    }

    func abandon() {
        // A load that has ended cannot be finished again, so the error is ignored.
        if fault == .keepsAbandonedLoads { _ = try? base.finish() }
        base.abandon()
        memory.withLock { $0.unfinished = [] }
    }
}

/// A bulk loader that starts only in `finish()`.
final class LateBulkLoader: BulkLoader {
    private let start: () throws(StoreError) -> any BulkLoader
    private var records: [RecordBatch] = []
    private var links: [LinkBatch] = []

    init(_ start: @escaping () throws(StoreError) -> any BulkLoader) { self.start = start }

    func append(_ records: RecordBatch) throws(StoreError) { self.records.append(records) }

    func append(_ links: LinkBatch) throws(StoreError) { self.links.append(links) }

    func finish() throws(StoreError) -> StoreTally {
        let loader = try start()
        do throws(StoreError) {
            for batch in records { try loader.append(batch) }
            for batch in links { try loader.append(batch) }
            return try loader.finish()
        } catch {
            loader.abandon()
            throw error
        }
    }

    func abandon() { (records, links) = ([], []) }
}
