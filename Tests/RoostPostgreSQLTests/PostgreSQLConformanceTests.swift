#if PostgreSQL
    import RoostConformance
    import RoostCore
    import Testing

    @Suite(
        "Stores in PostgreSQL", .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct PostgreSQLConformanceTests {
        @Test("a PostgreSQL store passes every conformance check", arguments: ConformanceCheck.all)
        func check(_ check: ConformanceCheck) throws { try check.run(on: PostgreSQLServer.fixture) }

        @Test("contexts on a PostgreSQL store pass every graph check", arguments: GraphCheck.all)
        func graphCheck(_ check: GraphCheck) async throws {
            if case .failed(let failure) = await check.outcome(on: PostgreSQLServer.fixture) { throw failure }
        }
    }
#endif
