#if PostgreSQL
    import RoostConformance
    import RoostCore
    import RoostMemory
    import RoostSQL
    import Testing

    @Suite(
        "Random work on stores in PostgreSQL",
        .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct PostgreSQLRandomTests {
        private static let memory = StoreFixture(MemoryStoreType(), keepsClosedStores: true)

        @Test("leaves what a plain model has after random change sets", arguments: [UInt64.random(in: 1...999_999)])
        func lockStep(seed: UInt64) throws {
            try LockStep.run(
                on: [PostgreSQLServer.fixture, PostgreSQLServer.portable()], seed: seed, operationCount: 1000)
        }

        @Test("gives the plain answer to random requests")
        func queries() throws {
            let fixtures = [PostgreSQLServer.fixture, PostgreSQLServer.portable()]
            let summary = try QueryCampaign.run(on: fixtures, seed: 22, caseCount: 1_500)
            #expect(summary.caseCount == 1_500)
        }

        @Test("copies records to and from another store")
        func copying() throws {
            try CrossStoreChecks.copy(from: Self.memory, to: PostgreSQLServer.fixture, seed: 2_026)
            try CrossStoreChecks.copy(from: PostgreSQLServer.fixture, to: Self.memory, seed: 2_026)
            try CrossStoreChecks.copy(from: PostgreSQLServer.fixture, to: PostgreSQLServer.portable(), seed: 2_026)
            try CrossStoreChecks.copy(from: PostgreSQLServer.portable(), to: PostgreSQLServer.fixture, seed: 2_026)
        }
    }
#endif
