import Dispatch
import Testing

@testable import RoostCore
@testable import RoostSystem

@Suite("Threads")
struct SystemThreadTests {
    /// No address space has room for this stack.
    private static let impossibleByteCount = 1 << 50

    @Test("a thread that cannot start throws outOfResources and releases its closure")
    func notStarted() throws {
        final class Held: Sendable {}
        weak var observed: Held?
        let error = #expect(throws: SystemFailure.self) {
            let held = Held()
            observed = held
            try SystemThread.start("test", stackByteCount: Self.impossibleByteCount) {
                withExtendedLifetime(held) { _ = Issue.record("a thread was started") }
            }
        }
        #expect(error?.code == .outOfResources)
        #expect(observed == nil)
    }

    @Test("a worker thread that cannot start throws outOfResources")
    func worker() {
        let error = #expect(throws: StoreError.self) {
            _ = try WorkerThread("test", stackByteCount: Self.impossibleByteCount) { 1 }.join()
        }
        #expect(error?.code == .outOfResources)
    }

    @Test("a worker thread returns the result or the error of its closure")
    func workerResult() throws {
        #expect(try WorkerThread("test") { 2 }.join().get() == 2)
        let failed: WorkerThread<Int> = try WorkerThread("test") { () throws(StoreError) in
            throw StoreError(.noSpace, "The disk is full.")
        }
        #expect(throws: StoreError.self) { try failed.join().get() }
    }

    @Test("a started thread runs its closure once")
    func started() throws {
        let done = DispatchSemaphore(value: 0)
        let count = Mutex(0)
        try SystemThread.start("a name longer than fifteen bytes", stackByteCount: 1 << 20) {
            count.withLock { $0 += 1 }
            done.signal()
        }
        done.wait()
        #expect(count.withLock { $0 } == 1)
    }
}
