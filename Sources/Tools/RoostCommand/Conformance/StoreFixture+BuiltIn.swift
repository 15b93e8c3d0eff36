internal import Foundation
internal import RoostConformance
internal import RoostCore
internal import RoostCoreData
internal import RoostMemory

extension StoreFixture {
    static func builtIn(
        _ type: any PersistentStoreType, exclusions: [ConformanceExclusion] = [], peer: PeerProgram? = .thisProgram
    ) -> StoreFixture {
        // The content of a memory store remains after closing, until the process ends.
        StoreFixture(
            type, keepsClosedStores: type is MemoryStoreType, exclusions: exclusions, peer: peer
        ).with { fixture in
            fixture.sample = sample(of: type)
            guard type is any ServerStoreType, let server else { return }
            fixture.makeLocation = { location(of: type, on: server, in: $0, name: $1) }
        }
    }

    /// The environment variable with the connection parameters for stores on a server.
    static let serverVariable = "ROOST_POSTGRES"
    static var server: String? {
        ProcessInfo.processInfo.environment[serverVariable].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func location(
        of type: any PersistentStoreType, on server: String, in directory: String, name: String
    ) -> StoreLocation {
        // Schema names are more limited than file names, so the name is a hash.
        let number = "\(directory)/\(name)".utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return StoreLocation(type: type.name, path: "\(server) schema=conformance_\(String(number, radix: 16))")
    }

    /// Returns a function that creates a sample for a read-only type, or nil for any other type.
    private static func sample(of type: any PersistentStoreType) -> (
        @Sendable (_ directory: String) throws -> StoreSample
    )? {
        #if SQLite
            if type is CoreDataStoreType { return { try coreDataSample(in: $0, of: type) } }
        #endif
        return nil
    }

    #if SQLite
        private static func coreDataSample(
            in directory: String, of type: any PersistentStoreType
        ) throws -> StoreSample {
            let content = try StandardSample.content.get()
            let path = "\(directory)/Sample.sqlite"
            let contents = content.contents
            var sample = CoreDataSample(model: content.model, userMetadata: content.userMetadata)
            sample.objects = contents.objects.mapValues { $0.map(\.record) }
            sample.links = contents.links
            try sample.write(to: path)
            return StoreSample(
                StoreLocation(type: type.name, path: path), options: StoreOptions(model: content.model),
                holding: content)
        }
    #endif
}

extension PeerProgram {
    /// The hidden command that runs `roost` as the second process of a check.
    static let commandName = "__conformance-peer"

    static func roost(at path: String) -> PeerProgram { PeerProgram(path: path, arguments: [commandName]) }

    static var thisProgram: PeerProgram? { Bundle.main.executablePath.map { .roost(at: $0) } }
}
