import Foundation
import Roost
import Testing

@Suite("Configured stores")
struct ConfiguredStoreTests {
    private func document(_ type: String, path: String, options: String = "{}") -> String {
        "{model: 'm.json', stores: {main: {type: '\(type)', path: '\(path)', options: \(options)}}}"
    }

    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write(String(decoding: try model().document(), as: UTF8.self), to: "m.json")
        return folder
    }

    private func insert(_ name: String, into store: any PersistentStore) throws {
        let id = ObjectID("Artist", key: try store.reserveKeys(1, for: "Artist").lowerBound)
        var changes = ChangeSet(model: store.model)
        try changes.insert(id, values: ["name": .string(name)])
        _ = try store.commit(changes)
    }

    private func count(_ store: any PersistentStore) throws -> Int {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try snapshot.count(FetchRequest("Artist"))
    }

    @Test("a configured store is created once and then opened, with the configured model", arguments: writableTypes)
    func creation(type: String) throws {
        let folder = try folder()
        let name = type == "memory" ? UUID().uuidString : "a.store"
        let configuration = try folder.configuration(document(type, path: name))
        #expect(error { _ = try configuration.openStore("main") }?.code == .notFound)
        let first = try configuration.openOrCreateStore()
        #expect(try first.model == model())
        try insert("one", into: first)
        try first.close()
        let second = try configuration.openOrCreateStore("main")
        #expect(try count(second) == 1)
        try second.close()
        let reading = try configuration.openStore(isReadOnly: true)
        #expect(error { try insert("two", into: reading) }?.code == .readOnly)
        try reading.close()
        // Another model, in code or in the configuration, does not match the store.
        let mismatch = error { _ = try configuration.openStore(model: try model("title")) }
        #expect(mismatch?.code == .modelMismatch)
        #expect(
            mismatch?.message.contains(".title: attribute added") == true
                && mismatch?.message.contains("roost migrate") == true)
        #expect(error { _ = try configuration.openOrCreateStore(model: try model("title")) }?.code == .modelMismatch)
        try folder.write(String(decoding: try model("title").document(), as: UTF8.self), to: "m.json")
        #expect(error { _ = try configuration.openStore() }?.code == .modelMismatch)
        try StoreRegistry.standard.type(named: type).destroy(try configuration.storeDescription().location)
    }

    @Test("a store without a history opens read-only if its configuration turns a history on", arguments: fileTypes)
    func readOnlyWithoutHistory(type: String) throws {
        let folder = try folder()
        try folder.configuration(document(type, path: "a.store")).openOrCreateStore().close()
        let options = "{tracksHistory: true, historyDays: 30}"
        let recording = try folder.configuration(document(type, path: "a.store", options: options))
        let reading = try recording.openStore(isReadOnly: true)
        #expect(error { try insert("one", into: reading) }?.code == .readOnly)
        try reading.close()
        let writing = try recording.openStore()
        #expect(try writing.metadata().model == model())
        try writing.close()
    }

    @Test("a configured store is created only with a valid model", arguments: fileTypes)
    func withoutModel(type: String) throws {
        let folder = try Folder()
        let configuration = try folder.configuration("{stores: {main: {type: '\(type)', path: 'a.store'}}}")
        let error = error { _ = try configuration.openOrCreateStore() }
        #expect(error?.code == .invalidModel && error?.message.contains("model:") == true)
        #expect(try folder.names() == ["roost.json"])
        try folder.write("{formatVersion: 1, entities: {a: 7}}", to: "m.json")
        let broken = try folder.configuration(document(type, path: "a.store"))
        #expect(RoostTests.error { _ = try broken.openOrCreateStore() }?.code == .invalidModel)
        #expect(try folder.names() == ["m.json", "roost.json"])
        try configuration.openOrCreateStore(model: try model()).close()
        try configuration.openStore().close()
    }

    @Test("a missing store that is opened read-only is not found, with and without a model", arguments: fileTypes)
    func missingReadOnly(type: String) throws {
        let folder = try Folder()
        let location = StoreLocation(type: type, path: folder.file("a.store"))
        for model in [nil, try model()] {
            let error = error { _ = try Store.open(location, model: model, options: StoreOptions(isReadOnly: true)) }
            #expect(error?.code == .notFound)
        }
        // Without the read-only option, the error asks for a model.
        #expect(error { _ = try Store.open(location) }?.code == .invalidModel)
        #expect(try folder.names() == [])
    }

    @Test("a configured store in a missing directory is refused and not created", arguments: fileTypes)
    func missingDirectory(type: String) throws {
        let folder = try folder()
        let configuration = try folder.configuration(document(type, path: "no/a.store"))
        #expect(error { _ = try configuration.openOrCreateStore() }?.code == .missingDirectory)
        #expect(try folder.names() == ["m.json", "roost.json"])
    }

    @Test("threads that open or create a configured store at once share one store", arguments: writableTypes)
    func racing(type: String) async throws {
        let folder = try folder()
        let name = type == "memory" ? UUID().uuidString : "a.store"
        let configuration = try folder.configuration(document(type, path: name))
        let capabilities = try StoreRegistry.standard.type(named: type).capabilities
        let hasOneWriter = capabilities.contains(.file) && !capabilities.contains(.multipleProcesses)
        let identities = try await withThrowingTaskGroup(of: StoreUUID?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let store: any PersistentStore
                    do {
                        store = try configuration.openOrCreateStore()
                    } catch let error as StoreError where hasOneWriter && error.code == .busy {
                        return nil
                    }
                    let identity = try store.metadata().storeUUID
                    try store.close()
                    return identity
                }
            }
            return try await group.reduce(into: Set<StoreUUID>()) { if let identity = $1 { $0.insert(identity) } }
        }
        #expect(identities.count == 1)
        try StoreRegistry.standard.type(named: type).destroy(try configuration.storeDescription().location)
    }

    #if SQLite
        @Test("a configured store is created with the configured options")
        func options() throws {
            let folder = try folder()
            let configuration = try folder.configuration(document("sqlite", path: "a", options: "{pageSizeBytes: 512}"))
            try configuration.openOrCreateStore().close()
            // The page size is a big-endian number at offset 16 of an SQLite file.
            #expect(try folder.bytes("a")[16..<18] == [2, 0])
        }
    #endif

    @Test("a store type accepts exactly the options that it describes", arguments: writableTypes)
    func optionDescriptions(type: String) throws {
        let type = try StoreRegistry.standard.type(named: type)
        let folder = try Folder()
        func create(_ name: String, value: String) throws {
            let path = folder.file(UUID().uuidString)
            let options = StoreOptions(typeOptions: [name: value])
            let location = StoreLocation(type: type.name, path: path)
            try type.create(location, model: try model(), options: options).close()
            try type.destroy(location)
        }
        for option in type.optionDescriptions {
            let (right, wrong): ([String], [String]) =
                switch option.values {
                case .words(let words): (words, ["", "x" + (words.first ?? "")])
                case .integer(let range), .powerOfTwo(let range):
                    (["\(range.lowerBound)"], ["\(range.lowerBound - 1)", "\(range.upperBound + 1)", "x", ""])
                case .number(let range):
                    (["\(range.lowerBound)"], ["\(range.lowerBound - 1)", "\(range.upperBound + 1)", "nan", "x", ""])
                case .path: (["x"], [""])
                case .text: (["x"], [])
                }
            for value in right { try create(option.name, value: value) }
            for value in wrong {
                let error = error { try create(option.name, value: value) }
                #expect(error?.code == .invalidRequest && error?.message.contains(option.name) == true)
            }
            #expect(error { try create(option.name + "x", value: "1") }?.message.contains("'\(option.name)'") == true)
        }
        #expect(error { try create("no-such-option", value: "1") }?.code == .invalidRequest)
        #expect(try folder.names().filter { !$0.hasSuffix(".lock") } == [])
    }
}
