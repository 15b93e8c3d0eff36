#if SQLite
    import PlainSQL
    import RoostConformance
    import RoostCore
    import Testing

    @Suite("The SQL engine on a minimal database")
    struct PlainSQLTests {
        private static let fixture = StoreFixture(PlainSQLStoreType(), peer: .besideTests("PlainSQLPeer"))

        @Test(
            "the SQL engine on a minimal database passes every check of contents",
            arguments: ConformanceCheck.ofContents)
        func contents(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture) }

        @Test("the SQL engine on a minimal database passes every check of reads", arguments: ConformanceCheck.ofReads)
        func reads(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture) }

        @Test(
            "the SQL engine on a minimal database passes every check of queries", arguments: ConformanceCheck.ofQueries)
        func queryChecks(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture) }

        @Test(
            "the SQL engine on a minimal database passes every check of operations",
            arguments: ConformanceCheck.ofOperations)
        func operations(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture) }

        /// The checks in which a transaction continues after a failed statement.
        private static let failing = ConformanceCheck.all.filter {
            [
                "bulk", "changes", "batch", "errors", "versions", "identity", "references", "constraints", "links",
            ].contains($0.group)
        }

        @Test(
            "the SQL engine passes checks on a database whose transactions end at their first error",
            arguments: failing)
        func checkEndingWithErrors(_ check: ConformanceCheck) throws {
            try check.run(
                on: StoreFixture(
                    PlainSQLStoreType(endsWithErrors: true), name: "ending", peer: .besideTests("PlainSQLPeer")))
        }

        @Test("the SQL engine on a minimal database matches a plain model after random operations")
        func lockStep() throws {
            try LockStep.run(
                on: [Self.fixture], seed: RandomSeed.named("ROOST_LOCKSTEP_SEED"), operationCount: 1000)
        }

        @Test("the SQL engine on a minimal database answers random requests as the reference implementation does")
        func queries() throws {
            let summary = try QueryCampaign.run(on: [Self.fixture], seed: 22, caseCount: 1_500)
            #expect(summary.caseCount == 1_500)
        }

        @Test("the SQL engine refuses an insert with an existing object's key and unique value as a duplicate object")
        func duplicateWithUniqueValue() throws {
            let bench = try Workbench(Self.fixture)
            defer { bench.discard() }
            let store = try bench.create()
            var changes = ChangeSet(model: store.model)
            try changes.insert(ObjectID("Account", key: 1), values: ["number": .int(29)])
            _ = try store.commit(changes)
            changes = ChangeSet(model: store.model)
            try changes.insert(ObjectID("Admin", key: 1), values: ["number": .int(29)])
            let error = #expect(throws: StoreError.self) { try store.commit(changes) }
            #expect(error?.code == .duplicateObject)
        }

        @Test(
            "records copy between the SQL engine on a minimal database and any store", arguments: StoreFixture.writable)
        func copying(other: StoreFixture) throws {
            try CrossStoreChecks.copy(from: other, to: Self.fixture, seed: 2_026)
            try CrossStoreChecks.copy(from: Self.fixture, to: other, seed: 2_026)
        }
    }
#endif
