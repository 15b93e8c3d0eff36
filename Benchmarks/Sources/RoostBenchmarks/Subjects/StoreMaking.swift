internal import Roost
import RoostCore

/// Opens the fixture, or creates a store in memory or on the server.
func openStore(_ type: String, workload: Workload, schema: TrackSchema) throws -> any PersistentStore {
    if type == BenchmarkServer.type { return try BenchmarkServer.makeStore(workload, schema: schema) }
    guard workload.source.isEmpty else {
        return try StoreRegistry.standard.open(
            StoreLocation(type: type, path: workload.source), options: StoreOptions(model: schema.model))
    }
    let store = try StoreRegistry.standard.create(StoreLocation(type: type, path: ""), model: schema.model)
    _ = try loadLibrary(TrackLibrary(trackCount: workload.trackCount), into: store, schema: schema)
    return store
}

func loadLibrary(
    _ library: TrackLibrary, into store: any PersistentStore, schema: TrackSchema
) throws(StoreError) -> StoreTally {
    let loader = try store.concurrentBulkLoader(BulkLoadOptions())
    do throws(StoreError) {
        try library.append(to: loader, schema: schema)
        return try loader.finish()
    } catch {
        loader.abandon()
        throw error
    }
}
