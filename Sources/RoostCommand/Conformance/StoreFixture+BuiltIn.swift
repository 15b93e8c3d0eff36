internal import Foundation
internal import RoostConformance
internal import RoostCore

extension StoreFixture {
    /// How the suite is run on a registered type; a type of a third party's own as its capabilities say.
    static func builtIn(
        _ type: any PersistentStoreType, exclusions: [ConformanceExclusion] = [], peer: PeerProgram? = .thisProgram
    ) -> StoreFixture {
        // A store in memory is kept under its name as long as the process lives.
        StoreFixture(
            type, keepsClosedStores: type.name == "memory", exclusions: exclusions, peer: peer,
            sample: sample(of: type.name))
    }

    /// What makes a store of a type that cannot write one itself.
    private static func sample(of type: String) -> (@Sendable (_ directory: String) throws -> StoreSample)? {
        #if SQLite
            if type == "coredata" { return { try CoreDataSample.make(in: $0) } }
        #endif
        return nil
    }
}

extension PeerProgram {
    /// The hidden command that makes `roost` the second process of checks about processes.
    static let commandName = "__conformance-peer"

    /// The `roost` program at `path`.
    static func roost(at path: String) -> PeerProgram { PeerProgram(path: path, arguments: [commandName]) }

    /// The program that runs, once more; nil where the system does not tell its path.
    static var thisProgram: PeerProgram? { Bundle.main.executablePath.map { .roost(at: $0) } }
}
