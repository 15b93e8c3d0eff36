#if PostgreSQL
    import Foundation
    import Roost
    import RoostConformance
    import RoostCore
    import RoostFiles
    import RoostMigration
    import Testing

    /// The connection parameters in `ROOST_POSTGRES`, if any.
    private let server = ProcessInfo.processInfo.environment["ROOST_POSTGRES"].flatMap { $0.isEmpty ? nil : $0 }

    @Suite(
        "Migration in place in one transaction of a server",
        .enabled(if: server != nil, "ROOST_POSTGRES names no server"))
    struct ServerModelChangeTests {
        private let manager = MigrationManager(registry: .standard)

        /// Writes random content into two equal stores, migrates both in place, and compares them.
        ///
        /// The second migration keeps a backup, so it writes a new schema.
        ///
        /// - Returns: The path of the first migration; nil if both failed with the same error.
        private func compare(_ seed: Int) throws -> MigrationPath? {
            var evolution = try RandomEvolution(seed: seed)
            // An even seed migrates only one version further, so most content is unchanged.
            let model = seed % 2 == 0 && evolution.versions.count > 1 ? evolution.versions[1] : evolution.new
            let made = try evolution.store()
            let (one, two) = try (location("one", seed: seed), location("two", seed: seed))
            defer { for location in [one, two] { try? destroy(location) } }
            for location in [one, two] { _ = try manager.convert(from: .store(made), to: .location(location)) }
            let plan = try manager.planMigrationInPlace(one, model: model, options: .init(allowsLoss: true))
            let kept = MigrationOptions(allowsLoss: true).with { $0.keepsBackup = true }
            let general = Result { try manager.migrateInPlace(two, model: model, options: kept) }
            let result = Result { try manager.migrateInPlace(one, model: model, options: .init(allowsLoss: true)) }
            switch (result, general) {
            case (.success(let report), .success(let expected)):
                if let backup = expected.backup { try destroy(.url(backup)) }
                #expect(report.path == plan.path && plan.refusals == [])
                #expect(expected.path != .oneTransaction && report.verified == (report.path != .nothing))
                #expect(report.destinationDigest == expected.destinationDigest)
                #expect(report.losses == expected.losses && report.warnings == expected.warnings)
                try requireEqual(one, two, model: model)
                return report.path
            case (.failure(let error), .failure(let expected)):
                #expect((error as? StoreError)?.code == (expected as? StoreError)?.code, "\(error), \(expected)")
                try requireEqual(one, two, model: evolution.old)
                return nil
            default:
                Issue.record("\(result) in the store's schema, \(general) in a new one")
                return nil
            }
        }

        private func destroy(_ location: StoreLocation) throws {
            try StoreRegistry.standard.type(named: location.type).destroy(location)
        }

        private func location(_ name: String, seed: Int) throws -> StoreLocation {
            StoreLocation(
                type: "postgresql", path: "\(try #require(server)) schema=change_\(name)_\(seed)")
        }

        /// Compares the content, the identity and the last keys of two stores, and checks both.
        private func requireEqual(_ first: StoreLocation, _ second: StoreLocation, model: ManagedObjectModel) throws {
            let stores = try [first, second].map {
                try StoreRegistry.standard.open($0, options: StoreOptions(model: model))
            }
            defer { for store in stores { try? store.close() } }
            #expect(stores[0].model == stores[1].model)
            #expect(try stores[0].contents().difference(from: try stores[1].contents()) == nil)
            #expect(try stores[0].metadata().storeUUID == stores[1].metadata().storeUUID)
            for store in stores { #expect(try checkStore(store).filter { $0.severity == .damage } == []) }
            for root in model.roots {
                let name = model.entities[root].name
                #expect(try stores[0].lastKey(name) == stores[1].lastKey(name))
            }
        }

        @Test("random migrations give the same content in one transaction as in a new schema", arguments: 0..<4)
        func randomEvolutions(part: Int) throws {
            var count = 0
            for seed in 0..<9 where try compare(1000 + part * 20 + seed) == .oneTransaction { count += 1 }
            #expect(count > 1)
        }
    }
#endif
