#if SQLite
    import PlainSQL
    import RoostConformance
    import RoostCore
    import Testing

    @Suite("The SQL engine on a database that gives it the required part only")
    struct PlainSQLTests {
        private static let fixture = StoreFixture(PlainSQLStoreType(), peer: .besideTests("PlainSQLPeer"))

        @Test("does what the contract says", arguments: ConformanceCheck.all)
        func check(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture) }

        /// The checks in which a transaction continues after a failed statement.
        private static let failing = ConformanceCheck.all.filter {
            [
                "bulk", "changes", "batch", "errors", "versions", "identity", "references", "constraints", "links",
            ].contains($0.group)
        }

        @Test("needs no transaction that outlives an error", arguments: failing)
        func checkEndingWithErrors(_ check: ConformanceCheck) throws {
            try check.run(
                on: StoreFixture(
                    PlainSQLStoreType(endsWithErrors: true), name: "ending", peer: .besideTests("PlainSQLPeer")))
        }

        @Test("leaves what a plain model has after random change sets", arguments: [UInt64.random(in: 1...999_999)])
        func lockStep(seed: UInt64) throws { try LockStep.run(on: [Self.fixture], seed: seed, operationCount: 1000) }

        @Test("gives the plain answer to random requests")
        func queries() throws {
            let summary = try QueryCampaign.run(on: [Self.fixture], seed: 22, caseCount: 1_500)
            #expect(summary.caseCount == 1_500)
        }

        @Test("copies records to and from every other store", arguments: StoreFixture.writable)
        func copying(other: StoreFixture) throws {
            try CrossStoreChecks.copy(from: other, to: Self.fixture, seed: 2_026)
            try CrossStoreChecks.copy(from: Self.fixture, to: other, seed: 2_026)
        }
    }
#endif
