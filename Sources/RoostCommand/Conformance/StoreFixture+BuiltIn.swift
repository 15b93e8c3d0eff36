internal import RoostConformance
internal import RoostCore

extension StoreFixture {
    /// How the suite is run on a registered type; a type of a third party's own as its capabilities say.
    static func builtIn(_ type: any PersistentStoreType, exclusions: [ConformanceExclusion] = []) -> StoreFixture {
        // A store in memory is kept under its name as long as the process lives.
        StoreFixture(
            type, keepsClosedStores: type.name == "memory", exclusions: exclusions, sample: sample(of: type.name))
    }

    /// What makes a store of a type that cannot write one itself.
    private static func sample(of type: String) -> (@Sendable (_ directory: String) throws -> StoreSample)? {
        #if SQLite
            if type == "coredata" { return { try CoreDataSample.make(in: $0) } }
        #endif
        return nil
    }
}
