import RoostCore
import RoostSystem

#if LMDB
    import Foundation
    import RoostFiles
    import RoostKeyValue
    @testable import RoostLMDB
    import Testing

    @Suite("LMDB storage")
    struct LMDBStorageTests {
        let directory = Result { try LMDBDirectory() }

        @Test("LMDB keys sort by bytes, separately in each key space")
        func sortsKeys() throws {
            let storage = try directory.get().create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                for key in ["b", "a", "ab", "ÿ", "B"] { try writer.put(key, "1") }
                try writer.put("other", "2", in: .links)
            }
            let reader = try storage.read()
            #expect(try reader.entries() == ["B=1", "a=1", "ab=1", "b=1", "ÿ=1"])
            #expect(try reader.entries(.links) == ["other=2"])
            #expect(try reader.entries(.meta).isEmpty)
            reader.close()
            try storage.close()
        }

        @Test("an LMDB cursor seeks to the next key, visits entries and stays at the end")
        func seeksAndVisits() throws {
            let storage = try directory.get().create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                for key in ["b", "d", "f"] { try writer.put(key, key + key) }
            }
            let reader = try storage.read()
            let cursor = try reader.cursor(in: .records)
            #expect(cursor.key.isEmpty && cursor.value.isEmpty)
            #expect(try cursor.seek("c") == "d")
            #expect(String(decoding: cursor.value, as: UTF8.self) == "dd")
            #expect(try cursor.next())
            #expect(try !cursor.next())
            #expect(try !cursor.next())
            #expect(cursor.key.isEmpty && cursor.value.isEmpty)
            #expect(try cursor.seek("g") == nil)
            #expect(try !cursor.next())
            #expect(try cursor.seek("") == "b")
            #expect(try cursor.seek(String(repeating: "a", count: 2000)) == "b")
            var seen: [String] = []
            func visit(_ most: Int) throws -> Bool {
                var left = most
                return try cursor.visit { (key, value) throws(StoreError) in
                    seen.append(String(decoding: key, as: UTF8.self) + "=" + String(decoding: value, as: UTF8.self))
                    left -= 1
                    return left > 0
                }
            }
            #expect(try visit(2) && seen == ["b=bb", "d=dd"])
            #expect(String(decoding: cursor.key, as: UTF8.self) == "d")
            #expect(
                errorCode {
                    _ = try cursor.visit { (_, _) throws(StoreError) in throw StoreError(.cancelled, "on purpose") }
                } == .cancelled)
            #expect(try cursor.next() && !visit(2) && seen == ["b=bb", "d=dd", "f=ff"])
            #expect(try cursor.key.isEmpty && !cursor.next() && !visit(1))
            reader.close()
            #expect(errorCode { _ = try cursor.next() } == .closed)
            #expect(errorCode { _ = try cursor.visit { (_, _) throws(StoreError) in true } } == .closed)
            #expect(errorCode { _ = try reader.cursor(in: .records) } == .closed)
            #expect(errorCode { _ = try reader.text("b") } == .closed)
        }

        @Test("an LMDB snapshot does not change during later commits, and does not block them")
        func isolatesSnapshots() throws {
            let storage = try directory.get().create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("key", "old") }
            let before = try storage.read()
            for round in 0..<50 {
                try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                    try writer.put("key", "new \(round)")
                    for index in 0..<20 { try writer.put("\(round) \(index)", String(repeating: "x", count: 500)) }
                }
            }
            #expect(try before.entries() == ["key=old"])
            let after = try storage.read()
            #expect(try after.text("key") == "new 49")
            #expect(try after.entries().count == 1001)
            _ = try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.delete("key") }
            #expect(try before.text("key") == "old")
            #expect(try after.text("key") == "new 49")
            before.close()
            after.close()
            #expect(try storage.integrityFindings().isEmpty)
        }

        @Test("an LMDB writer reads its own writes, which an error rolls back")
        func rollsBack() throws {
            let storage = try directory.get().create()
            let code = errorCode {
                try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                    try writer.put("a", "1")
                    let cursor = try writer.cursor(in: .records)
                    guard try cursor.next(), cursor.value.count == 1 else {
                        throw StoreError(.internalInconsistency, "not read")
                    }
                    throw StoreError(.cancelled, "on purpose")
                }
            }
            #expect(code == .cancelled)
            let reader = try storage.read()
            #expect(try reader.entries().isEmpty)
            reader.close()
            let result = try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                try writer.put("a", "2")
                return 42
            }
            #expect(result == 42)
        }

        @Test("an LMDB deletion reports whether the key existed")
        func reportsDeletion() throws {
            let storage = try directory.get().create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                try writer.put("a", "1")
                let results = (try writer.delete("a"), try writer.delete("a"), try writer.delete("b"))
                guard results == (true, false, false) else { throw StoreError(.internalInconsistency, "\(results)") }
            }
        }

        @Test("an LMDB cursor continues after its current key is deleted")
        func deletesUnderCursor() throws {
            let storage = try directory.get().create()
            let seen = try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                for index in 100..<600 { try writer.append("\(index)", String(repeating: "v", count: 60)) }
                let cursor = try writer.cursor(in: .records)
                var seen = 0
                while try cursor.next() {
                    let key = String(decoding: cursor.key, as: UTF8.self)
                    seen += 1
                    try writer.delete(key)
                }
                return seen
            }
            #expect(seen == 500)
            let reader = try storage.read()
            #expect(try reader.entries().isEmpty)
            reader.close()
            #expect(try storage.integrityFindings().isEmpty)
        }

        @Test("appending a descending key to an LMDB storage is refused")
        func refusesDescendingAppend() throws {
            let storage = try directory.get().create()
            let code = errorCode {
                try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                    try writer.append("b", "1")
                    try writer.append("c", "1")
                    try writer.append("a", "1")
                }
            }
            #expect(code == .invalidRequest)
            let reader = try storage.read()
            #expect(try reader.entries().isEmpty)
            reader.close()
        }

        @Test("LMDB keys have 1 to 511 bytes, and values can have megabytes")
        func limitsKeySizes() throws {
            let storage = try directory.get().create()
            let key = String(repeating: "k", count: storage.maximumKeyByteCount)
            let value = String(repeating: "v", count: 3_000_001)
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                try writer.put(key, value)
                try writer.put("empty", "")
            }
            let reader = try storage.read()
            #expect(try reader.text(key) == value)
            #expect(try reader.text("empty") == "")
            reader.close()
            for bad in [key + "k", ""] {
                #expect(
                    errorCode {
                        try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put(bad, "v") }
                    } == .limitExceeded)
            }
            // The shorter value keeps all pages of the longer value, which is not damage.
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                try writer.put(key, String(value.prefix(9000)))
            }
            #expect(try storage.integrityFindings().isEmpty)
        }

        @Test("an LMDB storage closed during a write keeps its file open until the commit")
        func closesDuringWrite() throws {
            let storage = try directory.get().create()
            let (started, closed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Thread {
                started.wait()
                try? storage.close()
                closed.signal()
            }.start()
            try storage.write(timeoutSeconds: 5) { (writer) throws(StoreError) in
                started.signal()
                closed.wait()
                for index in 100..<200 { try writer.put("\(index)", "value") }
            }
            #expect(errorCode { try storage.write(timeoutSeconds: 0) { _ in } } == .closed)
            let reader = try directory.get().open().read()
            #expect(try reader.entries().count == 100)
            reader.close()
        }

        @Test("a long LMDB write becomes visible at its commit, and leaves nothing if abandoned")
        func writesInParts() throws {
            let storage = try directory.get().create()
            let write = try storage.beginLongWrite(timeoutSeconds: 0)
            for part in 0..<10 {
                try write.perform { (writer) throws(StoreError) in
                    for index in 100..<200 { try writer.append("\(part)/\(index)", "v") }
                }
            }
            #expect(errorCode { try storage.write(timeoutSeconds: 0.01) { _ in } } == .busy)
            let before = try storage.read()
            try write.commit()
            #expect(try before.entries().isEmpty)
            before.close()
            write.abort()
            #expect(errorCode { try write.commit() } == .closed)
            let given = try storage.beginLongWrite(timeoutSeconds: 0)
            try given.perform { (writer) throws(StoreError) in try writer.put("x", "y") }
            given.abort()
            #expect(errorCode { try given.perform { _ in } } == .closed)
            do {
                let forgotten = try storage.beginLongWrite(timeoutSeconds: 0)
                try forgotten.perform { (writer) throws(StoreError) in try writer.put("x", "y") }
            }
            let failed = try storage.beginLongWrite(timeoutSeconds: 0)
            #expect(
                errorCode {
                    try failed.perform { (_: any KeyValueWriter) throws(StoreError) in
                        throw StoreError(.cancelled, "on purpose")
                    }
                } == .cancelled)
            #expect(errorCode { try failed.commit() } == .closed)
            failed.abort()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("z", "1") }
            let reader = try storage.read()
            #expect(try reader.entries().count == 1001)
            #expect(try reader.text("x") == nil)
            reader.close()
        }

        @Test("a small LMDB map grows during a write")
        func growsMap() throws {
            let storage = try directory.get().create(initialMap: 1 << 17)
            let runs = Mutex(0)
            try storage.write(timeoutSeconds: 5) { (writer) throws(StoreError) in
                runs.withLock { $0 += 1 }
                for index in 0..<2000 { try writer.put("\(index)", String(repeating: "v", count: 1000)) }
            }
            // The map was too small, so the transaction ran more than once.
            #expect(runs.withLock { $0 } > 1)
            let reader = try storage.read()
            #expect(try reader.entries().count == 2000)
            reader.close()
            #expect(try storage.byteCount() > 2_000_000)
            #expect(try storage.integrityFindings().isEmpty)
        }

        @Test("a write that must enlarge an LMDB map is busy until the last snapshot closes")
        func waitsForReadersToGrow() throws {
            let storage = try directory.get().create(initialMap: 1 << 17)
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("a", "1") }
            let reader = try storage.read()
            func fill() throws {
                try storage.write(timeoutSeconds: 0.01) { (writer) throws(StoreError) in
                    for index in 0..<1000 { try writer.put("\(index)", String(repeating: "v", count: 1000)) }
                }
            }
            #expect(errorCode(fill) == .busy)
            #expect(try reader.entries() == ["a=1"])
            reader.close()
            try fill()
            let after = try storage.read()
            #expect(try after.entries().count == 1001)
            after.close()
        }

        @Test("a long LMDB write gets a map that is large enough")
        func growsMapForLongWrite() throws {
            let storage = try directory.get().create(initialMap: 1 << 17)
            let write = try storage.beginLongWrite(timeoutSeconds: 0)
            for part in 10..<20 {
                try write.perform { (writer) throws(StoreError) in
                    for index in 100..<300 {
                        try writer.append("\(part)/\(index)", String(repeating: "v", count: 1000))
                    }
                }
            }
            try write.commit()
            let reader = try storage.read()
            #expect(try reader.entries().count == 2000)
            reader.close()
        }

        @Test("a write beyond the maximum LMDB map throws limitExceeded and loses nothing")
        func limitsMap() throws {
            let storage = try directory.get().create(initialMap: 1 << 17, maximumMap: 1 << 20)
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("a", "1") }
            #expect(
                errorCode {
                    try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                        for index in 0..<5000 { try writer.put("\(index)", String(repeating: "v", count: 1000)) }
                    }
                } == .limitExceeded)
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("b", "2") }
            let reader = try storage.read()
            #expect(try reader.entries() == ["a=1", "b=2"])
            reader.close()
        }

        @Test("two open LMDB storages in one process share a file until the last reader closes")
        func sharesFile() throws {
            let directory = try directory.get()
            let first = try directory.create()
            let second = try directory.open()
            try first.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("a", "1") }
            let reader = try second.read()
            #expect(try reader.text("a") == "1")
            try first.close()
            try first.close()
            #expect(errorCode { _ = try first.read() } == .closed)
            #expect(errorCode { try first.write(timeoutSeconds: 0) { _ in } } == .closed)
            try second.close()
            #expect(try reader.text("a") == "1")
            #expect(try directory.names == ["store", "store-lock", "store.lock"])
            reader.close()
            #expect(try directory.names == ["store", "store.lock"])
            let third = try directory.open()
            try third.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("b", "2") }
            try third.close()
        }

        @Test("a read-only LMDB storage changes no byte, alone or beside a writer")
        func changesNothingWhenReadOnly() throws {
            let directory = try directory.get()
            let storage = try directory.create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("a", "1") }
            let beside = try directory.open(isReadOnly: true)
            #expect(errorCode { try beside.write(timeoutSeconds: 0) { _ in } } == .readOnly)
            try beside.close()
            try storage.close()
            let bytes = try directory.bytes()
            let alone = try directory.open(isReadOnly: true)
            #expect(errorCode { try alone.write(timeoutSeconds: 0) { _ in } } == .readOnly)
            #expect(errorCode { _ = try alone.beginLongWrite(timeoutSeconds: 0) } == .readOnly)
            let reader = try alone.read()
            #expect(try reader.text("a") == "1")
            reader.close()
            #expect(try alone.integrityFindings().isEmpty)
            // A writer that comes later makes the shared environment writable.
            let writer = try directory.open()
            #expect(try directory.bytes() == bytes)
            try writer.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("b", "2") }
            let after = try alone.read()
            #expect(try after.text("b") == "2")
            after.close()
            try writer.close()
            try alone.close()
        }

        @Test("LMDB readers beside writers on many threads see only whole commits")
        func readsWholeCommits() async throws {
            let storage = try directory.get().create(timeout: 60)
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                for key in ["a", "b"] { try writer.put(key, "0") }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<25 {
                            try storage.write(timeoutSeconds: 60) { (writer) throws(StoreError) in
                                var value = 0
                                try "a".utf8Bytes { (key) throws(StoreError) in
                                    try writer.withValue(of: key, in: .records) { bytes in
                                        value = bytes.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
                                    }
                                }
                                for key in ["a", "b"] { try writer.put(key, "\(value + 1)") }
                            }
                        }
                    }
                    group.addTask {
                        for _ in 0..<100 {
                            let reader = try storage.read()
                            let (a, b) = (try reader.text("a"), try reader.text("b"))
                            #expect(a == b)
                            reader.close()
                        }
                    }
                }
                try await group.waitForAll()
            }
            let reader = try storage.read()
            #expect(try reader.text("b") == "100")
            reader.close()
        }

        @Test("opening more LMDB snapshots than maxReaders throws busy until an open one closes")
        func limitsReaders() throws {
            let directory = try directory.get()
            try directory.create().close()
            let storage = try LMDBStorage.open(
                path: directory.store, options: StoreOptions(timeoutSeconds: 0, typeOptions: ["maxReaders": "4"]))
            var readers: [any KeyValueReader] = []
            let code = errorCode { for _ in 0..<200 { readers.append(try storage.read()) } }
            #expect(code == .busy)
            #expect(readers.count >= 4)
            readers.removeLast().close()
            readers.append(try storage.read())
            for reader in readers { reader.close() }
        }

        @Test("an LMDB write that waits too long for another process's writer throws busy")
        func waitsForOtherWriter() throws {
            let storage = try directory.get().create()
            // Locks belong to open files, so this lock acts like that of another process.
            let other = try WriterLock(forStoreAt: directory.get().store)
            try other.lock(timeoutSeconds: 0)
            #expect(errorCode { try storage.write(timeoutSeconds: 0.01) { _ in } } == .busy)
            try other.unlock()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("a", "1") }
        }

        @Test(
            "opening a new LMDB file throws busy while the process has the file that it replaced open"
        )
        func busyAfterReplacement() throws {
            let directory = try directory.get()
            let storage = try directory.create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("a", "1") }
            let reader = try storage.read()
            try FileManager.default.copyItem(atPath: directory.store, toPath: directory.file("copy"))
            #expect(rename(directory.file("copy"), directory.store) == 0)
            #expect(errorCode { _ = try storage.read() } == .storeReplaced)
            #expect(errorCode { _ = try directory.open() } == .busy)
            #expect(try reader.entries() == ["a=1"])
            reader.close()
            try storage.close()
            #expect(try directory.open().read().entries() == ["a=1"])
        }

        @Test("a hard link instead of LMDB's lock file is refused and unchanged")
        func refusesPlantedHardLink() throws {
            let directory = try directory.get()
            try directory.create().close()
            let victim = Data("precious".utf8)
            try directory.write(victim, as: "victim")
            #expect(link(directory.file("victim"), directory.file("store-lock")) == 0)
            for isReadOnly in [true, false] {
                #expect(errorCode { _ = try directory.open(isReadOnly: isReadOnly) } == .notAStore)
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file("victim"))) == victim)
            #expect(unlink(directory.file("store-lock")) == 0)
            _ = try directory.open()
        }

        @Test("an unpublished LMDB storage is flushed by sync")
        func flushesUnpublished() throws {
            let directory = try directory.get()
            let storage = try directory.create(isUnpublished: true)
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("a", "1") }
            try storage.sync()
            try storage.close()
            #expect(errorCode { try storage.sync() } == .closed)
            let reader = try directory.open().read()
            #expect(try reader.text("a") == "1")
        }
    }
#endif
