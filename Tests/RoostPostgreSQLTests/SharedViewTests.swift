#if PostgreSQL
    import Foundation
    import RoostCore
    import RoostMemory
    import RoostMigration
    import RoostPostgreSQL
    import RoostStores
    import Testing

    @Suite(
        "Snapshots that share a view", .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct SharedViewTests {
        private let manager = MigrationManager(registry: StoreRegistry([PostgreSQLStoreType(), MemoryStoreType()]))

        private func source() throws -> any PersistentStore {
            let names = ["A", "B", "C"]
            let model = try ManagedObjectModel(
                entities: names.map {
                    EntityDescription($0, attributes: [AttributeDescription("value", type: .integer64)])
                })
            let store = try MemoryStoreType().create(
                StoreLocation(type: "memory", path: ""), model: model, options: StoreOptions())
            var changes = ChangeSet(model: model)
            for name in names {
                for key in 1...10 as ClosedRange<Int64> {
                    try changes.insert(ObjectID(EntityName(name), key: key), values: ["value": .int(key)])
                }
            }
            _ = try store.commit(changes)
            return store
        }

        private func insert(_ key: Int64, into store: any PersistentStore) throws {
            var changes = ChangeSet(model: store.model)
            try changes.insert(ObjectID("Node", key: key), values: ["value": .int(key)])
            _ = try store.commit(changes)
        }

        @Test("a snapshot that shares a view shows no later commits, on any thread")
        func laterCommits() throws {
            let meeting = try Meeting(nodeCount: 3)
            defer { meeting.destroy() }
            let store = meeting.store
            let first = try store.snapshot()
            defer { first.close() }
            let share = try #require(try (first as? any ViewSharingSnapshot)?.shareView())
            try insert(4, into: store)
            let worker = try WorkerThread("test-reader") { () throws(StoreError) in
                let second = try share()
                defer { second.close() }
                return (try second.count(FetchRequest("Node")), try second.recordedTally())
            }
            let (count, tally) = try worker.join().get()
            #expect(count == 3)
            #expect(try first.recordedTally() == tally)
            let last = try store.snapshot()
            defer { last.close() }
            #expect(try last.count(FetchRequest("Node")) == 4)
        }

        @Test("a view cannot be shared after its snapshot was closed, and the store stays usable")
        func closedSnapshot() throws {
            let meeting = try Meeting(nodeCount: 3)
            defer { meeting.destroy() }
            let first = try meeting.store.snapshot()
            let share = try #require(try (first as? any ViewSharingSnapshot)?.shareView())
            // Later transactions use the connection of this snapshot.
            try share().close()
            first.close()
            let error = #expect(throws: StoreError.self) { try share() }
            #expect(error?.code == .invalidRequest)
            try insert(4, into: meeting.store)
            let last = try meeting.store.snapshot()
            defer { last.close() }
            #expect(try last.count(FetchRequest("Node")) == 4)
            try meeting.requireSound()
        }

        @Test("the portable profile shares no views")
        func portable() throws {
            let meeting = try Meeting(nodeCount: 1, profile: .portable)
            defer { meeting.destroy() }
            let snapshot = try meeting.store.snapshot()
            defer { snapshot.close() }
            #expect(try (snapshot as? any ViewSharingSnapshot)?.shareView() == nil)
        }

        @Test("a conversion verifies a destination that has one connection for reading")
        func oneReader() throws {
            let source = try source()
            defer { try? source.close() }
            let location = PostgreSQLServer.location()
            defer { try? PostgreSQLStoreType().destroy(location) }
            let options = ConversionOptions().with {
                $0.destinationTypeOptions = ["readerConnections": "1"]
                $0.timeoutSeconds = 1
            }
            let report = try manager.convert(from: .store(source), to: .location(location), options: options)
            #expect(report.objects == 30 && report.verified)
        }

        @Test(
            "a conversion verifies its destination with several connections that share a view",
            .enabled(
                if: StatementLog() != nil && ProcessInfo.processInfo.activeProcessorCount > 1,
                "the server has no log, or the machine has only one processor"))
        func conversion() throws {
            let log = try #require(StatementLog(), "the server was not started by Scripts/postgres")
            let source = try source()
            defer { try? source.close() }
            let location = PostgreSQLServer.location(in: UUID().uuidString, name: "shared", parameters: log.parameters)
            defer { try? PostgreSQLStoreType().destroy(location) }
            let report = try manager.convert(from: .store(source), to: .location(location))
            #expect(report.objects == 30)
            let statements = try log.statements().map(\.statement)
            #expect(statements.contains { $0.contains("pg_export_snapshot") })
            #expect(statements.contains { $0.contains("SET TRANSACTION SNAPSHOT") })
        }
    }
#endif
