internal import Dispatch
internal import RoostCore
internal import RoostSystem

/// Work on its own thread, for checks of concurrency.
final class Background<Result: Sendable>: Sendable {
    private let outcome: Mutex<Swift.Result<Result, any Error>?> = Mutex(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Result) {
        do throws(SystemFailure) {
            try SystemThread.start("roost-check", stackByteCount: 4 << 20) { [self] in
                end(Swift.Result { try body() })
            }
        } catch {
            end(.failure(StoreError(error)))
        }
    }

    private func end(_ result: Swift.Result<Result, any Error>) {
        outcome.withLock { $0 = result }
        done.signal()
    }

    var isDone: Bool { outcome.withLock { $0 != nil } }

    /// Returns the result, or fails after a minute, so that a deadlock does not stop the whole
    /// suite.
    func value() throws -> Result {
        guard done.wait(timeout: .now() + 60) == .success, let result = outcome.withLock({ $0 }) else {
            throw Mismatch(expected: "the other thread comes to an end", actual: "nothing for 60 seconds")
        }
        done.signal()
        return try result.get()
    }
}

/// An event that one thread waits for and others announce.
final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func send() { semaphore.signal() }

    /// Waits for one announcement; a minute without it is a failure.
    func wait() throws {
        guard semaphore.wait(timeout: .now() + 60) == .success else {
            throw Mismatch(expected: "the other thread gets to work", actual: "nothing for 60 seconds")
        }
    }
}
