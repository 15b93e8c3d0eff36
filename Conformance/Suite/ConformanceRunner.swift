/// Runs checks outside a test framework, for the command line and for people.
public enum ConformanceRunner {
    /// Runs checks one after the other, fixture by fixture; `report` hears of each as it ends.
    ///
    /// When `report` is called, everything that the check made on disk is gone; what it throws ends the run.
    ///
    /// - Throws: ``ConformanceFailure``, before anything runs, for an exclusion that names no check or has no reason; whatever
    ///   `report` throws.
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
