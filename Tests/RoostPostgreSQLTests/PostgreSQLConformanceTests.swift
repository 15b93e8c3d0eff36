#if PostgreSQL
    import RoostConformance
    import RoostCore
    import Testing

    @Suite(
        "Stores in PostgreSQL", .enabled(if: PostgreSQLServer.parameters != nil, PostgreSQLServer.missing))
    struct PostgreSQLConformanceTests {
        @Test("a PostgreSQL store passes every check of contents", arguments: ConformanceCheck.ofContents)
        func contents(_ check: ConformanceCheck) throws { try check.run(on: PostgreSQLServer.fixture) }

        @Test("a PostgreSQL store passes every check of reads", arguments: ConformanceCheck.ofReads)
        func reads(_ check: ConformanceCheck) throws { try check.run(on: PostgreSQLServer.fixture) }

        @Test("a PostgreSQL store passes every check of queries", arguments: ConformanceCheck.ofQueries)
        func queryChecks(_ check: ConformanceCheck) throws { try check.run(on: PostgreSQLServer.fixture) }

        @Test("a PostgreSQL store passes every check of operations", arguments: ConformanceCheck.ofOperations)
        func operations(_ check: ConformanceCheck) throws { try check.run(on: PostgreSQLServer.fixture) }

        @Test("contexts on a PostgreSQL store pass every check of objects", arguments: GraphCheck.ofObjects)
        func objects(_ check: GraphCheck) async throws { try await check.run(on: PostgreSQLServer.fixture) }

        @Test("contexts on a PostgreSQL store pass every check of results", arguments: GraphCheck.ofResults)
        func results(_ check: GraphCheck) async throws { try await check.run(on: PostgreSQLServer.fixture) }
    }
#endif
