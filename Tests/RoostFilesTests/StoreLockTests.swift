import Foundation
import RoostCore
import RoostSystem
import Testing

@testable import RoostFiles

/// A thread and the result of its body.
final class Background<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread { [self] in
            let result = Result { try body() }
            self.result.withLock { $0 = result }
            isDone.signal()
        }
    }

    func value() throws -> Value {
        isDone.wait()
        defer { isDone.signal() }
        return try #require(result.withLock { $0 }).get()
    }
}

@Suite("Store locks")
struct StoreLockTests {
    let directory = Result { try TemporaryDirectory() }

    @Test("a store lock has several shared holders or one exclusive holder")
    func sharedOrExclusive() throws {
        let path = try directory.get().file("store")
        let first = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
        let second = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
        #expect(code { _ = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0) } == .busy)
        #expect(code { try first.change(to: .exclusive, timeoutSeconds: 0) } == .busy)
        second.release()
        try first.change(to: .exclusive, timeoutSeconds: 0)
        #expect(code { _ = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0.01) } == .busy)
        try first.change(to: .shared, timeoutSeconds: 0)
        _ = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
    }

    @Test("a store lock that cannot become exclusive stays shared")
    func staysSharedAfterFailedChange() throws {
        let path = try directory.get().file("store")
        let first = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
        let second = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
        #expect(code { try first.change(to: .exclusive, timeoutSeconds: 0) } == .busy)
        #expect(code { try second.change(to: .exclusive, timeoutSeconds: 0) } == .busy)
        first.release()
        try second.change(to: .exclusive, timeoutSeconds: 0)
    }

    @Test("a store lock is released by deallocation and refuses changes after its release")
    func releasesOnDeallocation() throws {
        let path = try directory.get().file("store")
        do {
            let lock = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
            _ = lock
        }
        let lock = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
        lock.release()
        lock.release()
        #expect(code { try lock.change(to: .shared, timeoutSeconds: 0) } == .closed)
        #expect(code { try lock.releaseRemovingFile() } == .invalidRequest)
        let shared = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
        #expect(code { try shared.releaseRemovingFile() } == .invalidRequest)
    }

    @Test("an opener that waits for a store lock gets it on release")
    func waitsForRelease() async throws {
        let path = try directory.get().file("store")
        let held = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
        let waiting = Task.detached { try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 60) }
        held.release()
        try await waiting.value.release()
    }

    @Test("a shared acquisition yields to a waiting exclusive request for a limited time")
    func yieldsToExclusiveRequest() throws {
        let path = try directory.get().file("store")
        let request = try ExclusiveRequest(forStoreAt: path)
        func seconds(_ timeout: Double) throws -> (lock: StoreLock, Duration) {
            let start = ContinuousClock.now
            let lock = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: timeout)
            return (lock, ContinuousClock.now - start)
        }
        // With a timeout of 0, the lock does not wait for the request.
        let (first, none) = try seconds(0)
        #expect(none < .seconds(0.2))
        // The request may be waiting for this process's first lock, so the second acquisition yields only briefly.
        let (second, little) = try seconds(600)
        #expect(little >= .seconds(0.1) && little < .seconds(4))
        first.release()
        second.release()
        let (third, limited) = try seconds(0.4)
        #expect(limited >= .seconds(0.35))
        third.release()
        // The request does not block an exclusive lock.
        try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0).release()
        request.withdraw()
        request.withdraw()
        let (last, nothing) = try seconds(600)
        #expect(nothing < .seconds(0.2))
        last.release()
    }

    @Test("the lock file shows that an exclusive acquisition waits, until the wait ends")
    func showsExclusiveRequest() throws {
        let path = try directory.get().file("store")
        let shared = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
        let file = try LockFile(forStoreAt: path, region: .store, isWritable: false)
        #expect(code { _ = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0.01) } == .busy)
        #expect(!file.isWaitedFor)
        let waiting = Background { try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 600) }
        while !file.isWaitedFor { usleep(1_000) }
        shared.release()
        let lock = try waiting.value()
        #expect(!file.isWaitedFor)
        try lock.change(to: .shared, timeoutSeconds: 0)
        let other = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
        let changing = Background { try lock.change(to: .exclusive, timeoutSeconds: 600) }
        while !file.isWaitedFor { usleep(1_000) }
        other.release()
        try changing.value()
        #expect(!file.isWaitedFor)
    }

    @Test("a wait for a lock or claim throws cancelled when it is cancelled")
    func cancelsWait() async throws {
        let path = try directory.get().file("store")
        let held = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
        let file = try LockFile(forStoreAt: path, region: .store, isWritable: false)
        let waiting = Task.detached { try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 600) }
        // A separate thread cancels the task, because every thread that runs tasks may be waiting.
        let cancelling = Background {
            while !file.isWaitedFor { usleep(1_000) }
            waiting.cancel()
        }
        let error = await #expect(throws: StoreError.self) { _ = try await waiting.value }
        try cancelling.value()
        #expect(error?.code == .cancelled)
        #expect(!file.isWaitedFor)
        #expect(
            code {
                _ = try StoreLock.acquire(
                    forStoreAt: path, mode: .exclusive, timeoutSeconds: 600, isCancelled: { true })
            } == .cancelled)
        let claim = try DestinationClaim.acquire(forStoreAt: path)
        #expect(
            code {
                _ = try DestinationClaim.acquire(forStoreAt: path, timeoutSeconds: 600, isCancelled: { true })
            } == .cancelled)
        claim.release()
        held.release()
    }

    @Test("an opener that waits for a store lock creates and locks a new file if the lock file is removed")
    func locksNewFile() async throws {
        let directory = try directory.get()
        let path = directory.file("store")
        let held = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
        let waiting = Task.detached { try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 60) }
        try held.releaseRemovingFile()
        let second = try await waiting.value
        #expect(try directory.names == ["store.lock"])
        #expect(code { _ = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0) } == .busy)
        try second.releaseRemovingFile()
        #expect(try directory.names.isEmpty)
    }

    @Test("a lock file with content or a second hard link is refused and unchanged", arguments: ["poetry", "linked"])
    func refusesForeignLockFile(name: String) throws {
        let directory = try directory.get()
        _ = try directory.write("poetry.lock", content: "poetry")
        _ = try directory.write("victim", content: "")
        try FileManager.default.linkItem(atPath: directory.file("victim"), toPath: directory.file("linked.lock"))
        let path = directory.file(name)
        #expect(
            code { _ = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0) } == .notAStore)
        #expect(code { _ = try StoreLock.acquireForReading(storeAt: path, timeoutSeconds: 0) } == .notAStore)
        #expect(code { _ = try WriterLock(forStoreAt: path) } == .notAStore)
        #expect(code { _ = try DestinationClaim.acquire(forStoreAt: path) } == .notAStore)
        #expect(try directory.content("poetry.lock") == "poetry")
        #expect(try directory.names == ["linked.lock", "poetry.lock", "victim"])
    }

    @Test("a store and a symbolic link to it share one lock")
    func sharesLockWithSymbolicLink() throws {
        let directory = try directory.get()
        let store = try directory.write("store")
        #expect(symlink(store, directory.file("link")) == 0)
        let lock = try StoreLock.acquire(forStoreAt: directory.file("link"), mode: .exclusive, timeoutSeconds: 0)
        #expect(code { _ = try StoreLock.acquire(forStoreAt: store, mode: .shared, timeoutSeconds: 0) } == .busy)
        lock.release()
    }

    @Test("a symbolic link or a pipe instead of a lock file is refused")
    func refusesPlantedLink() throws {
        let directory = try directory.get()
        let victim = try directory.write("victim")
        #expect(symlink(victim, directory.file("store.lock")) == 0)
        #expect(mkfifo(directory.file("other.lock"), 0o600) == 0)
        for name in ["store", "other", "no/store"] {
            let code = code {
                _ = try StoreLock.acquire(forStoreAt: directory.file(name), mode: .shared, timeoutSeconds: 0)
            }
            #expect(code == (name == "no/store" ? .missingDirectory : .notAStore))
        }
        #expect(try directory.content("victim") == "content")
    }

    @Test("a reader without write access needs no lock, but respects an existing lock", .enabled(if: geteuid() == 0))
    func readsWithoutWriteAccess() throws {
        let path = try directory.get().write("store")
        try asNobody { () throws in
            let none = try StoreLock.acquireForReading(storeAt: path, timeoutSeconds: 0)
            #expect(none === nil)
            #expect(
                code { _ = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0) }
                    == .permissionDenied)
        }
        #expect(try directory.get().names == ["store"])
        let lock = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
        #expect(chmod(StoreLock.path(forStoreAt: path), 0o644) == 0)
        asNobody {
            #expect(code { _ = try StoreLock.acquireForReading(storeAt: path, timeoutSeconds: 0) } == .busy)
            #expect(
                code { _ = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0) }
                    == .permissionDenied
            )
        }
        lock.release()
    }

    @Test("a writer lock has one holder and is independent of the store lock")
    func writerLockIsIndependent() throws {
        let path = try directory.get().file("store")
        let first = try WriterLock(forStoreAt: path)
        let second = try WriterLock(forStoreAt: path)
        let store = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
        try first.lock(timeoutSeconds: 0)
        #expect(code { try second.lock(timeoutSeconds: 0.01) } == .busy)
        try store.change(to: .exclusive, timeoutSeconds: 0)
        try first.unlock()
        try second.lock(timeoutSeconds: 0)
        second.close()
        try first.lock(timeoutSeconds: 0)
        #expect(code { try second.lock(timeoutSeconds: 0) } == .closed)
    }

    #if os(Linux)
        @Test("a duplicated descriptor does not keep a released lock")
        func ignoresDuplicatedDescriptor() throws {
            let path = try directory.get().file("store")
            let lock = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
            let copy = try copyOfDescriptor(ofFileAt: path + StoreLock.suffix)
            defer { close(copy) }
            lock.release()
            try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0).release()
        }

        @Test("a lock file that is closed no longer shows a waiting process, even if its descriptor was duplicated")
        func ignoresDuplicateOfWaiter() throws {
            let path = try directory.get().file("store")
            var waiter: LockFile? = try LockFile(forStoreAt: path, region: .store, isWritable: true)
            waiter?.startWaiting()
            waiter?.readFileAlone()
            let copy = try copyOfDescriptor(ofFileAt: path + StoreLock.suffix)
            defer { close(copy) }
            let file = try LockFile(forStoreAt: path, region: .store, isWritable: false)
            #expect(file.isWaitedFor && file.isFileReadAlone)
            waiter = nil
            #expect(!file.isWaitedFor && !file.isFileReadAlone)
        }

        /// Returns a copy of this process's only descriptor of a file.
        ///
        /// A child process has such a copy between fork and exec.
        private func copyOfDescriptor(ofFileAt path: String) throws -> Int32 {
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(
                Int32.init)
            let own = descriptors.filter {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                return target?.hasSuffix(path) == true
            }
            let copy = dup(try #require(own.first))
            try #require(copy >= 0)
            return copy
        }
    #endif

    @Test("a child process does not keep a lock that its parent released")
    func ignoresChildProcess() throws {
        let path = try directory.get().file("store")
        let lock = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/bin/sh")
        holder.arguments = ["-c", "exec cat"]
        let input = Pipe()
        holder.standardInput = input
        try holder.run()
        lock.release()
        let second = try StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
        second.release()
        // A child process of a dispatch thread can have signals blocked, so only SIGKILL always
        // ends it.
        kill(holder.processIdentifier, SIGKILL)
        holder.waitUntilExit()
    }
}

@Suite("Replaced files")
struct FileHandleCheckTests {
    @Test("an open file that is replaced, removed or truncated is noticed")
    func noticesReplacedFile() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("store", content: "12345678")
        let check = try FileHandleCheck(at: path)
        try check.verify(minimumByteCount: 8)
        _ = try directory.write("other")
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.truncate(atOffset: 100)
        try check.verify(minimumByteCount: 8)
        try handle.truncate(atOffset: 3)
        try handle.close()
        #expect(code { try check.verify(minimumByteCount: 8) } == .corrupted)
        try check.verify()
        #expect(rename(path, directory.file("kept")) == 0)
        #expect(code { try check.verify() } == .storeReplaced)
        #expect(rename(directory.file("other"), path) == 0)
        #expect(code { try check.verify() } == .storeReplaced)
        #expect(rename(directory.file("kept"), path) == 0)
        try check.verify()
        #expect(code { _ = try FileHandleCheck(at: directory.file("absent")) } == .notFound)
    }
}
