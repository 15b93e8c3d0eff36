import RoostConformance
import RoostCore

/// The results of all checks on all backends, each computed once.
///
/// The test of every check and the documentation of all checks need the same results, which are
/// slow to compute.
final class Results: Sendable {
    static let shared = Results()

    private struct Key: Hashable {
        let check: String
        let store: String
    }

    private let tasks: Mutex<[Key: Task<ConformanceResult, Never>]> = Mutex([:])

    /// Returns the result of a check on a fixture, which is identified by its name.
    func result(of check: ConformanceCheck, on fixture: StoreFixture) async -> ConformanceResult {
        let key = Key(check: check.id, store: fixture.name)
        let task = tasks.withLock { tasks in
            if let task = tasks[key] { return task }
            let task = Task { check.result(on: fixture) }
            tasks[key] = task
            return task
        }
        return await task.value
    }

    /// Returns the results of all checks on these fixtures, in the order of a run.
    func all(on fixtures: [StoreFixture]) async -> [ConformanceResult] {
        var results: [ConformanceResult] = []
        for fixture in fixtures {
            for check in ConformanceCheck.all { results.append(await result(of: check, on: fixture)) }
        }
        return results
    }
}
