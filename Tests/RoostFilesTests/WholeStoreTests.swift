import Foundation
import RoostCore
import RoostFiles
import Testing

@Suite("Stores of one file")
struct WholeStoreTests {
    let directory = Result { try TemporaryDirectory() }

    /// A type whose stores are files that begin with `store`.
    private struct PlainType: FileStoreType {
        let name = "plain"
        let capabilities = StoreCapabilities(.writing, .persistence, .file)
        var companionSuffixes: [String] = []

        func recognizes(fileAt path: String) -> Bool { StoreFile.read(prefix: 5, of: path) == Array("store".utf8) }
        func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
            throw StoreError(.unsupported, "The test opens no store.")
        }
        func createUnpublished(
            _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
        ) throws(StoreError) -> any PersistentStore {
            try StoreFile.createExclusive(at: location.path)
            throw StoreError(.noSpace, "The test has no space for '\(location.path)'.")
        }
    }

    private func location(_ path: String) -> StoreLocation { StoreLocation(type: "plain", path: path) }
    private func remove(_ path: String, companions: [String] = []) throws(StoreError) {
        try PlainType(companionSuffixes: companions).destroy(location(path))
    }
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("writing a store replaces it whole and leaves no other file")
    func writesWhole() throws {
        let directory = try directory.get()
        let path = directory.file("a")
        try StoreFile.write(bytes("store 1"), as: path, overwriting: false)
        #expect(code { try StoreFile.write(bytes("store 2"), as: path, overwriting: false) } == .alreadyExists)
        #expect(try StoreFile.contents(of: path) == bytes("store 1"))
        try StoreFile.write(bytes("store 3"), as: path, overwriting: true)
        #expect(try directory.content("a") == "store 3")
        try StoreFile.write([], as: path, overwriting: true)
        #expect(try StoreFile.contents(of: path) == [])
        #expect(try directory.names == ["a"])
    }

    @Test("a store is written, read and removed through a symbolic link")
    func followsSymbolicLink() throws {
        let directory = try directory.get()
        _ = try directory.write("a", content: "store")
        try FileManager.default.createSymbolicLink(atPath: directory.file("link"), withDestinationPath: "a")
        try StoreFile.write(bytes("store 2"), as: directory.file("link"), overwriting: true)
        #expect(try directory.content("a") == "store 2")
        #expect(try StoreFile.contents(of: directory.file("link")) == bytes("store 2"))
        try remove(directory.file("link"))
        #expect(try directory.names == [])
    }

    @Test("a store in a missing directory cannot be written, and a directory cannot be read")
    func refusesMissingDirectory() throws {
        let directory = try directory.get()
        #expect(code { try StoreFile.write([], as: directory.file("no/a"), overwriting: true) } == .missingDirectory)
        #expect(code { _ = try StoreFile.contents(of: directory.file("a")) } == .notFound)
        #expect(code { _ = try StoreFile.contents(of: directory.path) } == .notAStore)
        #expect(try directory.names == [])
    }

    @Test("destroying removes a store with its companions, but refuses an open store or a file of another format")
    func destroysWithCompanions() throws {
        let directory = try directory.get()
        let (store, letter) = (try directory.write("a", content: "store"), try directory.write("b", content: "letter"))
        #expect(code { try remove(letter) } == .notAStore)
        let lock = try StoreLock.acquire(forStoreAt: store, mode: .shared, timeoutSeconds: 0)
        #expect(code { try remove(store) } == .busy)
        lock.release()
        try remove(store)
        try remove(store)
        // No lock file is created beside the file of another format.
        #expect(try directory.names == ["b"])
        #expect(try directory.content("b") == "letter")
        let (journaled, journal) = (try directory.write("c", content: "store"), try directory.write("c-journal"))
        try remove(journaled, companions: ["-journal", "-other"])
        #expect(try directory.names == ["b"], "\(journal)")
    }

    @Test("replacing renames a store, unless the source is missing or either file is open or has another format")
    func replacesStore() throws {
        let directory = try directory.get()
        let (a, b, letter) = (
            try directory.write("a", content: "store a"), try directory.write("b", content: "store b"),
            try directory.write("c", content: "letter")
        )
        func move(_ source: String, to target: String, overwriting: Bool = true) -> StoreError.Code? {
            code { try PlainType().replace(location(target), with: location(source), overwriting: overwriting) }
        }
        #expect(move(directory.file("none"), to: b) == .notFound)
        #expect(move(a, to: letter) == .notAStore)
        #expect(move(letter, to: b) == .notAStore)
        #expect(move(a, to: b, overwriting: false) == .alreadyExists)
        #expect(try directory.names == ["a", "b", "c"])
        for path in [a, b] {
            let lock = try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: 0)
            #expect(move(a, to: b) == .busy)
            lock.release()
        }
        #expect(try directory.content("a") == "store a" && directory.content("b") == "store b")
        #expect(move(a, to: b) == nil)
        #expect(try directory.content("b") == "store a")
        #expect(move(b, to: directory.file("d"), overwriting: false) == nil)
        #expect(try directory.content("d") == "store a" && !directory.names.contains("b"))
    }

    @Test("a failed creation leaves no file and never replaces one")
    func leavesNothingAfterFailure() throws {
        let directory = try directory.get()
        let model = try ManagedObjectModel(entities: [])
        func create(_ name: String, options: StoreOptions = StoreOptions()) -> StoreError.Code? {
            let type = PlainType(companionSuffixes: ["-journal"])
            return code { _ = try type.create(location(directory.file(name)), model: model, options: options) }
        }
        #expect(create("a") == .noSpace)
        #expect(create("a", options: StoreOptions(isReadOnly: true)) == .readOnly)
        #expect(create("a", options: StoreOptions(timeoutSeconds: -1)) == .invalidRequest)
        #expect(create("a", options: StoreOptions(typeOptions: ["none": "1"])) == .invalidRequest)
        #expect(create("no/a") == .missingDirectory)
        #expect(try directory.names == [])
        _ = try directory.write("a", content: "letter")
        _ = try directory.write("b-journal", content: "the last commits of a store")
        #expect(create("a") == .alreadyExists)
        #expect(create("b") == .alreadyExists)
        #expect(try directory.names == ["a", "b-journal"])
    }

    /// A type that locks the names of its stores while it creates them.
    private struct LockingType: NameLockingStoreType {
        let name = "plain"
        let capabilities = StoreCapabilities(.writing, .persistence, .file)
        /// The path where a file of another program appears once the name is locked.
        var appearing: String?
        var fails = false

        var companionSuffixes: [String] {
            if let appearing, StoreFile.hasEntry(at: appearing + ".lock") {
                try? Data("letter".utf8).write(to: URL(fileURLWithPath: appearing))
            }
            return ["-log"]
        }
        func recognizes(fileAt path: String) -> Bool { StoreFile.read(prefix: 5, of: path) == Array("store".utf8) }
        func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
            throw StoreError(.internalInconsistency, "The test opens no store without its lock.")
        }
        func open(
            _ location: StoreLocation, options: StoreOptions, under lock: StoreLock
        ) throws(StoreError) -> any PersistentStore {
            defer { lock.release() }
            try lock.change(to: .shared, timeoutSeconds: 0)
            throw StoreError(.unsupported, "The test opens no store.")
        }
        func writeEmptyStore(
            at path: String, model: ManagedObjectModel, options: StoreOptions
        ) throws(StoreError) {
            guard options.isUnpublished, (try? StoreFile.byteCount(at: path)) == 0 else {
                throw StoreError(.internalInconsistency, "The file is not new.")
            }
            if fails {
                try StoreFile.createExclusive(at: path + "-log")
                throw StoreError(.noSpace, "The test has no space for '\(path)'.")
            }
            let file = try WritableFile(at: path)
            try Array("store".utf8).span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
                try file.write(bytes, at: 0)
            }
            try file.close()
        }
    }

    @Test("a store of a name-locking type is created and opened under its lock", arguments: [false, true])
    func createsUnderLock(isUnpublished: Bool) throws {
        let directory = try directory.get()
        let model = try ManagedObjectModel(entities: [])
        let options = StoreOptions(timeoutSeconds: 0).with { $0.isUnpublished = isUnpublished }
        func create(_ name: String, type: LockingType) -> StoreError.Code? {
            code { _ = try type.create(location(directory.file(name)), model: model, options: options) }
        }
        #expect(create("a", type: LockingType(fails: true)) == .noSpace)
        #expect(try directory.names == [])
        let lock = try StoreLock.acquire(forStoreAt: directory.file("a"), mode: .exclusive, timeoutSeconds: 0)
        #expect(create("a", type: LockingType()) == .busy)
        lock.release()
        #expect(create("a", type: LockingType()) == .unsupported)
        #expect(try directory.names == ["a", "a.lock"] && directory.content("a") == "store")
        #expect(create("a", type: LockingType()) == .alreadyExists)
        #expect(create("b", type: LockingType(appearing: directory.file("b"))) == .alreadyExists)
        #expect(try directory.content("b") == "letter")
        #expect(try directory.names.filter { $0.contains("tmp") } == [])
    }
}
