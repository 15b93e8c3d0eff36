internal import Foundation
internal import RoostCore

/// Serializes the writing threads of one open store.
///
/// Waiting writers time out. SQLite's own lock serializes connections, but not threads that share
/// one connection.
final class WriterGate: @unchecked Sendable {
    // Proof of Sendable: `isTaken` is used only while `condition` is locked.
    private let condition = NSCondition()
    private var isTaken = false

    /// Enters the gate.
    ///
    /// Returns false if the timeout elapses first.
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
