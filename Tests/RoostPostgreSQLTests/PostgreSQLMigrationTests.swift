#if PostgreSQL
    import RoostCore
    import RoostMemory
    import RoostMigration
    import RoostStores
    import Testing

    @testable import RoostPostgreSQL

    @Suite(
        "Migrations and conversions of stores in PostgreSQL",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct PostgreSQLMigrationTests {
        private let type = PostgreSQLStoreType()
        private let manager = MigrationManager(registry: StoreRegistry([PostgreSQLStoreType(), MemoryStoreType()]))

        private func model(_ attributes: String...) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: attributes.map { AttributeDescription($0, type: .string) })
            ])
        }

        private func makeStore(at location: StoreLocation, profile: PostgreSQLProfile) throws {
            let store = try type.create(
                location, model: try model("name"), options: PostgreSQLServer.options(profile))
            var changes = ChangeSet(model: store.model)
            for key in Int64(1)...3 {
                try changes.insert(ObjectID("Item", key: key), values: ["name": .string("\(key)")])
            }
            _ = try store.commit(changes)
            try store.close()
        }

        private func requireProfile(_ profile: PostgreSQLProfile, of location: StoreLocation) throws {
            try type.open(location, options: PostgreSQLServer.options(profile)).close()
        }

        private func names(_ location: StoreLocation, attribute: String = "name") throws -> [Value?] {
            let store = try Store(try type.open(location, options: StoreOptions()), registry: manager.registry)
            defer { try? store.close() }
            return try store.fetch("Item").map { $0[attribute] }
        }

        @Test(
            "a migration in place gives a PostgreSQL store its new model and keeps its objects",
            arguments: [false, true], PostgreSQLProfile.allCases)
        func inPlace(keepsBackup: Bool, profile: PostgreSQLProfile) throws {
            let location = PostgreSQLServer.location()
            try makeStore(at: location, profile: profile)
            defer { try? type.destroy(location) }
            let options = MigrationOptions().with { $0.keepsBackup = keepsBackup }
            let report = try manager.migrateInPlace(location, model: try model("name", "note"), options: options)
            #expect(report.objects == 3 && report.verified)
            #expect(try names(location) == ["1", "2", "3"])
            #expect(try names(location, attribute: "note").count == 3)
            #expect((report.backup != nil) == keepsBackup)
            if let backup = report.backup {
                let old = try StoreLocation.url(backup)
                #expect(try names(old) == ["1", "2", "3"])
                // Creating a store removes leftovers, but not a backup.
                let other = try type.temporaryLocation(beside: location)
                let unpublished = StoreOptions().with { $0.isUnpublished = true }
                try type.create(other, model: try model("name"), options: unpublished).close()
                try type.destroy(other)
                #expect(try names(old) == ["1", "2", "3"])
                try type.destroy(old)
            }
            try requireProfile(profile, of: location)
            #expect(try manager.migrateInPlace(location, model: try model("name", "note")).path == .nothing)
        }

        @Test(
            "a migration in place fails with `busy` if another program commits meanwhile",
            arguments: PostgreSQLProfile.allCases)
        func changedMeanwhile(profile: PostgreSQLProfile) throws {
            let location = PostgreSQLServer.location()
            try makeStore(at: location, profile: profile)
            defer { try? type.destroy(location) }
            var options = MigrationOptions()
            let (type, old) = (type, try model("name"))
            options.conversion.onProgress = { progress in
                guard progress.phase == .publishing, let store = try? type.open(location, options: StoreOptions())
                else { return }
                var changes = ChangeSet(model: old)
                try? changes.insert(ObjectID("Item", key: 4), values: ["name": "4"])
                _ = try? store.commit(changes)
                try? store.close()
            }
            #expect {
                _ = try manager.migrateInPlace(location, model: try model("name", "note"), options: options)
            } throws: { error in
                (error as? StoreError)?.code == .busy
            }
            #expect(try names(location) == ["1", "2", "3", "4"])
        }

        @Test("a store that another program has recreated and filled meanwhile is not recreated again")
        func recreatedMeanwhile() throws {
            let location = PostgreSQLServer.location()
            try makeStore(at: location, profile: .postgresql)
            defer { try? type.destroy(location) }
            let (manager, new) = (manager, try model("name", "note"))
            let description = PersistentStoreDescription(location, options: StoreOptions(model: new))
            let meanwhile = MeanwhileStoreType { () throws(StoreError) in
                let store = try manager.openOrCreateStore(description, ifIncompatible: .recreate)
                var changes = ChangeSet(model: store.model)
                try changes.insert(ObjectID("Item", key: 1), values: ["note": "first"])
                _ = try store.commit(changes)
                try store.close()
            }
            let late = MigrationManager(registry: StoreRegistry([meanwhile]))
            try late.openOrCreateStore(description, ifIncompatible: .recreate).close()
            #expect(meanwhile.hasRun)
            #expect(try names(location, attribute: "note") == ["first"])
        }

        @Test(
            "a conversion replaces a PostgreSQL store only if it is closed and `overwrites` is set",
            arguments: PostgreSQLProfile.allCases
        )
        func conversion(profile: PostgreSQLProfile) throws {
            let location = PostgreSQLServer.location()
            try makeStore(at: location, profile: profile)
            defer { try? type.destroy(location) }
            let source = PostgreSQLServer.location("source")
            let store = try type.create(source, model: try model("name", "other"), options: StoreOptions())
            try store.close()
            defer { try? type.destroy(source) }
            #expect(throws: StoreError.self) { try manager.convert(from: .location(source), to: .location(location)) }
            #expect(try names(location).count == 3)
            let options = ConversionOptions(overwrites: true, timeoutSeconds: 0)
            let open = try type.open(location, options: StoreOptions())
            #expect {
                try manager.convert(from: .location(source), to: .location(location), options: options)
            } throws: { error in
                (error as? StoreError)?.code == .busy
            }
            try open.close()
            #expect(try names(location).count == 3)
            _ = try manager.convert(from: .location(source), to: .location(location), options: options)
            #expect(try names(location, attribute: "other").isEmpty)
            try requireProfile(profile, of: location)
        }
    }
#endif
