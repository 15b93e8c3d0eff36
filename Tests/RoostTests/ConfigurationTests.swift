import Foundation
import Roost
import RoostCore
import RoostStores
import Testing

@Suite("Configurations")
struct ConfigurationTests {
    // MARK: Choice of the file

    @Test("a configuration is the given file, else ROOST_CONFIG, else the nearest roost.json")
    func searchOrder() throws {
        let folder = try Folder()
        func store(_ name: String) -> String { "{stores: {\(name): {type: 'memory'}}}" }
        try folder.write(store("top"), to: "roost.json")
        try folder.write(store("near"), to: "a/b/roost.json")
        try folder.write(store("variable"), to: "elsewhere/x.json")
        try folder.write(store("given"), to: "a/given.json")
        func names(_ directory: String, environment: [String: String] = [:], file: String? = nil) throws -> [String] {
            try RoostConfiguration(
                file: file, workingDirectory: folder.file(directory), environment: environment
            ).storeNames
        }
        try folder.write("", to: "a/b/c/d/empty")
        try folder.write("", to: "other/empty")
        #expect(try names("a/b/c/d") == ["near"])
        #expect(try names("a/b") == ["near"])
        #expect(try names("a") == ["top"])
        #expect(try names("other") == ["top"])
        #expect(try names("a/b", environment: ["ROOST_CONFIG": "../../elsewhere/x.json"]) == ["variable"])
        #expect(try names("a/b", environment: ["ROOST_CONFIG": folder.file("elsewhere/x.json")]) == ["variable"])
        #expect(try names("a/b", environment: ["ROOST_CONFIG": ""]) == ["near"])
        #expect(try names("a", environment: ["ROOST_CONFIG": "nowhere"], file: "given.json") == ["given"])
        let none = try RoostConfiguration(workingDirectory: "/", environment: [:])
        #expect(none.file == nil && none.storeNames == [] && none.settings == [] && none.defaultStoreName == nil)
        #expect(error { _ = try none.storeDescription("main") }?.code == .notFound)
        #expect(error { _ = try none.openStore() }?.code == .notFound)
    }

    @Test("the error for an unreadable configuration names the file or ROOST_CONFIG")
    func unreadable() throws {
        let folder = try Folder()
        func refused(_ file: String?, environment: [String: String] = [:]) -> String {
            let error = error {
                _ = try RoostConfiguration(file: file, workingDirectory: folder.path, environment: environment)
            }
            #expect(error?.code == .invalidConfiguration)
            return error?.message ?? ""
        }
        #expect(refused("nothing.json").contains("'\(folder.file("nothing.json"))'"))
        #expect(refused(nil, environment: ["ROOST_CONFIG": "nothing.json"]).contains("ROOST_CONFIG"))
        #expect(refused("nowhere/nothing.json").contains("directory"))
        #expect(refused(".").contains("not a file"))
        #expect(refused("/dev/zero").contains("not a file"))
        try folder.write("{}" + String(repeating: " ", count: 1 << 20), to: "large.json")
        #expect(refused("large.json").contains("larger"))
        // A directory with this name is not skipped silently.
        try folder.write("", to: "roost.json/file")
        #expect(refused(nil).contains("not a file"))
        // A dangling or circular link is not skipped either. Otherwise, a file in a parent
        // directory would silently apply.
        for (directory, destination) in [("gone", "nothing.json"), ("loop", "roost.json")] {
            try folder.write("", to: "\(directory)/sub/file")
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("\(directory)/sub/roost.json"), withDestinationPath: destination)
            try folder.write("{stores: {outer: {type: 'memory'}}}", to: "\(directory)/roost.json")
            let error = error {
                _ = try RoostConfiguration(workingDirectory: folder.file("\(directory)/sub"), environment: [:])
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains(folder.file("\(directory)/sub/roost.json")) == true)
        }
    }

    // MARK: Content

    @Test("a configuration's paths are relative to its file's directory")
    func relativePaths() throws {
        let folder = try Folder()
        try folder.write("{\"formatVersion\": 1}", to: "project/m.json")
        let configuration = try folder.configuration(
            """
            { // JSON5
              model: './m.json',
              stores: {
                a: { type: 'sqlite', path: 'data/a' }, b: { url: "lmdb:./b.lmdb" }, c: { url: 'sqlite:/tmp/c' },
                d: { type: 'memory', path: 'd' }, e: { url: "memory:" }, f: { type: 'sqlite', path: '~/f' },
                g: { type: 'coredata', path: 'g', options: { model: 'M.xcdatamodeld', modelVersion: 2 } },
              },
              default: "b",
            }
            """, name: "project/roost.json")
        let project = folder.file("project")
        func location(_ name: String) throws -> String { try configuration.storeDescription(name).location.description }
        #expect(configuration.modelPath == "\(project)/m.json")
        #expect(try location("a") == "sqlite:\(project)/data/a")
        #expect(try location("b") == "lmdb:\(project)/b.lmdb")
        #expect(try location("c") == "sqlite:/tmp/c")
        #expect(try location("d") == "memory:d")
        #expect(try location("e") == "memory:")
        #expect(try location("f") == "sqlite:\(project)/~/f")
        #expect(
            try configuration.storeDescription("g").options.typeOptions
                == ["model": "\(project)/M.xcdatamodeld", "modelVersion": "2"])
        #expect(configuration.storeNames == ["a", "b", "c", "d", "e", "f", "g"])
        #expect(configuration.defaultStoreName == "b")
        #expect(try configuration.storeDescription().location == configuration.storeDescription("b").location)
    }

    #if SQLite && LMDB
        @Test("a configuration lists every setting in force with its origin")
        func settings() throws {
            let folder = try Folder()
            let configuration = try folder.configuration(
                """
                {
                  stores: {
                    main: {
                      type: "sqlite", path: "a",
                      options: { synchronous: "normal",
                                 maximumValueBytes: 0x200000 } },
                    cache: { url: "lmdb:b" } } }
                """, environment: ["ROOST_STORE": "cache"])
            let text = configuration.settings.map { "\($0.key) = \($0.value) < \($0.origin)" }.joined(separator: "\n")
                .replacingOccurrences(of: folder.path, with: "")
            #expect(
                text == """
                    file = /roost.json < given
                    default = cache < ROOST_STORE
                    stores.main = sqlite:/a < /roost.json:3
                    stores.main.options.synchronous = normal < /roost.json:5
                    stores.main.options.maximumValueBytes = 2097152 < /roost.json:6
                    stores.main.options.pageSizeBytes = 4096 < default
                    stores.main.options.rowTimeoutSeconds = 300 < default
                    stores.cache = lmdb:/b < /roost.json:7
                    stores.cache.options.mapSize = 17592186044416 < default
                    stores.cache.options.maxReaders = 1022 < default
                    """)
        }

        @Test("a configuration reports all problems at once, with key, line and column")
        func problems() throws {
            let folder = try Folder()
            let document = """
                { modle: 1, model: "nothing",
                  stores: {
                    a: { type: "sqlit", path: "a" },
                    b: { type: "lmdb", path: "b", options: { mapsize: 1, maxReaders: 1 } } },
                  default: "c" }
                """
            let types = StoreRegistry.standard.all.map(\.name).joined(separator: ", ")
            let error = try #require(error { _ = try folder.configuration(document) })
            #expect(error.code == .invalidConfiguration)
            #expect(
                error.message.replacingOccurrences(of: folder.path, with: "") == """
                    The configuration '/roost.json' is not valid:
                      modle (line 1, column 3): the key is unknown; did you mean 'model'?
                      model (line 1, column 20): the file '/nothing' does not exist.
                      stores.a.type (line 3, column 16): one of \(types) is expected; did you mean 'sqlite'?
                      stores.b.options.mapsize (line 4, column 46): Stores of type 'lmdb' have no option 'mapsize'; did you mean 'mapSize'?
                      stores.b.options.maxReaders (line 4, column 70): The option 'maxReaders' of a store of type 'lmdb' must be a whole number from 2 to 1000000.
                      default (line 5, column 12): one of a, b is expected; did you mean 'a'?
                    """)
            #expect(try folder.names() == ["roost.json"])
        }
    #endif

    @Test(
        "a wrong configuration is refused with a message that says what is expected",
        arguments: [
            ("", "line 1, column 1"), ("{", "line 1, column 2"), ("[]", "an object is expected"),
            ("{stores: {}, stores: {}}", "occurs twice"), ("{stores: 7}", "an object is expected"),
            ("{store: {}}", "did you mean 'stores'?"), ("{defualt: 'a'}", "did you mean 'default'?"),
            ("{stores: {'a.b': {type: 'memory'}}}", "a store's name"),
            ("{stores: {'-a': {type: 'memory'}}}", "a store's name"),
            ("{stores: {'': {type: 'memory'}}}", "a store's name"),
            ("{stores: {'a/b': {type: 'memory'}}}", "a store's name"),
            ("{stores: {a: {}}}", "is missing"), ("{stores: {a: {path: 'x'}}}", "is missing"),
            ("{stores: {a: {type: 7}}}", "a string is expected"),
            ("{stores: {a: {type: 'memroy'}}}", "did you mean 'memory'?"),
            ("{stores: {a: {typ: 'memory'}}}", "did you mean 'type'?"),
            ("{stores: {a: {url: 'memory'}}}", "type:path"), ("{stores: {a: {url: 'nosuch:x'}}}", "is expected"),
            ("{stores: {a: {url: 'memory:', type: 'memory'}}}", "remove 'url' or 'type'."),
            ("{stores: {a: {url: 'memory:', path: 'memory'}}}", "remove 'url' or 'path'."),
            ("{stores: {a: {type: 'memory', options: {x: 1}}}}", "stores of this type have no options"),
            ("{stores: {a: {type: 'memory', options: {x: null}}}}", "stores of this type have no options"),
            ("{stores: {a: {type: 'memory', options: []}}}", "an object is expected"),
            ("{stores: {a: {type: 'memory'}}, default: 'b'}", "one of a is expected"),
            ("{stores: {main: {type: 'memory'}}, default: 'mian'}", "did you mean 'main'?"),
            ("{default: 'b'}", "no stores"), ("{default: ['b']}", "a string is expected"),
            ("{model: 'nothing'}", "does not exist"), ("{model: ''}", "does not exist"),
            (String(repeating: "[", count: 100_000), "nests deeper"),
        ])
    func refusals(document: String, message: String) throws {
        let folder = try Folder()
        let error = try #require(error { _ = try folder.configuration(document) })
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.contains(message), "\(error.message)")
        #expect(error.message.contains(folder.file("roost.json")))
        #expect(try folder.names() == ["roost.json"])
    }

    @Test("a configuration of 20,000 stores knows the line of each")
    func manyStores() throws {
        let folder = try Folder()
        let lines = (1...20_000).map { "s\($0): {type: 'memory'}," }
        let configuration = try folder.configuration("{stores: {\n" + lines.joined(separator: "\n") + "\n}}")
        let origins = Dictionary(uniqueKeysWithValues: configuration.settings.map { ($0.key, $0.origin) })
        let file = folder.file("roost.json")
        for number in [1, 2, 9999, 20_000] {
            #expect(origins["stores.s\(number)"] == .file(path: file, line: number + 1))
        }
    }

    @Test("a configuration that is not UTF-8 is refused")
    func invalidText() throws {
        let folder = try Folder()
        try Data([0x7B, 0xFF, 0x7D]).write(to: URL(fileURLWithPath: folder.file("roost.json")))
        let error = error { _ = try RoostConfiguration(workingDirectory: folder.path, environment: [:]) }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("UTF-8") == true)
    }

    @Test("a configuration accepts the types and options of registered third-party stores")
    func thirdParty() throws {
        let folder = try Folder()
        try folder.write("{stores: {a: {type: 'foreign', path: 'x', options: {color: 'red'}}}}", to: "roost.json")
        let registry = StoreRegistry([ForeignType()])
        let configuration = try RoostConfiguration(
            workingDirectory: folder.path, environment: [:], registry: registry)
        #expect(configuration.settings.map(\.key).suffix(2) == ["stores.a", "stores.a.options.color"])
        #expect(error { _ = try RoostConfiguration(workingDirectory: folder.path, environment: [:]) } != nil)
    }

    // MARK: ROOST_STORE

    @Test("ROOST_STORE names the default store by URL, name or path", arguments: fileTypes)
    func storeVariable(type: String) throws {
        let folder = try Folder()
        let document = "{stores: {main: {type: 'memory'}, other: {type: 'memory', path: 'x'}}, default: 'main'}"
        func location(_ text: String) throws -> String {
            try folder.configuration(document, environment: ["ROOST_STORE": text]).storeDescription().location
                .description
        }
        let store = StoreLocation(type: type, path: folder.file("data/some.store"))
        try folder.write("", to: "data/file")
        try StoreRegistry.standard.create(store, model: try model()).close()
        #expect(try location("") == "memory:")
        #expect(try location("other") == "memory:x")
        #expect(try location("\(type):new") == "\(type):\(folder.file("new"))")
        #expect(try location("\(type):/new") == "\(type):/new")
        #expect(try location("memory:name") == "memory:name")
        #expect(try location("data/some.store") == store.description)
        #expect(try location(store.path) == store.description)
        for (wrong, hint) in [
            ("mian", "did you mean 'main'?"), ("data/file", "type:path"), ("nosuch:x", "nosuch"),
            ("\(type):", "no path"),
        ] {
            let error = error { _ = try location(wrong) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("ROOST_STORE") == true && error?.message.contains(hint) == true)
        }
        // The variable also works without a configuration file.
        let alone = try RoostConfiguration(workingDirectory: "/", environment: ["ROOST_STORE": store.description])
        #expect(try alone.storeDescription().location == store)
        #expect(alone.settings.map(\.key) == ["default"])
    }

    @Test("a configuration with one store uses it by default; a configuration with several has no default")
    func defaults() throws {
        let folder = try Folder()
        #expect(try folder.configuration("{stores: {a: {type: 'memory'}}}").defaultStoreName == "a")
        let two = try folder.configuration("{stores: {a: {type: 'memory'}, b: {type: 'memory'}}}")
        #expect(two.defaultStoreName == nil)
        let error = error { _ = try two.openStore() }
        #expect(error?.code == .notFound && error?.message.contains("ROOST_STORE") == true)
        #expect(RoostTests.error { _ = try two.openStore("aa") }?.message.contains("did you mean 'a'?") == true)
    }
}

/// A store type with one option; its stores are never opened.
private struct ForeignType: PersistentStoreType {
    let name = "foreign"
    let capabilities = StoreCapabilities(.file)
    let optionDescriptions = [
        StoreOptionDescription("color", values: .words(["red"]), standard: "red", summary: "Its color.")
    ]
    private let refusal = StoreError(.unsupported, "foreign")

    func recognizes(fileAt path: String) -> Bool { false }
    func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        throw refusal
    }
    func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        throw refusal
    }
    func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore { throw refusal }
    func destroy(_ location: StoreLocation) throws(StoreError) { throw refusal }
    func replace(
        _ destination: StoreLocation, with source: StoreLocation, overwriting: Bool
    ) throws(StoreError) { throw refusal }
}
