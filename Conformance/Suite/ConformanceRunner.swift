/// Runs checks outside a test framework, for the command line and for people.
public enum ConformanceRunner {
    /// Runs checks one after the other, fixture by fixture, and calls `report` after each.
    ///
    /// By then the files of the check have been removed. An error of `report` ends the run.
    ///
    /// - Throws: ``ConformanceFailure``, before anything runs, for an exclusion that names no check
    ///   or has no reason; any error of `report`.
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
