import RoostConformance
import RoostCore

/// The results of all checks on all backends, each computed once.
///
/// `ConformanceTests` and `DocumentationTests` both need these slow results.
final class Results: Sendable {
    static let shared = Results()

    private struct Key: Hashable {
        let check: String
        let store: String
    }

    private final class Entry: Sendable {
        let result = Mutex<ConformanceResult?>(nil)
    }

    private let entries: Mutex<[Key: Entry]> = Mutex([:])

    /// Returns the result of a check on a fixture, which is identified by its name.
    ///
    /// Runs the check on the caller's thread, so that a test's time includes its own check. Waits
    /// if another thread is running the same check.
    func result(of check: ConformanceCheck, on fixture: StoreFixture) -> ConformanceResult {
        let key = Key(check: check.id, store: fixture.name)
        let entry = entries.withLock { entries in
            let entry = entries[key] ?? Entry()
            entries[key] = entry
            return entry
        }
        return entry.result.withLock { known in
            let result = known ?? check.result(on: fixture)
            known = result
            return result
        }
    }

    /// Returns the results of all checks on these fixtures, in the order of a run.
    func all(on fixtures: [StoreFixture]) -> [ConformanceResult] {
        var results: [ConformanceResult] = []
        for fixture in fixtures {
            for check in ConformanceCheck.all { results.append(result(of: check, on: fixture)) }
        }
        return results
    }
}
