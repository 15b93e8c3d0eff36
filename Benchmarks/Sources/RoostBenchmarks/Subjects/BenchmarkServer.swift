internal import Foundation
internal import Roost
import RoostCore

/// The PostgreSQL server that both sides use.
///
/// The environment variable `ROOST_POSTGRES` has the connection parameters.
enum BenchmarkServer {
    /// The type of its stores.
    static let type = "postgresql"
    private static let schema = "roost_bench_roost"

    /// The reason why its operations cannot be measured; nil if they can.
    static var absence: String? {
        parameters == nil ? "ROOST_POSTGRES has no parameters of a server; 'Scripts/postgres start' prints some" : nil
    }

    private static var parameters: String? {
        ProcessInfo.processInfo.environment["ROOST_POSTGRES"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The location of Roost's store.
    static func location() throws -> StoreLocation { try location(schema) }

    private static func location(_ schema: String) throws -> StoreLocation {
        guard let parameters else { throw BenchmarkError("The server is missing: \(absence ?? "").") }
        return StoreLocation(type: type, path: "\(parameters) schema=\(schema)")
    }

    /// Removes Roost's store, if it exists, and the leftovers of a run that failed.
    static func clear() throws {
        for name in [schema, schema + "_new"] { try remove(try location(name)) }
    }

    private static func remove(_ location: StoreLocation) throws {
        do throws(StoreError) {
            try StoreRegistry.standard.type(named: type).destroy(location)
        } catch  where error.code == .notFound {}
    }

    /// Creates Roost's store with all objects.
    static func makeStore(_ workload: Workload, schema: TrackSchema) throws -> any PersistentStore {
        try clear()
        try load(TrackLibrary(trackCount: workload.trackCount), schema: schema)
        return try StoreRegistry.standard.open(location(), options: StoreOptions(model: schema.model))
    }

    /// Loads all objects into a new store as a conversion does: under a temporary name, and then
    /// renamed.
    @discardableResult
    static func load(_ library: TrackLibrary, schema: TrackSchema) throws -> StoreTally {
        let (location, storeType) = (try location(), try StoreRegistry.standard.type(named: type))
        let hidden = try Self.location(Self.schema + "_new")
        let store = try storeType.create(
            hidden, model: schema.model, options: StoreOptions().with { $0.isUnpublished = true })
        let tally = try loadLibrary(library, into: store, schema: schema)
        try store.close()
        try storeType.replace(location, with: hidden, overwriting: true)
        return tally
    }
}
