import Foundation
import RoostCore
import RoostSystem
import Testing

@testable import RoostFiles

@Suite("Soundness locks")
struct SoundnessLockTests {
    @Test("the first opener examines a store, and so does the next opener after all have closed it")
    func examinesOncePerUse() throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("store")
        var count = 0
        func enter() throws(StoreError) -> SoundnessLock {
            try SoundnessLock.enter(forStoreAt: store, timeoutSeconds: 0) { () throws(StoreError) in count += 1 }
        }
        #expect(
            code {
                _ = try SoundnessLock.enter(forStoreAt: store, timeoutSeconds: 0) { () throws(StoreError) in
                    // No other opener can rely on the examination while it runs.
                    guard code({ _ = try enter() }) == .busy else { return }
                    throw StoreError(.corrupted, "on purpose")
                }
            } == .corrupted)
        let first = try enter()
        #expect(count == 1)
        let second = try enter()
        first.release()
        let third = try enter()
        #expect(count == 1)
        second.release()
        third.release()
        third.release()
        let fourth = try enter()
        #expect(count == 2)
        fourth.release()
    }

    @Test(
        "an opener trusts another opener's shared lock only if the store was found sound",
        .enabled(if: croost_locks_have_regions() != 0, "the system cannot lock bytes separately"))
    func waitsForConfirmation() throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("store")
        // This opener got the shared lock after a failed examination, and still holds the lock.
        let undecided = try LockFile(forStoreAt: store, region: .sound, isWritable: true)
        #expect(try undecided.set(.shared))
        #expect(code { _ = try SoundnessLock.join(forStoreAt: store, timeoutSeconds: 0.01) } == .busy)
        #expect(try undecided.set(.none))
        let first = try SoundnessLock.join(forStoreAt: store, timeoutSeconds: 0)
        #expect(first.isExamining)
        try first.confirm()
        let second = try SoundnessLock.join(forStoreAt: store, timeoutSeconds: 0)
        first.release()
        // The second opener's lock alone still confirms the store.
        #expect(try !SoundnessLock.join(forStoreAt: store, timeoutSeconds: 0).isExamining)
        second.release()
        #expect(try SoundnessLock.join(forStoreAt: store, timeoutSeconds: 0).isExamining)
    }

    @Test("a regular file is read at any offset; a directory or missing file is refused")
    func readsRegularFile() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("store", content: "0123456789")
        let file = try RegularFile(at: path)
        #expect(file.byteCount == 10)
        let bytes = try readBytes(4, at: 3, of: file)
        #expect(bytes == Array("3456".utf8))
        let end = try readBytes(4, at: 8, of: file)
        #expect(end == Array("89".utf8))
        #expect(code { _ = try RegularFile(at: directory.path) } == .notAStore)
        #expect(code { _ = try RegularFile(at: directory.file("absent")) } == .notFound)
    }

    private func readBytes(_ count: Int, at offset: Int, of file: borrowing RegularFile) throws(StoreError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        let got = try file.read(into: buffer, at: offset)
        return Array(buffer.prefix(got))
    }
}

@Suite("Held files", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
struct HeldFilesTests {
    @Test("reads of a held file share one handle, which closes with the last holder")
    func sharesOneHandle() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("store", content: "0123456789")
        let other = try directory.write("other", content: "abc")
        let identity = try FileIdentity(at: path)
        #expect(!HeldFiles.shared.contains(path))
        HeldFiles.shared.enter(identity)
        HeldFiles.shared.enter(identity)
        #expect(HeldFiles.shared.contains(path))
        #expect(!HeldFiles.shared.contains(other))
        for _ in 0..<20 {
            #expect(StoreFile.read(prefix: 3, of: path) == Array("012".utf8))
            #expect(StoreFile.read(prefix: 3, of: other) == Array("abc".utf8))
            try StoreFile.syncFile(at: path)
        }
        #expect(handleCount(path) == 1)
        #expect(handleCount(other) == 0)
        HeldFiles.shared.leave(identity)
        #expect(handleCount(path) == 1)
        HeldFiles.shared.leave(identity)
        HeldFiles.shared.leave(identity)
        #expect(handleCount(path) == 0)
        #expect(StoreFile.read(prefix: 3, of: path) == Array("012".utf8))
        #expect(handleCount(path) == 0)
    }

    @Test("repeated byte range locks on a held file use at most four handles")
    func rangeLocksShareHandles() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("store", content: "0123456789")
        let identity = try FileIdentity(at: path)
        HeldFiles.shared.enter(identity)
        let range = CollectionOfOne(100..<110)
        for _ in 0..<20 {
            #expect(FileRangeLock.exclusiveByteCount(100..<110, at: path) == nil)
            _ = try FileRangeLock.acquire(oneOf: range, mode: .shared, at: path)
            let alone = try #require(try FileRangeLock.acquire(oneOf: range, mode: .exclusive, at: path))
            #expect(FileRangeLock.exclusiveByteCount(100..<110, at: path) == 10)
            #expect(try FileRangeLock.acquire(oneOf: range, mode: .exclusive, at: path) == nil)
            #expect(StoreFile.read(prefix: 3, of: path) == Array("012".utf8))
            withExtendedLifetime(alone) {}
        }
        #expect(handleCount(path) <= 4)
        #expect(FileRangeLock.exclusiveByteCount(100..<110, at: path) == nil)
        HeldFiles.shared.leave(identity)
        #expect(handleCount(path) == 0)
    }

    private func handleCount(_ path: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path
        }
        .count
    }
}
