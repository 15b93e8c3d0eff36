import RoostCore

#if LMDB
    import Foundation
    import RoostFiles
    @testable import RoostKeyValue
    @testable import RoostLMDB
    import Testing

    #if canImport(Glibc)
        import Glibc

        // No Swift module declares this function of Linux.
        @_silgen_name("setfsuid") private func setfsuid(_ user: UInt32) -> Int32
    #elseif canImport(Darwin)
        import Darwin
    #endif

    @Suite("LMDB stores")
    struct LMDBStoreTypeTests {
        let directory = Result { try LMDBDirectory() }
        let type = LMDBStoreType()

        private func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Note", attributes: [AttributeDescription("text", type: .string)], uniquenessConstraints: [["text"]]
                )
            ])
        }

        private func location(_ name: String = "store") throws -> StoreLocation {
            StoreLocation(type: "lmdb", path: try directory.get().file(name))
        }

        private func options(_ model: ManagedObjectModel? = nil, isReadOnly: Bool = false) -> StoreOptions {
            StoreOptions(isReadOnly: isReadOnly, model: model, timeoutSeconds: 0)
        }

        private func insert(_ key: Int64, text: String, into store: any PersistentStore) throws {
            var changes = ChangeSet(model: store.model)
            try changes.insert(ObjectID("Note", key: key), values: ["text": .string(text)])
            _ = try store.commit(changes)
        }

        private func count(_ store: any PersistentStore) throws -> Int {
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            return try snapshot.count(FetchRequest("Note"))
        }

        @Test("a created LMDB store keeps its commits and, when closed, has only its file and a lock file")
        func createsAndReopens() throws {
            let (directory, location) = (try directory.get(), try location())
            let store = try type.create(location, model: try model(), options: options())
            #expect(type.recognizes(fileAt: location.path))
            try insert(1, text: "one", into: store)
            let uuid = try store.metadata().storeUUID
            try store.close()
            #expect(try directory.names == ["store", "store.lock"])
            #expect(try FileManager.default.attributesOfItem(atPath: location.path)[.posixPermissions] as? Int == 0o600)
            let again = try type.open(location, options: options(try model()))
            #expect(try count(again) == 1)
            #expect(errorCode { try insert(2, text: "one", into: again) } == .constraintViolation)
            try insert(2, text: "two", into: again)
            #expect(try again.integrityFindings().isEmpty)
            #expect(try again.byteCount() > 0)
            try again.close()
            #expect(errorCode { _ = try again.snapshot() } == .closed)
            let metadata = try type.metadata(at: location, options: options())
            #expect(metadata.storeUUID == uuid)
            #expect(try model().isCompatible(with: metadata))
            #expect(try directory.names == ["store", "store.lock"])
        }

        @Test("an LMDB store is not created over a file, in a missing directory or with read-only options")
        func refusesToCreate() throws {
            let (directory, location) = (try directory.get(), try location())
            try directory.write(Data("mine".utf8))
            #expect(
                errorCode { _ = try type.create(location, model: try model(), options: options()) } == .alreadyExists)
            #expect(try directory.bytes() == Data("mine".utf8))
            let missing = StoreLocation(type: "lmdb", path: directory.file("no/store"))
            #expect(
                errorCode { _ = try type.create(missing, model: try model(), options: options()) } == .missingDirectory)
            #expect(
                errorCode {
                    _ = try type.create(
                        try self.location("new"), model: try model(), options: options(isReadOnly: true))
                } == .readOnly)
            #expect(try directory.names == ["store"])
        }

        @Test("an LMDB store of another model is refused")
        func refusesOtherModel() throws {
            let location = try location()
            try type.create(location, model: try model(), options: options()).close()
            let other = try ManagedObjectModel(entities: [EntityDescription("Other")])
            #expect(errorCode { _ = try type.open(location, options: options(other)) } == .modelMismatch)
            // The failed opening released everything.
            try type.destroy(location)
        }

        @Test(
            "an LMDB store of another format version is refused and unchanged",
            arguments: [1, 4])
        func refusesOtherFormat(version: Int) throws {
            let type = LMDBStoreType()
            try type.create(location(), model: try model(), options: options()).close()
            let storage = try directory.get().open()
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                // The format version, with a key limit of 511 bytes, and an unreadable model.
                try MetaSpace.write(
                    (UInt64(version) | UInt64(511) << 32).littleEndianBytes, key: MetaSpace.format, writer: writer)
                try MetaSpace.write([0xFF], key: MetaSpace.model, writer: writer)
            }
            try storage.close()
            let before = try directory.get().bytes()
            for isReadOnly in [true, false] {
                let found = #expect(throws: StoreError.self) {
                    try type.open(location(), options: options(isReadOnly: isReadOnly)).close()
                }
                #expect(found?.code == .unsupportedVersion)
                #expect(found?.message.contains("version \(version);") == true)
            }
            #expect(errorCode { _ = try type.metadata(at: location(), options: options()) } == .unsupportedVersion)
            #expect(try directory.get().bytes() == before)
        }

        @Test("destroying an LMDB store removes its files, unless it is open or foreign")
        func destroysStore() throws {
            let (directory, location) = (try directory.get(), try location())
            let store = try type.create(location, model: try model(), options: options())
            #expect(errorCode { try type.destroy(location) } == .busy)
            let snapshot = try store.snapshot()
            try store.close()
            #expect(errorCode { try type.destroy(location) } == .busy)
            snapshot.close()
            try type.destroy(location)
            #expect(try directory.names.isEmpty)
            try type.destroy(location)
            try directory.write(Data("mine".utf8))
            #expect(errorCode { try type.destroy(location) } == .notAStore)
            #expect(try directory.names == ["store"])
        }

        @Test("replacing an LMDB store moves a closed store to its location")
        func replacesStore() throws {
            let (directory, location, new) = (try directory.get(), try location(), try location("new"))
            let old = try type.create(location, model: try model(), options: options())
            try insert(1, text: "old", into: old)
            var unpublished = options()
            unpublished.isUnpublished = true
            let store = try type.create(new, model: try model(), options: unpublished)
            try insert(1, text: "a", into: store)
            try insert(2, text: "b", into: store)
            #expect(errorCode { try type.replace(location, with: new, overwriting: true) } == .busy)
            try store.close()
            #expect(errorCode { try type.replace(location, with: new, overwriting: true) } == .busy)
            try old.close()
            #expect(errorCode { try type.replace(location, with: new, overwriting: false) } == .alreadyExists)
            try type.replace(location, with: new, overwriting: true)
            #expect(try directory.names == ["store", "store.lock"])
            let replaced = try type.open(location, options: options())
            #expect(try count(replaced) == 2)
            try replaced.close()
            try type.replace(new, with: location, overwriting: false)
            #expect(try directory.names.contains("new"))
            try directory.write(Data("mine".utf8), as: "other")
            #expect(
                errorCode { try type.replace(try self.location("other"), with: new, overwriting: true) } == .notAStore)
            #expect(
                errorCode { try type.replace(new, with: try self.location("other"), overwriting: true) } == .notAStore)
            #expect(errorCode { try type.replace(new, with: location, overwriting: true) } == .notFound)
        }

        @Test("an open LMDB store throws storeReplaced after its file was replaced")
        func noticesReplacement() throws {
            let (directory, location, new) = (try directory.get(), try location(), try location("new"))
            let store = try type.create(location, model: try model(), options: options())
            try type.create(new, model: try model(), options: options()).close()
            #expect(rename(directory.file("new"), directory.file("store")) == 0)
            #expect(errorCode { try insert(1, text: "lost", into: store) } == .storeReplaced)
            #expect(errorCode { _ = try store.snapshot() } == .storeReplaced)
            try store.close()
        }

        @Test("opening a new LMDB file waits until the file that it replaced is closed")
        func waitsForReplacedFile() throws {
            let (location, new) = (try location(), try self.location("new"))
            let old = try type.create(location, model: try model(), options: options())
            let created = try type.create(new, model: try model(), options: options())
            try insert(1, text: "new", into: created)
            try created.close()
            #expect(rename(new.path, location.path) == 0)

            #expect(errorCode { _ = try type.open(location, options: options()) } == .busy)
            let (lmdb, waiting) = (type, StoreOptions(timeoutSeconds: 600))
            let result = Mutex<Result<Int, any Error>?>(nil)
            let isDone = DispatchSemaphore(value: 0)
            Thread {
                let found = Result {
                    let store = try lmdb.open(location, options: waiting)
                    defer { try? store.close() }
                    let snapshot = try store.snapshot()
                    defer { snapshot.close() }
                    return try snapshot.count(FetchRequest("Note"))
                }
                result.withLock { $0 = found }
                isDone.signal()
            }.start()
            try old.close()
            isDone.wait()
            #expect(try result.withLock { $0 }?.get() == 1)
        }

        @Test("a bulk load into an unpublished LMDB store is complete and sound")
        func loadsUnpublishedStore() throws {
            let location = try location()
            var unpublished = options()
            unpublished.isUnpublished = true
            let store = try type.create(location, model: try model(), options: unpublished)
            let loader = try store.bulkLoader(BulkLoadOptions())
            for part in 0..<20 {
                var batch = RecordBatch(model: store.model)
                for key in 1...500 {
                    let number = part * 500 + key
                    try batch.append(
                        ObjectID("Note", key: Int64(number)), version: 1, values: ["text": .string("note \(number)")])
                }
                try loader.append(batch)
            }
            _ = try loader.finish()
            #expect(try count(store) == 10_000)
            #expect(try store.integrityFindings().isEmpty)
            try store.close()
            let again = try type.open(location, options: options())
            #expect(try count(again) == 10_000)
            try again.close()
        }

        @Test("opening an LMDB store removes temporary files of a crashed creation")
        func sweepsTemporaryFiles() throws {
            let (directory, location) = (try directory.get(), try location())
            try type.create(location, model: try model(), options: options()).close()
            let abandoned = StoreFile.temporarySibling(of: location.path)
            try directory.write(Data("half".utf8), as: StoreFile.name(of: abandoned))
            try directory.write(Data("half".utf8), as: StoreFile.name(of: abandoned) + "-lock")
            try type.open(location, options: options()).close()
            #expect(try directory.names == ["store", "store.lock"])
        }

        @Test(
            "an unknown or invalid option of an LMDB store is refused with a hint",
            arguments: [
                (["mapsize": "1"], "mapSize"), (["mapSize": "many"], "1048576"), (["maxReaders": "0"], "2"),
                (["synchronous": "off"], "maxReaders"),
            ])
        func refusesInvalidOption(options: [String: String], hint: String) throws {
            let location = try location()
            do {
                _ = try type.create(
                    location, model: try model(), options: StoreOptions(timeoutSeconds: 0, typeOptions: options))
                Issue.record("the option was accepted")
            } catch let error as StoreError {
                #expect(error.code == .invalidRequest)
                #expect(error.message.contains(hint))
            }
            #expect(try directory.get().names.isEmpty)
        }

        #if canImport(Glibc)
            @Test("an LMDB store in a read-only directory is read without locks", .enabled(if: geteuid() == 0))
            func readsInReadOnlyDirectory() throws {
                let (directory, location) = (try directory.get(), try location())
                let store = try type.create(location, model: try model(), options: options())
                try insert(1, text: "one", into: store)
                try store.close()
                #expect(unlink(directory.file("store.lock")) == 0)
                #expect(chmod(directory.store, 0o644) == 0)
                let bytes = try directory.bytes()
                // `setfsuid` changes the file access of this thread only, and no other thread opens these files.
                let user = setfsuid(65534)
                defer { _ = setfsuid(UInt32(bitPattern: user)) }
                #expect(errorCode { _ = try type.open(location, options: options()) } == .permissionDenied)
                let reading = try type.open(location, options: options(isReadOnly: true))
                #expect(try count(reading) == 1)
                #expect(errorCode { try insert(2, text: "two", into: reading) } == .readOnly)
                #expect(try directory.names == ["store"])
                #expect(try directory.bytes() == bytes)
                // A user with write access changes the file.
                _ = setfsuid(UInt32(bitPattern: user))
                let handle = try #require(FileHandle(forUpdatingAtPath: directory.store))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data(count: 4096))
                try handle.close()
                #expect(errorCode { _ = try reading.snapshot() } == .storeReplaced)
                try reading.close()
            }

            @Test("an LMDB lock file of another user does not prevent reading", .enabled(if: geteuid() == 0))
            func readsBesideForeignLockFile() throws {
                let (directory, location) = (try directory.get(), try location())
                let store = try type.create(location, model: try model(), options: options())
                try insert(1, text: "one", into: store)
                try store.close()
                #expect(chmod(directory.store, 0o644) == 0)
                try directory.write(Data(), as: "store-lock")
                for name in ["store-lock", "store.lock"] { #expect(chmod(directory.file(name), 0o600) == 0) }
                let user = setfsuid(65534)
                defer { _ = setfsuid(UInt32(bitPattern: user)) }
                let reading = try type.open(location, options: options(isReadOnly: true))
                #expect(try count(reading) == 1)
                try reading.close()
                #expect(errorCode { _ = try type.open(location, options: options()) } == .permissionDenied)
            }
        #endif

        @Test("an open LMDB store throws storeReplaced after its lock file was removed")
        func noticesRemovedLockFile() throws {
            let (directory, location) = (try directory.get(), try location())
            let store = try type.create(location, model: try model(), options: options())
            try insert(1, text: "one", into: store)
            try StoreFile.remove(directory.file("store-lock"))
            #expect(errorCode { _ = try store.snapshot() } == .storeReplaced)
            #expect(errorCode { try insert(2, text: "two", into: store) } == .storeReplaced)
            try store.close()
            let again = try type.open(location, options: options())
            #expect(try count(again) == 1)
            try again.close()
        }
    }
#endif
