import Foundation
import RoostCore
import RoostFiles
import RoostStores
import Testing

@testable import RoostJSON

/// A mistake in an edit by hand, and the words that the error message must contain.
struct Slip: Sendable, CustomTestStringConvertible {
    let name: String
    let old: String
    let new: String
    let says: [String]

    init(_ name: String, replacing old: String, with new: String, _ says: String...) {
        (self.name, self.old, self.new, self.says) = (name, old, new, says)
    }

    var testDescription: String { name }

    static let all: [Slip] = [
        Slip(
            "a missing comma", replacing: "\"name\": \"Ada\"}", with: "\"name\": \"Ada\" \"x\": 1}", "line ", "column "),
        Slip("a missing quote", replacing: "\"Ada\"", with: "\"Ada", "line ", "column "),
        Slip("a trailing comma", replacing: "\"name\": \"red\"}", with: "\"name\": \"red\",}", "line ", "column "),
        Slip("a comment", replacing: "\"name\": \"red\"}", with: "\"name\": \"red\"} // mine", "line ", "column "),
        Slip("a string for a number", replacing: "\"pages\": 200", with: "\"pages\": \"200\"", "Book/p2", "pages"),
        Slip("a number for a string", replacing: "\"title\": \"Book 2\"", with: "\"title\": 2", "Book/p2", "title"),
        Slip("a number out of range", replacing: "\"pages\": 200", with: "\"pages\": 3000000000", "Book/p2", "pages"),
        Slip(
            "a fraction for a whole number", replacing: "\"pages\": 200", with: "\"pages\": 200.5", "Book/p2", "pages"),
        Slip(
            "a number beyond every range", replacing: "\"pages\": 200", with: "\"weight2\": 1e999", "Book/p2", "weight"),
        Slip(
            "binary data that is not base64", replacing: "\"cover\": \"AAAA", with: "\"cover\": \"A*AA", "Book/p",
            "cover"),
        Slip(
            "a property that does not exist", replacing: "\"pages\": 200", with: "\"page\": 200", "Book/p2",
            "did you mean 'pages'"),
        Slip(
            "a key twice in a record", replacing: "\"pages\": 200", with: "\"pages\": 200, \"pages\": 7", "line ",
            "column "),
        Slip("an entity that does not exist", replacing: "\"Book\": [", with: "\"Bok\": [", "did you mean 'Book'"),
        Slip(
            "an ID twice", replacing: "{\"id\": 3, \"version\": 1, \"author\"",
            with: "{\"id\": 2, \"version\": 1, \"author\"",
            "Book/p2", "line "),
        Slip(
            "an ID that another entity of the hierarchy has", replacing: "{\"id\": 3, \"version\": 1, \"code\"",
            with: "{\"id\": 1, \"version\": 1, \"code\"", "p1", "line "),
        Slip(
            "no ID", replacing: "{\"id\": 3, \"version\": 1, \"author\"", with: "{\"version\": 1, \"author\"", "Book",
            "id"),
        Slip(
            "an ID of 0", replacing: "{\"id\": 3, \"version\": 1, \"author\"",
            with: "{\"id\": 0, \"version\": 1, \"author\"", "Book",
            "id"),
        Slip(
            "a reference to nothing", replacing: "\"author\": \"Author/1\", \"author#order\": 2",
            with: "\"author\": \"Author/77\", \"author#order\": 2", "Book/p2", "author", "p77", "column "),
        Slip(
            "a reference of the wrong entity", replacing: "\"author\": \"Author/1\"", with: "\"author\": \"Tag/1\"",
            "Book/p1", "author"),
        Slip("a link from nothing", replacing: "[1, 1", with: "[99, 1", "Book.tags", "p99", "line "),
        Slip("a link to nothing", replacing: "[1, 1", with: "[1, 99", "Book.tags", "p99", "line "),
        Slip("a link with three numbers too many", replacing: "[2, 1", with: "[2, 1, 5, 6, 7", "Book.tags", "line "),
        Slip("a link with text instead of a key", replacing: "[2, 1", with: "[\"2\", 1", "Book.tags", "line "),
        Slip(
            "a relationship that does not exist", replacing: "\"Book.tags\"", with: "\"Book.tag\"",
            "did you mean 'Book.tags'"),
        Slip(
            "a unique value twice", replacing: "\"code\": \"b\"", with: "\"code\": \"a\"", "Author", "code", "p1", "p2",
            "line "),
        Slip("a member that does not exist", replacing: "\"lastKeys\"", with: "\"lastKey\"", "did you mean 'lastKeys'"),
        Slip("no format version", replacing: "\"formatVersion\": 2, \"store", with: "\"store", "formatVersion"),
        Slip(
            "a member twice", replacing: "\"storeUUID\"", with: "\"metadata\": {}, \"storeUUID\"", "occurs twice",
            "line "),
        Slip("no UUID", replacing: "\"storeUUID\": \"", with: "\"foldedJournal\": \"", "foldedJournal"),
        Slip("an invalid UUID", replacing: "\"storeUUID\": \"", with: "\"storeUUID\": \"x", "UUID"),
        Slip(
            "a negative generation", replacing: "\"generation\": ", with: "\"generation\": -", "generation",
            "line 2"),
        Slip(
            "a last key of an unknown entity", replacing: "\"lastKeys\": {", with: "\"lastKeys\": {\"Boook\": 1, ",
            "did you mean 'Book'"),
        Slip(
            "a negative last key", replacing: "\"lastKeys\": {\"Author\": 3", with: "\"lastKeys\": {\"Author\": -3",
            "the last key of 'Author' is not a whole number from 0"),
        Slip(
            "metadata with an unknown tag", replacing: "\"place\":\"shelf\"", with: "\"place\": {\"$what\": 1}",
            "metadata", "line "),
        Slip("metadata twice", replacing: "\"place\":\"shelf\"", with: "\"place\": 1, \"place\": 2", "line "),
        Slip("text after the end", replacing: "\n}\n", with: "\n}\n{}", "line "),
    ]
}

@Suite("JSON documents edited by hand")
struct HandEditTests {
    private func filled(_ bench: Bench) throws {
        let store = try bench.create()
        try store.fill()
        try store.close()
    }

    private func slip(_ slip: Slip, into bench: Bench) throws {
        try bench.edit("store", replacing: slip.old, with: slip.new)
    }

    @Test("each mistake in an edited document is refused with its place, and nothing is changed", arguments: Slip.all)
    func refusesMistake(_ slip: Slip) throws {
        let bench = try Bench()
        try filled(bench)
        try self.slip(slip, into: bench)
        let error = try bench.refused()
        #expect(error.code == .corrupted, "\(error)")
        #expect(error.message.contains("line "), "\(error)")
        for word in slip.says { #expect(error.message.contains(word), "\(error)") }
        #expect(error.message.contains("Ada") == false, "\(error)")
    }

    @Test(
        "a byte order mark in a document is named and refused",
        arguments: [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE]] as [[UInt8]])
    func refusesByteOrderMark(_ mark: [UInt8]) throws {
        let bench = try Bench()
        try filled(bench)
        try bench.write(mark + (try bench.bytes()))
        let error = try bench.refused()
        #expect(error.code == .notAStore && error.message.contains("byte order mark"), "\(error)")
    }

    @Test("a JSON store refuses commits after the highest generation")
    func highestGeneration() throws {
        let bench = try Bench()
        try filled(bench)
        try bench.edit("store", replacing: "\"generation\": ", with: "\"generation\": 1844674407370955161")
        let text = String(decoding: try bench.bytes(), as: UTF8.self)
        let number = try #require(
            text.firstRange(of: "1844674407370955161").map { text[$0.upperBound...].prefix { $0.isNumber } })
        try bench.edit("store", replacing: "1844674407370955161\(number)", with: "\(UInt64.max)")
        let store = try bench.open()
        #expect(try store.snapshot().recordedTally()?.generation.number == .max)
        let error = try #require(throws: StoreError.self) {
            var changes = ChangeSet(model: store.model)
            try changes.insert(ObjectID("Tag", key: 900), values: [:])
            _ = try store.commit(changes)
        }
        #expect(error.code == .limitExceeded, "\(error)")
        try store.close()
    }

    @Test("a correct edit is read, and the next commit writes a checksum again")
    func readsCorrectEdit() throws {
        let bench = try Bench()
        try filled(bench)
        try bench.edit("store", replacing: "\"name\": \"Ada\"", with: "\"name\": \"Ada Lovelace\"")
        let edited = try bench.bytes()
        let reader = try bench.open()
        _ = try reader.state()
        try reader.close()
        #expect(try bench.bytes() == edited)
        let store = try bench.open()
        let snapshot = try store.snapshot()
        #expect(try snapshot.count(FetchRequest("Author", where: .equal("name", to: "Ada Lovelace"))) == 1)
        snapshot.close()
        try store.change { try $0.insert(ObjectID("Tag", key: 30), values: ["name": "new"]) }
        try store.close()
        #expect(try bench.text().contains("\n, \"checksum\": "))
        // Adds a record by hand, with a key above all others and no version.
        try bench.edit(
            "store", replacing: "{\"id\": 30, \"version\": 1,",
            with: "{\"id\": 99, \"name\": \"by hand\"},\n{\"id\": 30,")
        let last = try bench.open()
        #expect(try last.reserveKeys(1, for: "Tag").lowerBound == 100)
        try last.close()
    }

    @Test("a document with other spacing and escapes reads the same")
    func readsOtherSpacing() throws {
        let bench = try Bench()
        try filled(bench)
        let store = try bench.open(readOnly: true)
        let state = try store.state()
        try store.close()
        try bench.edit("store", replacing: "\"generation\": ", with: "\r\n\t\"generation\"\n:\n  ")
        try bench.edit("store", replacing: ", \"pages\": 200", with: "\n ,\"p\\u0061ges\" : 200")
        let again = try bench.open(readOnly: true)
        #expect(try again.state() == state)
        try again.close()
    }

    @Test("a dangling reference survives reopening, but is refused in an edited document")
    func keepsDanglingReference() throws {
        let bench = try Bench()
        try filled(bench)
        let store = try bench.open()
        try store.change { $0.delete(ObjectID("Author", key: 1), version: 1) }
        let state = try store.state()
        try store.close()
        let again = try bench.open()
        #expect(try again.state() == state)
        #expect(try checkStore(again).contains { $0.severity == .violation && $0.message.contains("author") })
        try again.close()
        // This edit only removes the checksum, so the document counts as edited by hand.
        try bench.edit("store", replacing: "Book 2", with: "Book 2")
        #expect(try bench.refused().message.contains("no such Author"))
    }

    @Test("a JSON document of a newer format is refused")
    func refusesNewerFormat() throws {
        let bench = try Bench()
        try filled(bench)
        try bench.edit("store", replacing: "\"formatVersion\": 2, \"store", with: "\"formatVersion\": 4, \"store")
        let error = try bench.refused()
        #expect(error.code == .unsupportedVersion)
        #expect(error.message.contains("newer program"))
    }

    @Test("a document with an error in its model is refused, and the message names the entity or the line")
    func reportsModelErrors() throws {
        let bench = try Bench()
        try filled(bench)
        try bench.edit("store", replacing: "\"destination\": \"Tag\"", with: "\"destination\": \"Tagg\"")
        let error = try bench.refused()
        #expect(error.message.contains("Tagg"), "\(error)")
        #expect(error.message.contains("Book"), "\(error)")
        try bench.edit("store", replacing: "\"destination\": \"Tagg\"", with: "\"destination\": Tagg")
        let syntax = try bench.refused()
        let lines = try bench.text().split(separator: "\n", omittingEmptySubsequences: false)
        let line = try #require(lines.firstIndex { $0.contains("\"destination\": Tagg") }) + 1
        #expect(syntax.message.contains("line \(line)"), "\(syntax)")
    }

    @Test("deep nesting, invalid UTF-8, UTF-16 and lone surrogates in a document are refused")
    func refusesHostileText() throws {
        let bench = try Bench()
        try filled(bench)
        let text = try bench.text()
        let deep = String(repeating: "[", count: 100_000)
        for (old, new) in [
            ("\"pages\": 200", "\"pages\": \(deep)"), ("\"place\":\"shelf\"", "\"place\": \(deep)"),
            ("\"lastKeys\": {", "\"lastKeys\": {\"x\": \(deep)"), ("\"name\": \"red\"", "\"name\": \"\\ud800\""),
        ] {
            try bench.write(text.utf8)
            try bench.edit("store", replacing: old, with: new)
            let error = try bench.refused()
            #expect(error.code == .corrupted && error.message.contains("line "), "\(error)")
        }
        try bench.write(text.utf8)
        try bench.edit("store", replacing: "\"name\": \"red\"", with: "\"name\": \"@@\"")
        let plain = try bench.bytes()
        let place = try #require(plain.indices.first { plain[$0...].starts(with: "@@".utf8) })
        let wrong: [[UInt8]] = [
            [0xFF, 0xFE], [0xC0, 0xAF], [0xED, 0xA0], [0xF5, 0x80], [0x00, 0x41], [0x80, 0x41],
        ]
        for bytes in wrong {
            var changed = plain
            changed.replaceSubrange(place..<place + 2, with: bytes)
            try bench.write(changed)
            #expect(try bench.refused().code == .corrupted)
        }
        try bench.write("\u{FEFF}\(text)".utf8)
        #expect([.notAStore, .corrupted].contains(try bench.refused().code))
        var wide: [UInt8] = []
        for unit in text.utf16 { wide += [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)] }
        try bench.write(wide)
        #expect([.notAStore, .corrupted].contains(try bench.refused().code))
    }
}
