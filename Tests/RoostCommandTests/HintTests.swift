import Foundation
import Roost
import RoostCore
import Testing

@Suite("Hints in messages")
struct HintTests {
    /// Creates an empty store with a model of notes, folders and tags.
    ///
    /// The attribute `created` was named `date` in an older version of the model.
    private static func makeNotes() throws -> Workplace {
        let place = try Workplace()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note",
                attributes: [
                    .string("title"), AttributeDescription("created", type: .date).renamed(from: "date"),
                    .integer64("words"),
                ],
                relationships: [
                    .toOne("folder", to: "Folder", inverse: "notes"), .toMany("tags", to: "Tag", inverse: "notes"),
                ]),
            EntityDescription(
                "Folder", attributes: [.string("comment"), .string("name")],
                relationships: [.toMany("notes", to: "Note", inverse: "folder")]),
            EntityDescription(
                "Tag", attributes: [.string("label")],
                relationships: [
                    .toMany("notes", to: "Note", inverse: "tags"), .toOne("parent", to: "Tag"),
                ]),
        ])
        try StoreRegistry.standard.create(.sqlite(place.file("notes")), model: model).close()
        return place
    }

    @Test(
        "a fetch with a wrong name or condition says what to write",
        arguments: [
            (["--sort=nope"], "no stored property 'nope'; it has created, folder, tags, title, words"),
            (["--where=nope = 1"], "no stored property 'nope'; it has created, folder, tags, title, words"),
            (["--select=nope"], "no stored property 'nope'; it has created, entity, folder, id, title, version, words"),
            (["--where=date > '2001-01-02'"], "'created' was 'date' before"),
            (["--sort=date"], "'created' was 'date' before"), (["--select=date"], "'created' was 'date' before"),
            (["--select=avg(words)"], "did you mean 'average'?"),
            (["--select=UPPER(title)"], "did you mean 'uppercase'?"),
            (["--where=tags.label = 'x'"], "as in ANY tags.label == …"), (["--where=tags = 5"], "as in ANY tags == …"),
            (["--select=tags + 1"], "tags"),
            (["--where=folder = 'Folder 1'"], "is compared with a string, but an object"),
            (["--where=folder = 'Folder 1'"], "did you mean folder.name?"),
            (["--where=ANY tags.parent = 'x'"], "did you mean tags.parent.label?"),
        ] as [([String], String)])
    func hint(arguments: [String], message: String) throws {
        let place = try Self.makeNotes()
        try place.start(["fetch", "notes", "Note"] + arguments).wait().expectError(2, containing: message)
    }

    @Test("errors for wrong names in inserts and updates list the properties or give the new name")
    func changes() throws {
        let place = try Self.makeNotes()
        try place.roost("insert", "notes", "Note", "nope=1").expectError(2, containing: "it has created, folder, title")
        try place.roost("insert", "notes", "Note", "date=2024-05-01").expectError(2, containing: "'created' was 'date'")
        try place.roost("update", "notes", "Note", "--set=date = NULL", "--yes")
            .expectError(2, containing: "'created' was 'date' before")
    }

    @Test("a list of more than 21 names ends with the number of names left out")
    func longList() {
        let names = (1...40).map { "n\($0)" }
        #expect(listed(names).hasSuffix("n20 and 20 more"))
        #expect(listed(Array(names.prefix(21))).hasSuffix("n21"))
    }
}
