/// A runner of checks outside a test framework, for the command line.
public enum ConformanceRunner {
    /// Runs checks one after the other, fixture by fixture, and calls `report` after each.
    ///
    /// The files of a check are removed before `report` is called. An error of `report` ends the
    /// run.
    ///
    /// - Throws: ``ConformanceFailure`` before the first check if an exclusion is invalid; any
    ///   error of `report`.
    package static func run(
        _ checks: [ConformanceCheck] = ConformanceCheck.all, on fixtures: [StoreFixture],
        report: (ConformanceResult) throws -> Void = { _ in }
    ) throws -> [ConformanceResult] {
        for fixture in fixtures { try fixture.requireSoundExclusions() }
        var results: [ConformanceResult] = []
        for fixture in fixtures {
            for check in checks {
                let result = check.result(on: fixture)
                results.append(result)
                try report(result)
            }
        }
        return results
    }
}
