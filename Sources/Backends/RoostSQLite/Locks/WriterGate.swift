internal import Foundation
internal import RoostCore

/// The writer's place among the threads of one process: one at a time, others queue up to a
/// timeout.
///
/// Between processes SQLite's own lock does the same; among threads that share one connection it
/// cannot.
final class WriterGate: @unchecked Sendable {
    // Proof of Sendable: `isTaken` is touched only while `condition` is locked.
    private let condition = NSCondition()
    private var isTaken = false

    /// Takes the place; false when the time is over.
    func enter(timeoutSeconds: Double) -> Bool {
        let deadline = Date(timeIntervalSinceNow: max(0, min(timeoutSeconds, 1e9)))
        condition.lock()
        defer { condition.unlock() }
        while isTaken {
            guard condition.wait(until: deadline) else { break }
        }
        guard !isTaken else { return false }
        isTaken = true
        return true
    }

    /// Gives the place back.
    func leave() {
        condition.lock()
        isTaken = false
        condition.signal()
        condition.unlock()
    }
}
