import RoostCore

#if LMDB
    import Foundation
    import RoostFiles
    import RoostKeyValue
    @testable import RoostLMDB
    import Testing

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    @Suite("Damaged and foreign LMDB files")
    struct LMDBDamageTests {
        let directory = Result { try LMDBDirectory() }

        /// Returns a file with branch pages, overflow pages and a free list.
        private func sample() throws -> Data {
            let directory = try directory.get()
            let storage = try directory.create()
            for round in 0..<4 {
                try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                    for index in 0..<300 { try writer.put("key \(index)", "value \(index) of \(round)") }
                    try writer.put("large", String(repeating: "large \(round) ", count: 2000), in: .meta)
                    for space in KeySpace.allCases { try writer.put("x", "y", in: space) }
                }
            }
            try storage.close()
            return try directory.bytes()
        }

        /// Returns all entries of the store, or the error.
        private func contents() throws -> Result<[String], StoreError> {
            do throws(StoreError) {
                let storage = try LMDBStorage.open(
                    path: directoryPath(), options: StoreOptions(isReadOnly: true, timeoutSeconds: 0))
                let reader = try storage.read()
                defer { reader.close() }
                var entries: [String] = []
                for space in KeySpace.allCases {
                    let cursor = try reader.cursor(in: space)
                    while try cursor.next() {
                        entries.append(
                            String(decoding: cursor.key, as: UTF8.self) + String(decoding: cursor.value, as: UTF8.self))
                    }
                }
                return .success(entries)
            } catch {
                return .failure(error)
            }
        }

        private func directoryPath() -> String { (try? directory.get().store) ?? "" }

        private static let expectedCodes: Set<StoreError.Code> = [.corrupted, .notAStore, .unsupportedVersion]

        @Test("an LMDB file truncated anywhere is read whole or refused")
        func survivesTruncation() throws {
            let good = try sample()
            let directory = try directory.get()
            let expected = try contents().get()
            #expect(expected.count == 307 + 1)
            var refused = 0
            for count in stride(from: 0, to: good.count, by: 509) {
                try directory.write(good.prefix(count))
                switch try contents() {
                case .success(let entries): #expect(entries == expected, "cut at \(count)")
                case .failure(let error):
                    refused += 1
                    #expect(Self.expectedCodes.contains(error.code), "cut at \(count): \(error)")
                }
            }
            // Some cuts may remove only free pages.
            #expect(refused > 100)
        }

        @Test(
            "an LMDB file with a changed byte is refused or keeps its entry count",
            arguments: [UInt8(0x01), 0x80, 0xFF])
        func survivesFlippedBytes(mask: UInt8) throws {
            let good = try sample()
            let directory = try directory.get()
            let expectedCount = try contents().get().count
            var generator = SystemRandomNumberGenerator()
            var refused = 0
            // All used bytes of the meta pages, then random later positions.
            let places =
                Array(0..<160) + Array(4096..<4096 + 160)
                + (0..<700).map { _ in Int.random(in: 8192..<good.count, using: &generator) }
            for place in places {
                var damaged = good
                damaged[place] ^= mask
                try directory.write(damaged)
                switch try contents() {
                case .success(let entries): #expect(entries.count == expectedCount, "flipped at \(place)")
                case .failure(let error):
                    refused += 1
                    #expect(Self.expectedCodes.contains(error.code), "flipped at \(place): \(error)")
                }
            }
            #expect(refused > 100)
        }

        @Test("an LMDB file with an overwritten page is read or refused without a crash")
        func survivesOverwrittenPages() throws {
            let good = try sample()
            let directory = try directory.get()
            let expectedCount = try contents().get().count
            let count = good.count / 4096
            for page in 0..<count {
                for kind in 0..<3 {
                    var damaged = good
                    let range = page * 4096..<(page + 1) * 4096
                    switch kind {
                    case 0: damaged.replaceSubrange(range, with: Data(count: 4096))
                    case 1:
                        damaged.replaceSubrange(range, with: Data((0..<4096).map { _ in UInt8.random(in: 0...255) }))
                    default:
                        let other = (page + 1) % count
                        damaged.replaceSubrange(range, with: good[other * 4096..<(other + 1) * 4096])
                    }
                    try directory.write(damaged)
                    switch try contents() {
                    // The page was free, or inside a value.
                    case .success(let entries): #expect(entries.count == expectedCount, "page \(page), \(kind)")
                    case .failure(let error):
                        #expect(Self.expectedCodes.contains(error.code), "page \(page), \(kind): \(error)")
                    }
                }
            }
        }

        @Test(
            "an LMDB leaf with misordered keys or overlapping nodes is refused",
            arguments: ["its keys are out of order", "its nodes overlap or leave a gap", "a value of 5000 bytes"])
        func refusesDamagedLeaf(reason: String) throws {
            let good = try sample()
            let directory = try directory.get()
            var refused = 0
            for page in 2..<good.count / 4096 {
                var damaged = good
                func word(_ offset: Int) -> Int {
                    Int(good[page * 4096 + offset]) | Int(good[page * 4096 + offset + 1]) << 8
                }
                func set(at offset: Int, to value: Int) {
                    damaged[page * 4096 + offset] = UInt8(value & 0xFF)
                    damaged[page * 4096 + offset + 1] = UInt8(value >> 8)
                }
                // A leaf with at least four nodes; the offsets of the first two follow the header.
                guard word(0) == page, word(10) == 2, word(12) >= 24, word(18) < 4096 else { continue }
                switch reason {
                case "its keys are out of order":
                    set(at: 16, to: word(18))
                    set(at: 18, to: word(16))
                case "its nodes overlap or leave a gap": set(at: word(18), to: word(word(18)) + 2)
                default: set(at: word(18), to: 5000)
                }
                try directory.write(damaged)
                // If the file is still readable, the page was free.
                guard case .failure(let error) = try contents() else { continue }
                #expect(error.code == .corrupted)
                #expect(error.message.contains(reason), "page \(page): \(error)")
                refused += 1
            }
            #expect(refused > 3)
        }

        @Test("findings about an LMDB file damaged while open have severity damage")
        func reportsDamageOnly() throws {
            let good = try sample()
            let directory = try directory.get()
            let storage = try directory.open()
            #expect(try storage.integrityFindings().isEmpty)
            // Changes the page number of the first leaf in the file.
            let handle = try #require(FileHandle(forUpdatingAtPath: directory.store))
            var page = 2
            while page < good.count / 4096, good[page * 4096 + 10] != 2 { page += 1 }
            try handle.seek(toOffset: UInt64(page * 4096))
            try handle.write(contentsOf: Data([0x77]))
            try handle.close()
            let findings = try storage.integrityFindings()
            // Without a finding, the leaf was free.
            for finding in findings { #expect(finding.severity == .damage) }
            try storage.close()
        }

        @Test("a foreign, empty or incompatible file is refused as an LMDB store and is not changed")
        func refusesForeignFile() throws {
            let directory = try directory.get()
            var newer = try sample()
            newer[20] = 2
            var swapped = newer
            swapped.replaceSubrange(16..<20, with: [0xBE, 0xEF, 0xC0, 0xDE])
            var narrow = Data(count: 8192)
            narrow.replaceSubrange(12..<16, with: [0xDE, 0xC0, 0xEF, 0xBE])
            let cases: [(Data, StoreError.Code)] = [
                (Data(), .notAStore), (Data("SQLite format 3\0".utf8), .notAStore), (Data(count: 100_000), .notAStore),
                (newer, .unsupportedVersion), (swapped, .unsupportedVersion), (narrow, .unsupportedVersion),
            ]
            for (bytes, expected) in cases {
                try directory.write(bytes)
                #expect(errorCode { _ = try directory.open() } == expected)
                #expect(try directory.bytes() == bytes)
                #expect(!LMDBStoreType().recognizes(fileAt: directory.store))
            }
        }

        @Test("a missing file, a pipe and a directory are refused as LMDB stores")
        func refusesOtherKinds() throws {
            let directory = try directory.get()
            #expect(errorCode { _ = try directory.open() } == .notFound)
            #expect(mkfifo(directory.store, 0o600) == 0)
            #expect(errorCode { _ = try directory.open() } == .notAStore)
            #expect(unlink(directory.store) == 0)
            #expect(mkdir(directory.store, 0o700) == 0)
            #expect(errorCode { _ = try directory.open() } == .notAStore)
            #expect(errorCode { _ = try directory.create() } == .alreadyExists)
            let missing = directory.file("no/store")
            #expect(errorCode { _ = try LMDBStorage.open(path: missing, options: StoreOptions()) } == .missingDirectory)
            #expect(
                errorCode { _ = try LMDBStorage.create(path: missing, options: StoreOptions()) } == .missingDirectory)
        }

        @Test("a symbolic link instead of LMDB's lock file is refused and not followed")
        func refusesPlantedLink() throws {
            let directory = try directory.get()
            try directory.create().close()
            try directory.write(Data("victim".utf8), as: "victim")
            #expect(symlink(directory.file("victim"), directory.file("store-lock")) == 0)
            #expect(errorCode { _ = try directory.open() } == .notAStore)
            #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file("victim"))) == Data("victim".utf8))
        }

        @Test("an LMDB file replaced, removed or truncated is noticed by the next transaction")
        func noticesReplacement() throws {
            let directory = try directory.get()
            let storage = try directory.create()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in try writer.put("a", "1") }
            #expect(rename(directory.store, directory.file("kept")) == 0)
            #expect(errorCode { _ = try storage.read() } == .storeReplaced)
            #expect(errorCode { try storage.write(timeoutSeconds: 0) { _ in } } == .storeReplaced)
            try directory.write(Data("another".utf8))
            #expect(errorCode { _ = try storage.read() } == .storeReplaced)
            #expect(rename(directory.file("kept"), directory.store) == 0)
            let reader = try storage.read()
            #expect(try reader.text("a") == "1")
            reader.close()
            #expect(truncate(directory.store, 8192) == 0)
            #expect(errorCode { _ = try storage.read() } == .corrupted)
            #expect(errorCode { try storage.write(timeoutSeconds: 0) { _ in } } == .corrupted)
        }

        @Test("an exclusive store lock and an open LMDB store exclude each other")
        func excludesOpenStore() throws {
            let directory = try directory.get()
            try directory.create().close()
            let lock = try StoreLock.acquire(forStoreAt: directory.store, mode: .exclusive, timeoutSeconds: 0)
            #expect(errorCode { _ = try directory.open() } == .busy)
            lock.release()
            let storage = try directory.open()
            #expect(
                errorCode {
                    _ = try StoreLock.acquire(forStoreAt: directory.store, mode: .exclusive, timeoutSeconds: 0)
                }
                    == .busy)
            try storage.close()
        }
    }
#endif
