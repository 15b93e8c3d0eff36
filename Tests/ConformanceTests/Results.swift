import RoostConformance
import RoostCore

/// The results of all checks on all backends; each is computed once, whoever asks first.
///
/// The test of every check and the documentation that shows them all need the same results, which take their time.
final class Results: Sendable {
    static let shared = Results()

    private struct Key: Hashable {
        let check: String
        let store: String
    }

    private let tasks: Mutex<[Key: Task<ConformanceResult, Never>]> = Mutex([:])

    /// How a check ends on a fixture, which its name identifies.
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

    /// How all checks end on these fixtures, in the order in which a run gives them.
    func all(on fixtures: [StoreFixture]) async -> [ConformanceResult] {
        var results: [ConformanceResult] = []
        for fixture in fixtures {
            for check in ConformanceCheck.all { results.append(await result(of: check, on: fixture)) }
        }
        return results
    }
}
