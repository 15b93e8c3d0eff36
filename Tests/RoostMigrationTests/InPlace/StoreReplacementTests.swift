import Foundation
import Roost
import RoostFiles
import Testing

@testable import RoostMigration

@Suite("Locks of replaced stores")
struct StoreReplacementTests {
    private let type: any PersistentStoreType

    init() throws { type = try StoreRegistry.standard.type(named: "sqlite") }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// If two processes close a store at the same time, each sees the other, so the log remains.
    @Test(
        "locking a store for replacement repeats the removal of the log if a log appears meanwhile",
        arguments: ["-wal", "-shm", "-journal"])
    func settledAgain(suffix: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        try Data().write(to: URL(fileURLWithPath: path))
        var count = 0
        let lock = try StoreReplacement.lock(path, type: type, timeout: Timeout(seconds: 0)) {
            () throws(StoreError) in
            count += 1
            if count == 1 {
                _ = FileManager.default.createFile(atPath: path + suffix, contents: nil)
            } else {
                try StoreFile.remove(path + suffix)
            }
        }
        defer { lock.release() }
        #expect(count == 2 && !exists(path + suffix))
        #expect(throws: StoreError.self) { try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0) }
    }

    @Test("locking a store for replacement succeeds after five attempts to remove a log that remains")
    func foreign() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        for name in [path, path + "-wal"] { try Data().write(to: URL(fileURLWithPath: name)) }
        var count = 0
        let lock = try StoreReplacement.lock(path, type: type, timeout: Timeout(seconds: 0)) { count += 1 }
        lock.release()
        #expect(count == 5 && exists(path + "-wal"))
    }
}
