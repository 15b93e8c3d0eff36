internal import Foundation
internal import RoostCore

/// A gate that serializes the writing threads of one open store.
///
/// SQLite's own lock serializes connections, but not threads that share one connection.
final class WriterGate: @unchecked Sendable {
    // Proof of Sendable: `isTaken` is used only while `condition` is locked.
    private let condition = NSCondition()
    private var isTaken = false

    /// Waits for the gate and enters it; returns false after the timeout.
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

    func leave() {
        condition.lock()
        isTaken = false
        condition.signal()
        condition.unlock()
    }
}
