import RoostCore

#if LMDB
    import Foundation
    import RoostFiles
    import RoostKeyValue
    @testable import RoostLMDB
    import Testing

    @Suite("Reader slots of LMDB stores")
    struct LMDBReaderSlotTests {
        let directory = Result { try LMDBDirectory() }

        @Test(
            "closed LMDB snapshots keep a small part of the reader slots",
            arguments: [
                ("2", 2, 0), ("100", 12, 12), ("100", 20, 0), ("1022", 32, 32), ("1022", 128, 3),
            ])
        func keepsFewSlots(maxReaders: String, openCount: Int, keptCount: Int) throws {
            let storage = try open(maxReaders: maxReaders)
            let readers = try (0..<openCount).map { _ in try storage.read() }
            #expect(try occupiedSlotCount() == openCount)
            for reader in readers { reader.close() }
            #expect(try occupiedSlotCount() == keptCount)
            let reader = try storage.read()
            #expect(try occupiedSlotCount() == max(1, keptCount))
            reader.close()
            try storage.close()
        }

        @Test("opening an LMDB store waits for a reader slot until the timeout")
        func waitsForSlot() throws {
            let storage = try open(maxReaders: "2")
            let readers = [try storage.read(), try storage.read()]
            // This lock makes LMDB assume that another process has the store open. So LMDB keeps the reader slots, and
            // the next opener acts like another process.
            let lockPath = try directory.get().file("store-lock")
            let other = try #require(try FileRangeLock.acquire(oneOf: [0..<1], mode: .shared, at: lockPath))
            defer { withExtendedLifetime(other) {} }
            let start = ContinuousClock.now
            #expect(errorCode { _ = try environment(timeoutSeconds: 0.1) } == .busy)
            #expect(ContinuousClock.now - start >= .seconds(0.1))
            for reader in readers { reader.close() }
            try environment(timeoutSeconds: 0).close()
            try storage.close()
        }

        @Test("a later opener of an LMDB store uses the reader slots of the first opener", arguments: ["2", "100"])
        func keepsNumberOfSlots(maxReaders: String) throws {
            let storage = try open(maxReaders: maxReaders)
            let lockPath = try directory.get().file("store-lock")
            let byteCount = try StoreFile.byteCount(at: lockPath)
            // As above, the next opener acts like another process.
            let other = try #require(try FileRangeLock.acquire(oneOf: [0..<1], mode: .shared, at: lockPath))
            defer { withExtendedLifetime(other) {} }
            let later = try environment(maxReaders: "1000", timeoutSeconds: 0)
            #expect(try StoreFile.byteCount(at: lockPath) == byteCount)
            #expect(later.gate.withLock { $0.readerCount } == Int(maxReaders))
            later.close()
            try storage.close()
        }

        @Test("the first Roost process that opens an LMDB store uses the reader slots of another program")
        func keepsSlotsOfOtherProgram() throws {
            let storage = try open(maxReaders: "6")
            let directory = try directory.get()
            let lockPath = directory.file("store-lock")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: lockPath))
            try storage.close()
            // The lock file of a program that opened the store without Roost.
            try directory.write(bytes, as: "store-lock")
            let other = try #require(try FileRangeLock.acquire(oneOf: [0..<1], mode: .shared, at: lockPath))
            defer { withExtendedLifetime(other) {} }
            let opened = try environment(maxReaders: "1000", timeoutSeconds: 0)
            #expect(try StoreFile.byteCount(at: lockPath) == bytes.count)
            #expect(opened.gate.withLock { $0.readerCount } == 6)
            opened.close()
        }

        /// Opens a new store through the process's registry.
        private func open(maxReaders: String) throws -> LMDBStorage {
            let directory = try directory.get()
            try directory.create().close()
            return try LMDBStorage.open(path: directory.store, options: options(maxReaders: maxReaders))
        }

        /// Opens the store once more, although the process has it open.
        private func environment(maxReaders: String = "2", timeoutSeconds: Double) throws -> LMDBEnvironment {
            var settings = try LMDBSettings(options(maxReaders: maxReaders))
            settings.timeoutSeconds = timeoutSeconds
            return try LMDBEnvironment(path: directory.get().store, settings: settings, isNew: false)
        }

        private func options(maxReaders: String) -> StoreOptions {
            StoreOptions(isReadOnly: true, timeoutSeconds: 0, typeOptions: ["maxReaders": maxReaders])
        }

        /// Returns the number of slots in LMDB's lock file that belong to a process.
        private func occupiedSlotCount() throws -> Int {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.get().file("store-lock")))
            // The slots follow two cache lines. Each slot has 64 bytes, with a process ID at 8.
            return stride(from: 128, to: bytes.count, by: 64).count(where: { start in
                bytes[start + 8..<start + 12].contains { $0 != 0 }
            })
        }
    }
#endif
