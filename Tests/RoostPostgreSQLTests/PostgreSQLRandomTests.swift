#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostMemory
    import RoostQuery
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
        /// `ROOST_LOCKSTEP_SEED` repeats a run, and `ROOST_LOCKSTEP_OPERATIONS` sets its length.
        @Test("PostgreSQL stores match a plain model after random operations")
        func lockStep() throws {
            try LockStep.run(
                on: [PostgreSQLServer.fixture, PostgreSQLServer.portable()],
                seed: Self.number("ROOST_LOCKSTEP_SEED") ?? .random(in: 1...999_999),
                operationCount: Self.number("ROOST_LOCKSTEP_OPERATIONS") ?? 1000)
        }

        /// A failure names the seed.
        ///
        /// `ROOST_QUERY_SEED` repeats a run. `ROOST_QUERY_CASES` sets the number of cases, and
        /// makes the default seed random.
        @Test("PostgreSQL stores answer random requests as the reference implementation does")
        func queries() throws {
            let longRun: Int? = Self.number("ROOST_QUERY_CASES")
            let usual = longRun == nil ? 22 : UInt64.random(in: 1...999_999)
            let summary = try QueryCampaign.run(
                on: [PostgreSQLServer.fixture, PostgreSQLServer.portable()],
                seed: Self.number("ROOST_QUERY_SEED") ?? usual, caseCount: longRun ?? 1_500)
            #expect(summary.caseCount == longRun ?? 1_500)
        }

        private static func number<Number: LosslessStringConvertible>(_ variable: String) -> Number? {
            ProcessInfo.processInfo.environment[variable].flatMap { Number($0) }
        }

        // Roost first counts the rows of the range, by a statement without the
        // parameter of the other condition.
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

        private static let texts = [
            "", "Abc", "abc", "ABCDE", "xabc", "xABC", "Ábc", "ábc", "\u{212A}elvin", "kelvin", "KELVIN", "Straße",
            "strasse",
            "a\u{0}bc", "a\u{1}bc", "\u{1}", "\u{2}", "ﬁn", "fin", "Ωmega", "ωMEGA", "e\u{301}", "é", "E", "a_c",
            "a%c", "😀bc",
        ]

        @Test(
            "a PostgreSQL store answers text comparisons as a memory store does, also with folding",
            arguments: PostgreSQLProfile.allCases)
        func foldedTexts(profile: PostgreSQLProfile) throws {
            var song = EntityDescription("Song", attributes: [.string("title")])
            song.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")]
            let model = try ManagedObjectModel(entities: [song])
            let (type, location) = (PostgreSQLStoreType(), PostgreSQLServer.location())
            let store = try type.create(location, model: model, options: PostgreSQLServer.options(profile))
            defer { try? type.destroy(location) }
            let memory = try MemoryStoreType().create(
                StoreLocation(type: "memory", path: ""), model: model, options: StoreOptions())
            var changes = ChangeSet(model: model)
            for (key, text) in Self.texts.enumerated() {
                try changes.insert(ObjectID("Song", key: Int64(key + 1)), values: ["title": .string(text)])
            }
            try changes.insert(ObjectID("Song", key: 100), values: ["title": .null])
            // The server uses an index only in large tables.
            for key in 1000...2200 as ClosedRange<Int64> {
                try changes.insert(ObjectID("Song", key: key), values: ["title": .string("song \(key)")])
            }
            for store in [store, memory] { _ = try store.commit(changes) }
            let (snapshot, reference) = (try store.snapshot(), try memory.snapshot())
            let operators: [FetchRequest.Comparison.Operator] = [
                .equal, .notEqual, .beginsWith, .endsWith, .contains, .like,
            ]
            for comparison in operators {
                for options: FetchRequest.Comparison.Options in [
                    [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
                ] {
                    for text in Self.texts + ["b", "BC", "*bc", "*B*", "a?c"] {
                        let condition = FetchRequest.Predicate.comparison(
                            .init(
                                left: .keyPath(["title"]), operator: comparison, right: .constant(.string(text)),
                                options: options))
                        for predicate in [condition, .not(condition)] {
                            let request = FetchRequest("Song", where: predicate)
                            let (keys, expected) = (try snapshot.keys(request), try reference.keys(request))
                            #expect(keys == expected, "\(comparison) \(options.rawValue) \(text.debugDescription)")
                        }
                    }
                }
            }
            snapshot.close()
            reference.close()
            try store.close()
        }

        @Test("a PostgreSQL store reads only texts that can match, with folding and without")
        func textsOfStatement() throws {
            let model = try ManagedObjectModel(entities: [EntityDescription("Song", attributes: [.string("title")])])
            let (type, location) = (PostgreSQLStoreType(), PostgreSQLServer.location())
            let store = try type.create(location, model: model, options: StoreOptions())
            defer { try? type.destroy(location) }
            var changes = ChangeSet(model: model)
            for (key, text) in ["Blue", "blue note", "Red", "red", "Öl"].enumerated() {
                try changes.insert(ObjectID("Song", key: Int64(key + 1)), values: ["title": .string(text)])
            }
            _ = try store.commit(changes)
            let snapshot = try #require(try store.snapshot() as? any ExplainingSnapshot)
            defer { snapshot.close() }
            func plan(_ format: String) throws -> FetchPlan {
                let request = FetchRequest("Song", where: try FetchRequest.Predicate(format: format))
                return try snapshot.explain(CheckedFetchRequest(request, model: model), executing: true)
            }
            #expect(try plan("title CONTAINS 'lue'").filteredAfterwards.isEmpty)
            #expect(try plan("title ENDSWITH 'note'").filteredAfterwards.isEmpty)
            // The statement returns the two texts that begin with the word, and each non-ASCII text.
            #expect(try plan("title BEGINSWITH[cd] 'BLUE'").visitedCount == 3)
            #expect(try plan("title ==[c] 'ÖL'").visitedCount == 1)
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
