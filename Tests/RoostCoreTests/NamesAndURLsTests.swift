import RoostCore
import TestSamples
import Testing

private struct NamedType: PersistentStoreType {
    let name: String
    var recognized: Set<String> = []
    var capabilities: StoreCapabilities { StoreCapabilities() }

    func recognizes(fileAt path: String) -> Bool { recognized.contains(path) }
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
    func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError) {
        throw refusal
    }
    private var refusal: StoreError { StoreError(.unsupported, "This type only has a name.") }
}

@Suite("Names and URLs")
struct NamesAndURLsTests {
    @Test("entity names with equal text are equal, also when made on many threads")
    func interning() async {
        let names = await withTaskGroup(of: [EntityName].self) { group in
            for _ in 0..<8 { group.addTask { (0..<200).map { EntityName("interned-\($0)") } } }
            var all: [[EntityName]] = []
            for await part in group { all.append(part) }
            return all
        }
        #expect(names.allSatisfy { $0 == names[0] })
        #expect(names[0].map(\.text) == (0..<200).map { "interned-\($0)" })
        #expect(MemoryLayout<ObjectID>.size == 16)
    }

    @Test("an object ID is the same after writing and reading its URI")
    func objectURI() throws {
        let uuid = StoreUUID()
        let id = ObjectID("Track", key: 42)
        let uri = id.uriRepresentation(storeUUID: uuid)
        #expect(uri == "x-roost://\(uuid)/Track/p42")
        let parsed = try #require(ObjectID.parse(uri: uri))
        #expect(parsed.id == id)
        #expect(parsed.storeUUID == uuid)
    }

    @Test(
        "a malformed or foreign URI is not read as an object ID",
        arguments: [
            "", "x-roost://", "x-coredata://A/B/p1", "x-roost://nouuid/Track/p1",
            "x-roost://00000000-0000-0000-0000-000000000000/Track/42",
            "x-roost://00000000-0000-0000-0000-000000000000/Track/p0",
            "x-roost://00000000-0000-0000-0000-000000000000/Track/p-1",
            "x-roost://00000000-0000-0000-0000-000000000000/Track/p+1",
            "x-roost://00000000-0000-0000-0000-000000000000/Track/p01",
            "x-roost://00000000-0000-0000-0000-000000000000/Track/p",
            "x-roost://00000000-0000-0000-0000-000000000000//p1",
            "x-roost://00000000-0000-0000-0000-000000000000/Track/p1/x",
        ])
    func badObjectURI(_ text: String) { #expect(ObjectID.parse(uri: text) == nil) }

    @Test(
        "only an object ID's exact description is read as an object ID",
        arguments: ["Track/p05", "Track/p+5", "Track/p0", "Track/p", "Track/5", "/p5", "Track"])
    func badObjectDescription(_ text: String) {
        #expect(ObjectID(description: text) == nil)
        #expect(ObjectID(description: "Track/p5") == ObjectID("Track", key: 5))
    }

    @Test(
        "a store URL has a type and a path",
        arguments: [
            ("sqlite:a/b.sqlite", "sqlite", "a/b.sqlite"), ("lmdb:/x:y", "lmdb", "/x:y"), ("memory:", "memory", ""),
            ("sqlite:///var/x", "sqlite", "/var/x"), ("sqlite:a b?c#d", "sqlite", "a b?c#d"),
        ])
    func storeURLs(_ text: String, type: String, path: String) throws {
        let location = try #require(StoreLocation(text: text))
        #expect(location.type == type)
        #expect(location.path == path)
    }

    @Test(
        "a bare path is not a store URL", arguments: ["", "music.sqlite", "C:\\x", "a/b:c", "SQLite:x", ":x", "1a:x"])
    func barePaths(_ text: String) { #expect(StoreLocation(text: text) == nil) }

    private func registry() -> StoreRegistry {
        let registry = StoreRegistry([NamedType(name: "sqlite", recognized: ["odd:name", "music"])])
        registry.register(NamedType(name: "lmdb"))
        registry.register(NamedType(name: "lmdb", recognized: ["replaced"]))
        return registry
    }

    @Test("a registry keeps the order of store types, and only the last type registered with each name")
    func registration() {
        #expect(registry().all.map(\.name) == ["sqlite", "lmdb"])
    }

    @Test(
        "a registry resolves type:path by name, and any other text by the file",
        arguments: [
            ("lmdb:x", "lmdb", "x"), ("music", "sqlite", "music"), ("odd:name", "sqlite", "odd:name"),
            ("replaced", "lmdb", "replaced"),
        ])
    func resolution(_ text: String, type: String, path: String) throws {
        #expect(try registry().resolve(text) == StoreLocation(type: type, path: path))
    }

    @Test("a registry refuses an unknown store type with the nearest name")
    func unknownType() {
        let unknown = #expect(throws: StoreError.self) { try registry().resolve("sqlit:x") }
        #expect(unknown?.code == .unknownStoreType)
        #expect(unknown?.message.contains("'sqlite'") == true)
    }

    @Test("a registry refuses a path that no store type recognizes")
    func unrecognizedPath() {
        let nothing = #expect(throws: StoreError.self) { try registry().resolve("nothing") }
        #expect(nothing?.code == .notAStore)
    }

    @Test(
        "a nearest name is at most a small spelling mistake away",
        arguments: [
            ("tittle", "title"), ("ttile", "title"), ("titel", "title"), ("talbum", "album"), ("TITLE", "title"),
            ("albm", "album"), ("xyz", nil), ("", nil),
            (String(repeating: "title", count: 1000), nil),
        ] as [(String, String?)])
    func nearest(_ written: String, meant: String?) {
        #expect(nearestName(to: written, among: ["title", "album", "artist"]) == meant)
    }
}

@Suite("Tallies and change sets")
struct TallyTests {
    @Test("a tally does not depend on order, and removing undoes adding")
    func tally() throws {
        let model = try everyTypeModel()
        var batch = RecordBatch(model: model)
        for key in 1...50 {
            try batch.append(ObjectID("Thing", key: Int64(key)), values: ["integer64": .int(Int64(key))])
        }
        var reversed = RecordBatch(model: model)
        for index in (0..<50).reversed() { reversed.append(batch, at: index) }
        var (a, b) = (StoreTally(model: model), StoreTally(model: model))
        a.add(batch)
        b.add(reversed)
        #expect(a == b)
        #expect(a.digest.objectCount == 50)
        a.remove(batch)
        #expect(a == StoreTally(model: model))
        let owner = try model.requireLinkRelationship(RelationshipName("Thing", name: "tags")).owner
        let links = LinkBatch(relationship: owner, links: [Link(1, 2), Link(3, 4, order: 5)])
        a.add(links)
        #expect(a.digest.linkCount == 2)
        a.remove(links)
        #expect(a == StoreTally(model: model))
        #expect(StoreDigest(objectCount: 3, linkCount: 4, sum: 255).description == "00000000000000ff-3-4")
    }

    @Test("a change set stores links under the relationship that owns them")
    func links() throws {
        let model = try everyTypeModel()
        var changes = ChangeSet(model: model)
        #expect(changes.isEmpty)
        try changes.add(Link(1, 2, order: 9), to: RelationshipName("Thing", name: "tags"))
        try changes.add(Link(4, 3), to: RelationshipName("Tag", name: "things"))
        let owner = try model.requireLinkRelationship(RelationshipName("Thing", name: "tags"))
        let inverse = try model.requireLinkRelationship(RelationshipName("Tag", name: "things"))
        #expect(owner.owner == inverse.owner)
        #expect(owner.isFlipped != inverse.isFlipped)
        // Tag.things sorts first, so Tag.things owns the links. Places are dropped, because neither side is ordered.
        #expect(changes.addedLinks.map(\.links) == [[Link(2, 1), Link(4, 3)]])
        let failure = #expect(throws: StoreError.self) {
            try changes.add(Link(1, 2), to: RelationshipName("Thing", name: "owner"))
        }
        #expect(failure?.code == .invalidRequest)
    }

    @Test("a store identity derived from bytes is repeatable and a valid UUID")
    func derivedIdentity() throws {
        let uuid = StoreUUID(derivedFrom: Array("csv:cities.csv".utf8))
        #expect(uuid == StoreUUID(derivedFrom: Array("csv:cities.csv".utf8)))
        #expect(uuid != StoreUUID(derivedFrom: Array("csv:cities.csw".utf8)))
        #expect(StoreUUID(uuid.description) == uuid)
        // Version 8 and variant 10 of RFC 9562.
        #expect(
            uuid.description.wholeMatch(of: /[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/)
                != nil)
    }
}
