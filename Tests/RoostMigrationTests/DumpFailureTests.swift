import Foundation
import Roost
import RoostCore
import RoostFiles
import RoostMigration
import RoostSystem
import Testing

@Suite("Damaged and edited dumps")
struct DumpFailureTests {
    private let directory: TemporaryDirectory
    private let dump: DumpText

    init() throws {
        directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Base", attributes: [AttributeDescription("name", type: .string)]).with {
                $0.isAbstract = true
            },
            EntityDescription(
                "Leaf", superentity: "Base", relationships: [.toMany("tags", to: "Tag", inverse: "leaves")]),
            EntityDescription("Tag", relationships: [.toMany("leaves", to: "Leaf", inverse: "tags")]),
        ])
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: "memory", path: directory.file("m")), model: model)
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Leaf", key: 1), values: ["name": "é"])
        try batch.append(ObjectID("Leaf", key: 2), values: ["name": "x"])
        try loader.append(batch)
        batch.removeAll()
        try batch.append(ObjectID("Tag", key: 4), values: [:])
        try loader.append(batch)
        try loader.append(
            LinkBatch(
                relationship: try model.requireLinkRelationship(RelationshipName("Leaf", name: "tags")).owner,
                links: [Link(1, 4), Link(2, 4)]))
        _ = try loader.finish()
        dump = try DumpText(store)
        try store.close()
        try #require(dump.lines.count == 6)
    }

    private func location(_ type: String) -> StoreLocation { StoreLocation(type: type, path: directory.file("b")) }

    /// Returns the error of loading a text, or nil; an error must leave the directory unchanged.
    private func failure(
        _ text: DumpText, type: String = "sqlite", options: ConversionOptions = ConversionOptions()
    ) throws -> StoreError? {
        let before = try directory.names()
        do throws(StoreError) { _ = try text.load(into: .location(location(type)), chunk: 7, options: options) } catch {
            #expect(try directory.names() == before, "a trace of the destination is left: \(error)")
            return error
        }
        return nil
    }

    @Test("the unchanged sample dump loads into every store type", arguments: Sample.writingTypes)
    func sampleIsRight(type: String) throws { _ = try dump.load(into: .location(location(type)), chunk: 1) }

    @Test("a dump that is cut off at any byte is refused and leaves no store", arguments: ["sqlite", "memory"])
    func cutAnywhere(type: String) throws {
        // Without the last line break, the dump is still complete.
        for count in 0..<dump.bytes.count - 1 {
            var cut = dump
            cut.bytes = Array(dump.bytes.prefix(count))
            let error = try #require(try failure(cut, type: type), "cut to \(count) bytes")
            #expect([.corrupted, .notAStore].contains(error.code), "cut to \(count) bytes: \(error)")
            #expect(count == 0 || error.message.contains("line "), "cut to \(count) bytes: \(error)")
        }
    }

    @Test("a dump with a changed bit in any byte is refused")
    func flippedAnywhere() throws {
        for index in dump.bytes.indices {
            var flipped = dump
            flipped.bytes[index] ^= 0x04
            #expect(try failure(flipped, type: "memory") != nil, "the load accepted a change of byte \(index)")
        }
    }

    @Test(
        "an invalid edit of a dump is refused with its line and column",
        arguments: [
            (2, #""Leaf""#, #""Base""#, "corrupted", "line 2, column 12: entity 'Base' is abstract"),
            (
                2, #""Leaf""#, #""Leav""#, "corrupted",
                "line 2, column 12: the dump's model has no such entity; did you mean 'Leaf'?"
            ),
            (
                2, #""name""#, #""nam""#, "corrupted",
                "line 2, column 43: Leaf/p1 has no property 'nam'; did you mean 'name'?"
            ),
            (2, #""é""#, #"5"#, "corrupted", "line 2, column 51: property 'name' of Leaf/p1"),
            (2, #""version": 1,"#, #""version": 1"#, "corrupted", "line 2, column 42: ',' or '}' is expected"),
            (
                3, #"{"entity""#, #"{"unity""#, "corrupted",
                "line 3, column 2: a line of a dump is an object that begins with"
            ),
            (
                5, #""Leaf.tags""#, #""Leaf.tag""#, "corrupted",
                "line 5, column 11: the dump's model has no relationship"
            ),
            (5, #""pairs""#, #""pair""#, "corrupted", "line 5, column 24: \"pairs\" is expected"),
            (5, "[1, 4]", "[0, 4]", "corrupted", "line 5, column 35: a key in a link of 'Leaf.tags' is below 1"),
            (5, "[1, 4], ", "", "corrupted", "line 6, column 33: the dump should hold 2 links and holds 1"),
            (
                6, #""objects": 3"#, #""objects": 4"#, "corrupted",
                "line 6, column 21: the dump should hold 4 objects and holds 3"
            ),
            (6, #""objects": 3, "#, "", "corrupted", "the text does not match the checksum"),
            (6, #""objects""#, #""things""#, "corrupted", "line 6, column 10: the last line has a key"),
            (6, #"-3-2""#, #"-3-3""#, "corrupted", "the objects and links do not match the digest"),
            (1, #""roost-dump""#, #""roast-dump""#, "notAStore", "not a dump"),
            (1, #""formatVersion":1"#, #""formatVersion":2"#, "unsupportedVersion", "line 1"),
            (1, #""roost-dump","formatVersion":1"#, #""roost-dump""#, "corrupted", "the first line of a dump needs"),
            (1, #""lastKeys":{"#, #""lastKeys":{"Leaf":7,"#, "corrupted", "not a root entity of the model"),
            (1, #""storeUUID":""#, #""storeUUID":"x"#, "corrupted", "a UUID is expected"),
            (1, #""metadata":{}"#, #""metadata":[]"#, "corrupted", "the metadata cannot be used"),
            (1, #","metadata":{}"#, "", "corrupted", "the first line of a dump needs"),
            (1, #""metadata""#, #""metadatum""#, "corrupted", "the first line has a key"),
            (1, #""superentity":"Base""#, #""superentity":"Bass""#, "invalidModel", "line 1"),
        ])
    func edits(line: Int, from old: String, to new: String, code: String, message: String) throws {
        var lines = dump.lines
        let edited = lines[line - 1].replacingOccurrences(of: old, with: new)
        try #require(edited != lines[line - 1])
        lines[line - 1] = edited
        let error = try #require(try failure(DumpText(lines: lines)))
        #expect(error.code.description == code, "\(error)")
        #expect(error.message.contains(message), "\(error)")
    }

    @Test(
        "a dump whose lines are out of order, repeated or missing is refused",
        arguments: [
            [0, 4, 1, 2, 3, 5], [0, 1, 2, 3, 4, 5, 5], [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [0, 1, 1, 2, 3, 4, 5],
            [0, 1, 2, 4, 5], [0, 1, 2, 3, 5], [0, 0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 1], [5], [0],
        ])
    func wrongLines(numbers: [Int]) throws {
        let lines = dump.lines
        #expect(try failure(DumpText(lines: numbers.map { lines[$0] })) != nil)
    }

    @Test("loading a dump that has an object twice throws duplicateObject", arguments: Sample.writingTypes)
    func objectTwice(type: String) throws {
        var lines = dump.lines
        lines.insert(lines[1], at: 2)
        lines[6] = #"{"end": {"objects": 4, "links": 2}}"#
        #expect(try failure(DumpText(lines: lines), type: type)?.code == .duplicateObject)
    }

    @Test(
        "a dump whose last line omits a count is refused",
        arguments: [#"{"end": {}}"#, #"{"end": {"objects": 3}}"#, #"{"end": {"links": 2}}"#])
    func missingCounts(trailer: String) throws {
        let error = try #require(try failure(DumpText(lines: dump.lines.dropLast() + [trailer])))
        #expect(error.code == .corrupted && error.message.contains("does not say how many"), "\(error)")
    }

    @Test("an edited dump without checksum and digest loads with a warning for each")
    func editedByHand() throws {
        var lines = dump.lines
        lines[1] = #"{"entity": "Leaf", "name": "edited", "id": 1}"#
        lines[5] = #"{"end": {"links": 2, "objects": 3}}"#
        lines.insert("", at: 2)
        let report = try DumpText(lines: lines).load(into: .location(location("sqlite")))
        #expect(report.objects == 3 && report.warnings.count == 2)
    }

    @Test(
        "loading a text in another format throws notAStore",
        arguments: ["", "\n", "x", "SQLite format 3\u{0}", "[]", "{}", "{\"a\": 1}", "[1]\n[2]", "\u{FEFF}{}"])
    func somethingElse(text: String) throws {
        let error = try #require(try failure(DumpText(text)))
        #expect(error.code == .notAStore && error.message.contains("dump"), "\(error)")
    }

    @Test("a load refuses an existing store before it reads the text")
    func existingDestination() throws {
        _ = try dump.load(into: .location(location("sqlite")))
        #expect(try failure(dump)?.code == .alreadyExists)
    }

    @Test("a load that replaces a store keeps the old store until the new one is complete")
    func replacedDestination() throws {
        _ = try dump.load(into: .location(location("sqlite")))
        let before = try Data(contentsOf: URL(fileURLWithPath: directory.file("b")))
        let overwriting = ConversionOptions(overwrites: true)
        #expect(try failure(DumpText(lines: Array(dump.lines.dropLast())), options: overwriting)?.code == .corrupted)
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file("b"))) == before)
        _ = try dump.load(into: .location(location("sqlite")), options: overwriting)
    }

    @Test(
        "a load refuses a store type that is unknown or cannot be written",
        arguments: [("coredata", StoreError.Code.unsupported), ("nothing", .unknownStoreType)])
    func wrongDestination(type: String, code: StoreError.Code) throws {
        #expect(try failure(dump, type: type)?.code == code)
    }

    @Test("a cancelled load leaves no files")
    func cancelled() throws {
        let cancellation = ConversionCancellation()
        cancellation.cancel()
        #expect(try failure(dump, options: ConversionOptions(cancellation: cancellation))?.code == .cancelled)
    }

    @Test("a load whose text cannot be read to the end leaves no files")
    func failingText() throws {
        let text = Mutex(dump.bytes.prefix(dump.bytes.count - 40))
        let error = #expect(throws: StoreError.self) {
            try MigrationManager(registry: .standard).load(into: .location(location("sqlite")), from: "text") {
                (buffer) throws(StoreError) in
                let next = text.withLock { text in
                    let next = Array(text.prefix(min(9, buffer.count)))
                    text = text.dropFirst(next.count)
                    return next
                }
                guard !next.isEmpty else { throw StoreError(.ioFailure, "injected: source") }
                buffer.copyBytes(from: next)
                return next.count
            }
        }
        #expect(error?.code == .ioFailure)
        #expect(try directory.names() == [])
    }

    @Test("a load whose destination fails leaves no files")
    func failingDestination() throws {
        let base = try StoreRegistry.standard.type(named: "sqlite")
        for faults in [
            Faults(failsAtAppend: 1), Faults(failsAtFinish: true), Faults(dropsRecordsAt: 1),
            Faults(failsAtReplace: true),
        ] {
            let registry = StoreRegistry()
            registry.register(FaultyStoreType(base: base, faults: faults))
            #expect(throws: StoreError.self) { try dump.load(into: .location(location("faulty")), registry: registry) }
        }
        #expect(try directory.names() == [])
    }
}
