import Foundation
import Roost
import Testing

@testable import RoostCommand

@Suite("roost update and roost delete")
struct BatchCommandTests {
    /// Creates a store with shelves, books and readers.
    ///
    /// A reader with a card cannot be deleted.
    private static func makeLibrary(_ type: String, in place: Workplace) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Shelf", attributes: [.init("name", type: .string, isOptional: false)],
                relationships: [.toMany("books", to: "Book", inverse: "shelf", deleteRule: .cascade)],
                uniquenessConstraints: [["name"]]),
            EntityDescription(
                "Book",
                attributes: [
                    .init("title", type: .string), .integer16("loans", maximum: 30000), .init("bought", type: .date),
                ],
                relationships: [.toOne("shelf", to: "Shelf", inverse: "books"), .toOne("reader", to: "Reader")]),
            EntityDescription("Comic", superentity: "Book"),
            EntityDescription(
                "Reader", relationships: [.toMany("cards", to: "Card", inverse: "reader", deleteRule: .deny)]),
            EntityDescription("Card", relationships: [.toOne("reader", to: "Reader", inverse: "cards")]),
        ])
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: place.file("library")), model: model)
        var changes = ChangeSet(model: model)
        for key in Int64(1)...3 {
            try changes.insert(ObjectID("Shelf", key: key), values: ["name": .string("shelf \(key)")])
            try changes.insert(ObjectID("Reader", key: key), values: [:])
        }
        for key in Int64(1)...12 {
            try changes.insert(
                ObjectID(key % 4 == 0 ? "Comic" : "Book", key: key),
                values: [
                    "title": .string("book \(key)"), "loans": .int(key),
                    "shelf": .objectID(ObjectID("Shelf", key: key % 3 + 1)),
                    "reader": .objectID(ObjectID("Reader", key: 2)),
                ])
        }
        try changes.insert(ObjectID("Card", key: 1), values: ["reader": .objectID(ObjectID("Reader", key: 1))])
        _ = try store.commit(changes)
        try store.close()
    }

    private func count(
        _ entity: String, where predicate: String = "TRUEPREDICATE", in place: Workplace
    ) throws -> String {
        let run = try place.roost("fetch", "library", entity, "--count", "--where=\(predicate)")
        #expect(run.code == 0, "\(run.errors)")
        return run.output.trimmingCharacters(in: .newlines)
    }

    @Test("an update sets constants and expressions on objects of subentities too", arguments: Workplace.fileTypes)
    func update(type: String) throws {
        let place = try Workplace()
        try Self.makeLibrary(type, in: place)
        let run = try place.roost(
            "update", "library", "Book", "--set=loans = loans * 2 + 1", "--set=title = \"it's\"", "--set=shelf = 2",
            "--set=bought = '2024-05-01'", "--where=loans > 3", "--yes")
        #expect(run.code == 0 && run.errors == "", "\(run.errors)")
        #expect(
            run.output == """
                entity  objects  why
                Book          6  asked for
                Comic         3  asked for
                Updated 9 objects.

                """)
        let shown = try place.roost(
            "fetch", "library", "Book", "--select=id,title,loans,shelf,bought,version", "--id=3", "--id=4",
            "--format=csv")
        #expect(
            shown.output == """
                id,title,loans,shelf,bought,version
                3,book 3,3,1,,1
                4,it's,9,2,2024-05-01T00:00:00Z,2

                """)
        #expect(try count("Book", where: "shelf = 2", in: place) == "10")
    }

    @Test("an update or a deletion with --keep-backup keeps a copy of the former store", arguments: Workplace.fileTypes)
    func backup(type: String) throws {
        let place = try Workplace()
        try Self.makeLibrary(type, in: place)
        let before = try place.roost("dump", "library").output
        func backups() throws -> [String] {
            try place.names().filter { $0.hasPrefix("library.backup-") && !$0.hasSuffix(".lock") }
        }
        // A run without changes makes no backup.
        #expect(
            try place.roost("update", "library", "Book", "--set=loans = 1", "--where=loans = 99", "--keep-backup", "-y")
                .code == 0)
        #expect(try place.roost("update", "library", "Book", "--set=loans = 1", "--keep-backup", "-n").code == 0)
        #expect(try backups() == [])
        let update = try place.roost("update", "library", "Book", "--set=loans = 1", "--keep-backup", "--yes", "--json")
        let path = try #require(try update.json()["backup"] as? String)
        #expect(try backups().map(place.file).contains { $0.hasSuffix(path) })
        #expect(try place.roost("dump", path).output == before)
        let delete = try place.roost("delete", "library", "Comic", "--keep-backup", "--yes")
        #expect(delete.output.contains("The store as it was before: library.backup-"))
        #expect(try backups().count == 2)
        for name in try backups() + ["library"] { #expect(try place.roost("check", name).code == 0) }
    }

    @Test("a dry run prints the objects of an update or deletion and changes nothing", arguments: Workplace.fileTypes)
    func dryRun(type: String) throws {
        let place = try Workplace()
        try Self.makeLibrary(type, in: place)
        let before = try place.roost("dump", "library").output
        let shelf = try place.roost("delete", "library", "Shelf", "--where=name = 'shelf 2'", "--dry-run")
        #expect(
            shelf.output == """
                entity  objects  why
                Shelf         1  asked for
                Book          3  delete rule cascade
                Comic         1  delete rule cascade
                Would delete 5 objects; nothing was changed.

                """, "\(shelf.errors)")
        let reader = try place.roost("delete", "library", "Reader", "--id=2", "-n", "--json").json()
        #expect(reader["count"] as? Int == 1)
        #expect(reader["dryRun"] as? Bool == true)
        #expect(reader["generation"] == nil)
        let related = try #require(reader["related"] as? [[String: Any]])
        #expect(related.map { "\($0["entity"] ?? "") \($0["count"] ?? "")" } == ["Book 9", "Comic 3"])
        let update = try place.roost("update", "library", "Comic", "--set=loans = NULL", "--dry-run")
        #expect(update.output.hasSuffix("Would update 3 objects; nothing was changed.\n"))
        #expect(try place.roost("dump", "library").output == before)
    }

    @Test(
        "a deletion by position, ID or entity removes those objects, and exits with 1 if an ID does not exist",
        arguments: Workplace.fileTypes)
    func delete(type: String) throws {
        let place = try Workplace()
        try Self.makeLibrary(type, in: place)
        let best = try place.roost(
            "delete", "library", "Book", "--sort=-loans", "--limit=2", "--offset=1", "--yes", "--json")
        #expect(try best.json()["generation"] as? Int == 2, "\(best.errors)")
        let left = try place.roost("fetch", "library", "Book", "--select=id", "--format=csv")
        #expect(left.output == "id\n1\n2\n3\n4\n5\n6\n7\n8\n9\n12\n")
        let missing = try place.roost("delete", "library", "Shelf", "--id=1", "--id=9", "--yes", "--quiet")
        missing.expectError(1, containing: "Shelf/p9 does not exist")
        #expect(missing.output == "")
        #expect(try count("Book", in: place) == "6")
        let everything = try place.roost("delete", "library", "Book", "-y")
        #expect(everything.code == 0 && everything.output.hasSuffix("Deleted 6 objects.\n"))
        let nothing = try place.roost("delete", "library", "Book", "-y")
        #expect(nothing.code == 0 && nothing.output == "Deleted 0 objects.\n")
        #expect(try place.roost("check", "library").code == 0)
    }

    @Test("an update or deletion with wrong options names them and changes nothing", arguments: Workplace.fileTypes)
    func wrongOptions(type: String) throws {
        let place = try Workplace()
        try Self.makeLibrary(type, in: place)
        let before = try place.roost("dump", "library").output
        try place.roost("update", "library", "Book", "--yes").expectError(2, containing: "'--set'")
        try place.roost("delete", "library", "Book").expectError(2, containing: "--yes")
        try place.roost("update", "library", "Book", "--set=loans = 1").expectError(2, containing: "--yes")
        try place.roost("delete", "library", "Book", "--id=1", "--limit=2", "-y").expectError(2, containing: "--limit")
        try place.roost("delete", "library", "Book", "--where=loans = 1", "--where=loans = 2", "-y")
            .expectError(2, containing: "more than once")
        try place.roost("delete", "library", "Boot", "-y").expectError(2, containing: "did you mean 'Book'?")
        try place.roost("update", "library", "Book", "--set=loans = 1", "--set=loans = 2", "-y")
            .expectError(2, containing: "set twice")
        #expect(try place.roost("dump", "library").output == before)
    }

    struct WrongAssignment: Sendable, CustomTestStringConvertible {
        let text: String
        let message: String
        let code: Int32

        var testDescription: String { text }
    }

    static let wrongAssignments = [
        // The parser's message is not compared here.
        WrongAssignment(text: "loans", message: "", code: 2),
        WrongAssignment(text: "loans = 1 AND title = 'x'", message: "not an assignment", code: 2),
        WrongAssignment(text: "loans < 1", message: "not an assignment", code: 2),
        WrongAssignment(text: "loan = 1", message: "did you mean 'loans'?", code: 2),
        WrongAssignment(text: "loans = 'many'", message: "loans", code: 2),
        WrongAssignment(text: "bought = 'soon'", message: "bought", code: 2),
        // These values are refused only when an object gets them.
        WrongAssignment(text: "loans = 40000", message: "loans", code: 3),
        WrongAssignment(text: "loans = 0.5", message: "Book/p1", code: 3),
        WrongAssignment(text: "shelf = 9", message: "does not exist", code: 3),
    ]

    @Test(
        "an update with a wrong assignment names the problem and changes nothing", arguments: Workplace.fileTypes,
        wrongAssignments)
    func wrongAssignment(type: String, assignment: WrongAssignment) throws {
        let place = try Workplace()
        try Self.makeLibrary(type, in: place)
        let before = try place.roost("dump", "library").output
        try place.roost("update", "library", "Book", "--set=\(assignment.text)", "--yes")
            .expectError(assignment.code, containing: assignment.message)
        #expect(try place.roost("dump", "library").output == before)
    }

    @Test("a deletion that a delete rule denies names both objects", arguments: Workplace.fileTypes)
    func deniedDeletion(type: String) throws {
        let place = try Workplace()
        try Self.makeLibrary(type, in: place)
        let before = try place.roost("dump", "library").output
        let denied = try place.roost("delete", "library", "Reader", "--yes")
        #expect(denied.code == 3)
        #expect(denied.errors.hasPrefix("roost: Reader/p1 has Card/p1 in 'Reader.cards'\n"), "\(denied.errors)")
        #expect(try place.roost("dump", "library").output == before)
    }

    @Test("an update that breaks a rule for several objects names each object", arguments: Workplace.fileTypes)
    func brokenRules(type: String) throws {
        let place = try Workplace()
        try Self.makeLibrary(type, in: place)
        let before = try place.roost("dump", "library").output
        let broken = try place.roost(
            "update", "library", "Book", "--set=loans = 30000 + loans", "--where=loans < 3", "--yes")
        #expect(broken.code == 3)
        for key in 1...2 { #expect(broken.errors.contains("'loans' of Book/p\(key) is greater than its maximum")) }
        let taken = try place.roost("update", "library", "Shelf", "--set=name = 'shelf 2'", "--yes")
        #expect(taken.code == 3)
        #expect(taken.errors.contains("Shelf/p2") && taken.errors.contains("Shelf/p1"), "\(taken.errors)")
        #expect(try place.roost("dump", "library").output == before)
    }

    /// Whether `script`, which runs a program in a terminal, is installed.
    private static let hasTerminals = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

    @Test(
        "a deletion asks on a terminal and happens only after y or yes",
        .enabled(if: hasTerminals, "/usr/bin/script is missing"),
        arguments: [("y", 0, "10"), ("yes", 0, "10"), ("n", 1, "12"), ("", 1, "12")])
    func asking(answer: String, code: Int, left: String) throws {
        let place = try Workplace()
        try Self.makeLibrary("sqlite", in: place)
        let script = "printf '\(answer)\\n' | /usr/bin/script -qec \"$*\" /dev/null"
        let run = try place.roost(
            "delete", "library", "Book", "--limit=2", through: ["/bin/sh", "-c", script, "sh"])
        #expect(run.code == Int32(code), "\(run.output) \(run.errors)")
        #expect(run.output.contains("Delete these 2 objects? [y/N]"), "\(run.output)")
        #expect(try count("Book", in: place) == left)
    }
}
