#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostMemory
    import RoostSQL
    import Testing

    @testable import RoostPostgreSQL

    @Suite(
        "Random work on stores in PostgreSQL",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct PostgreSQLRandomTests {
        private static let memory = StoreFixture(MemoryStoreType(), keepsClosedStores: true)

        /// A failure names the seed.
        ///
        /// `ROOST_LOCKSTEP_SEED` repeats a run, and `ROOST_LOCKSTEP_OPERATIONS` makes it longer.
        @Test("PostgreSQL stores match a plain model after random operations")
        func lockStep() throws {
            try LockStep.run(
                on: [PostgreSQLServer.fixture, PostgreSQLServer.portable()],
                seed: Self.number("ROOST_LOCKSTEP_SEED") ?? .random(in: 1...999_999),
                operationCount: Self.number("ROOST_LOCKSTEP_OPERATIONS") ?? 1000)
        }

        /// A failure names the seed.
        ///
        /// `ROOST_QUERY_SEED` repeats a run. `ROOST_QUERY_CASES` makes it longer, with a random
        /// seed.
        @Test("PostgreSQL stores answer random requests as the reference does")
        func queries() throws {
            let longRun: Int? = Self.number("ROOST_QUERY_CASES")
            let usual = longRun == nil ? 22 : UInt64.random(in: 1...999_999)
            let summary = try QueryCampaign.run(
                on: [PostgreSQLServer.fixture, PostgreSQLServer.portable()],
                seed: Self.number("ROOST_QUERY_SEED") ?? usual, caseCount: longRun ?? 1_500)
            #expect(summary.caseCount == longRun ?? 1_500)
        }

        /// Returns the number in an environment variable.
        private static func number<Number: LosslessStringConvertible>(_ variable: String) -> Number? {
            ProcessInfo.processInfo.environment[variable].flatMap { Number($0) }
        }

        /// The range is counted before it is read, by a statement without the parameter of the
        /// other condition.
        @Test(
            "a PostgreSQL fetch combines a range of an index with another condition",
            arguments: PostgreSQLProfile.allCases)
        func rangeBesideCondition(profile: PostgreSQLProfile) throws {
            var song = EntityDescription("Song", attributes: [.integer64("year"), .double("gain")])
            song.fetchIndexes = [FetchIndexDescription("byYear", on: "year")]
            let model = try ManagedObjectModel(entities: [song])
            let (type, location) = (PostgreSQLStoreType(), PostgreSQLServer.location())
            let store = try type.create(location, model: model, options: PostgreSQLServer.options(profile))
            defer { try? type.destroy(location) }
            var changes = ChangeSet(model: model)
            for key in Int64(1)...20 {
                let values: [String: Value] = ["year": .int(key), "gain": .double(Double(key % 2))]
                try changes.insert(ObjectID("Song", key: key), values: values)
            }
            _ = try store.commit(changes)
            let conditions: [FetchRequest.Predicate] = [
                .or([.comparison(.init(left: .keyPath(["gain"]), operator: .equal, right: .constant(.double(1))))]),
                .comparison(.init(left: .keyPath(["year"]), operator: .greater, right: .constant(.int(5)))),
                .comparison(.init(left: .keyPath(["year"]), operator: .notEqual, right: .constant(.int(9)))),
            ]
            for order in [conditions, conditions.reversed()] {
                let keys = try store.snapshot().keys(FetchRequest("Song", where: .and(order)))
                #expect(keys == [7, 11, 13, 15, 17, 19])
            }
            try store.close()
        }

        private static let pairs: [(StoreFixture, StoreFixture)] = [
            (memory, PostgreSQLServer.fixture), (PostgreSQLServer.fixture, memory),
            (PostgreSQLServer.fixture, PostgreSQLServer.portable()),
            (PostgreSQLServer.portable(), PostgreSQLServer.fixture),
        ]

        @Test("records copy between PostgreSQL stores of both profiles and another store", arguments: pairs)
        func copying(from source: StoreFixture, to target: StoreFixture) throws {
            try CrossStoreChecks.copy(from: source, to: target, seed: 2_026)
        }
    }
#endif
