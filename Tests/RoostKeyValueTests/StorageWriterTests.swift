import RoostCore
import RoostKeyValue
import RoostMemory
import Testing

#if LMDB
    import RoostLMDB

    @Suite("Writes to key-value storages")
    struct StorageWriterTests {
        private let directory = Result { try LMDBDirectory() }

        /// Returns an error for a wrong result; throwing it ends the transaction and the test.
        private static func differs(_ what: String) -> StoreError { StoreError(.internalInconsistency, what) }

        /// Puts, inserts, appends, deletes and reads in random order, and compares with a
        /// dictionary.
        private static func change(
            _ space: KeySpace, of storage: any OrderedKeyValueStorage, seed: UInt64
        ) throws {
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                var generator = SeededGenerator(seed)
                var expected: [String: String] = [:]
                // With 40 keys, keys repeat often; with 100 000, the tree is deep. Long values
                // split pages early.
                let keys = [40, 4000, 100_000][Int(seed % 3)]
                let longest = seed % 2 == 0 ? 300 : 8
                var appended = 1_000_000
                for step in 0..<6000 {
                    let key = "\(100_000 + Int.random(in: 0..<keys, using: &generator))"
                    let value = String(repeating: "v", count: Int.random(in: 0...longest, using: &generator))
                    switch Int.random(in: 0..<12, using: &generator) {
                    case 0..<3:
                        try writer.put(key, value, in: space)
                        expected[key] = value
                    case 3..<6:
                        guard try writer.insert(key, value, into: space) == (expected[key] == nil) else {
                            throw differs("step \(step): insert of \(key)")
                        }
                        expected[key] = expected[key] ?? value
                    case 6..<8 where step > 2000:
                        guard try writer.delete(key, from: space) == (expected.removeValue(forKey: key) != nil) else {
                            throw differs("step \(step): delete of \(key)")
                        }
                    case 8 where step < 4000:
                        // These keys sort after all others.
                        appended += 1
                        try writer.append("x\(appended)", value, in: space)
                        expected["x\(appended)"] = value
                    default:
                        guard try writer.string(key, in: space) == expected[key] else {
                            throw differs("step \(step): read of \(key)")
                        }
                    }
                }
                let cursor = try writer.cursor(in: space)
                for (key, value) in expected.sorted(by: { $0.key < $1.key }) {
                    guard try cursor.next(), String(decoding: cursor.key, as: UTF8.self) == key,
                        String(decoding: cursor.value, as: UTF8.self) == value
                    else { throw differs("\(key) is not where it belongs") }
                }
                guard try !cursor.next() else { throw differs("there is more than was put") }
            }
        }

        @Test(
            "random writes to LMDB and memory storages agree with a dictionary", arguments: 1...6 as ClosedRange<UInt64>
        )
        func agreesWithDictionary(seed: UInt64) throws {
            let (file, memory) = (try directory.get().create(), MemoryStorage())
            for storage in [file, memory] as [any OrderedKeyValueStorage] {
                try Self.change(.references, of: storage, seed: seed)
                try Self.change(.records, of: storage, seed: seed)
                #expect(try storage.integrityFindings().isEmpty)
            }
        }

        @Test("keys deleted in an LMDB transaction can be written again in the same transaction")
        func writesDeletedKeysAgain() throws {
            let storage = try directory.get().create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                for round in 0..<3 {
                    for index in 100..<400 { try writer.put("\(index)", "round \(round)") }
                    for index in (100..<400).reversed() { try writer.delete("\(index)") }
                    for index in 100..<400 { try writer.append("\(index)", "round \(round)") }
                    for index in 100..<400 { try writer.delete("\(index)") }
                }
                try writer.put("a", "1")
            }
            let reader = try storage.read()
            #expect(try reader.entries() == ["a=1"])
            reader.close()
            #expect(try storage.integrityFindings().isEmpty)
        }

        /// Appends 20 000 keys of six digits, in steps of 10, in a long write of ten parts.
        private static func load(_ space: KeySpace, of storage: LMDBStorage) throws {
            let write = try storage.beginLongWrite(timeoutSeconds: 0)
            for part in 0..<10 {
                try write.perform { (writer) throws(StoreError) in
                    for index in 0..<2000 {
                        try writer.append("\(100_000 + 10 * (2000 * part + index))", "", in: space)
                    }
                }
            }
            try write.commit()
        }

        @Test("a sorted LMDB load leaves room in the pages of indexes only")
        func leavesRoomInIndexes() throws {
            let directory = try directory.get()
            let storage = try directory.create()
            var growth: [KeySpace: Int] = [:]
            for space in [KeySpace.records, .references] {
                try Self.load(space, of: storage)
                let reader = try storage.read()
                #expect(try reader.entries(space) == (0..<20_000).map { "\(100_000 + 10 * $0)=" })
                reader.close()
                let before = try storage.byteCount()
                try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                    for index in 0..<200 { try writer.put("\(100_005 + 1000 * index)", "", in: space) }
                }
                growth[space] = try storage.byteCount() - before
            }
            #expect(try storage.integrityFindings().isEmpty)
            let (full, roomy) = (try #require(growth[.records]), try #require(growth[.references]))
            #expect(roomy * 3 < full * 2, "\(roomy) and \(full)")
        }

        @Test("new records with ascending keys fill LMDB pages over several commits")
        func fillsPages() throws {
            let directory = try directory.get()
            let storage = try directory.create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("000000", "") }
            let before = try storage.byteCount()
            for part in 0..<4 {
                try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                    // An update comes first, as in a commit.
                    try writer.put("000000", "\(part)")
                    for index in 0..<5000 {
                        let key = "\(100_000 + 5000 * part + index)"
                        if index % 2 == 0 {
                            try writer.put(key, "")
                        } else {
                            guard try writer.insert(key, "", into: .records) else {
                                throw Self.differs("insert of \(key)")
                            }
                        }
                    }
                }
            }
            // Each entry needs 16 bytes: a header of 8, an offset of 2 and a key of 6. Up to 8 more may be unused.
            #expect(try storage.byteCount() - before < 20_000 * 16 * 3 / 2)
            #expect(try storage.integrityFindings().isEmpty)
        }

        @Test("placeholders of a sorted LMDB load are invisible to its transaction")
        func hidesPlaceholders() throws {
            let storage = try directory.get().create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                for index in 0..<5000 {
                    let key = "\(10_000 + index)"
                    // The second key has the position of a placeholder.
                    try writer.append(key, "v", in: .unique)
                    try writer.append(key + "\0", "v", in: .unique)
                    guard index % 100 == 99 else { continue }
                    let cursor = try writer.cursor(in: .unique)
                    var count = 0
                    while try cursor.next() { count += 1 }
                    guard count == 2 * (index + 1) else { throw Self.differs("\(count) keys after \(key)") }
                }
            }
            #expect(try storage.integrityFindings().isEmpty)
        }
    }

    extension KeyValueReader {
        fileprivate func string(_ key: String, in space: KeySpace) throws(StoreError) -> String? {
            var found: String?
            try key.utf8Bytes { (key) throws(StoreError) in
                try withValue(of: key, in: space) { (value) throws(StoreError) in
                    found = value.map { String(decoding: $0, as: UTF8.self) }
                }
            }
            return found
        }
    }

    extension KeyValueWriter {
        fileprivate func insert(_ key: String, _ value: String, into space: KeySpace) throws(StoreError) -> Bool {
            var isNew = false
            try key.utf8Bytes { (key) throws(StoreError) in
                try value.utf8Bytes { (value) throws(StoreError) in isNew = try insert(key, value, in: space) }
            }
            return isNew
        }
    }
#endif
