import Foundation
import Roost
import RoostCore
import Testing

@Suite("Commands on a store in which another program changed a value")
struct DamageCommandTests {
    private static let hasTerminals = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [.init("text", type: .string), .init("count", type: .integer16)],
                relationships: [.toMany("tags", to: "Tag", inverse: "notes")]),
            EntityDescription(
                "Tag", attributes: [.init("name", type: .string)],
                relationships: [.toMany("notes", to: "Note", inverse: "tags")]),
        ])
    }

    /// Creates a store `notes` and a copy `sound`; if `damaged`, changes a letter in `notes`.
    private func makeStore(_ type: String = "sqlite", in place: Workplace, damaged: Bool = true) throws {
        let model = try Self.model()
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: place.file("notes")), model: model)
        var changes = ChangeSet(model: model)
        for key in Int64(1)...9 {
            try changes.insert(
                ObjectID("Note", key: key), values: ["text": .string("written text \(key)"), "count": .int(key)])
            try changes.insert(ObjectID("Tag", key: key), values: ["name": .string("tag \(key)")])
            try changes.add(Link(key, 10 - key), to: RelationshipName("Note", name: "tags"))
        }
        _ = try store.commit(changes)
        try store.close()
        try place.write(place.bytes("notes"), to: "sound")
        guard damaged else { return }
        var bytes = try place.bytes("notes")
        let range = try #require(bytes.firstRange(of: Data("written text 3".utf8)))
        bytes[range.lowerBound] ^= 8
        try place.write(bytes, to: "notes")
    }

    @Test("commands refuse a changed value, name its object and write no file", arguments: Workplace.fileTypes)
    func refuses(type: String) throws {
        let place = try Workplace()
        try makeStore(type, in: place)
        // A JSON document is checked as a whole when it is opened, so the error names no object.
        let id = type == "json" ? "" : "Note/p3"
        let before = try place.bytes("notes")
        let dump = try place.roost("dump", "\(type):notes")
        dump.expectError(3, containing: id)
        #expect(!dump.output.contains("\"end\""))
        try place.roost("dump", "\(type):notes", "--entity=Note").expectError(3, containing: id)
        try place.roost("convert", "\(type):notes", "lmdb:other").expectError(3, containing: id)
        try place.roost("backup", "\(type):notes", "other").expectError(3, containing: id)
        try place.roost("compact", "\(type):notes").expectError(3, containing: id)
        try place.roost("diff", "\(type):notes", "\(type):sound").expectError(3, containing: id)
        try place.roost("fetch", "\(type):notes", "Note", "--id=3").expectError(3, containing: id)
        try place.roost("update", "\(type):notes", "Note", "--set=count = 3", "--yes").expectError(3, containing: id)
        try place.roost("delete", "\(type):notes", "Note", "--id=3", "--yes").expectError(3, containing: id)
        #expect(try place.bytes("notes") == before)
        #expect(try !place.names().contains("other"))
        #expect(try place.roost("check", "\(type):notes").code == 1)
        // An existing backup is kept.
        try place.write(place.bytes("sound"), to: "old")
        let old = try place.bytes("old")
        try place.roost("backup", "\(type):notes", "\(type):old", "--overwrite").expectError(3, containing: id)
        #expect(try place.bytes("old") == old)
    }

    @Test("a migration refuses a store with a changed value and leaves it unchanged", arguments: Workplace.fileTypes)
    func migrations(type: String) throws {
        let place = try Workplace()
        try makeStore(type, in: place)
        let before = try place.bytes("notes")
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note",
                attributes: [.init("text", type: .string), .init("count", type: .integer16), .init("new", type: .date)]),
            EntityDescription("Other", attributes: [.init("name", type: .string)]),
        ])
        try place.write(Data(model.document()), to: "new.roostmodel.json")
        for way in [["--output=\(type):other"], ["--in-place"], ["--in-place", "--keep-backup"]] {
            let run = try place.start(["migrate", "\(type):notes", "--to=new.roostmodel.json"] + way).wait()
            run.expectError(3)
            #expect(try place.bytes("notes") == before, "\(way)")
        }
        #expect(try !place.names().contains("other"))
    }

    @Test("commands name the entity whose recorded tally differs from its objects")
    func tallies() throws {
        let place = try Workplace()
        try makeStore(in: place, damaged: false)
        // Changes the tally of tags, but no object.
        var bytes = try place.bytes("notes")
        let model = try Self.model()
        let store = try StoreRegistry.standard.open(
            StoreLocation(type: "sqlite", path: place.file("notes")), options: StoreOptions(isReadOnly: true))
        let tag = try #require(model.entity("Tag"))
        let sum = try #require(try store.snapshot().recordedTally()).entities[tag.number].sum
        try store.close()
        let range = try #require(bytes.firstRange(of: withUnsafeBytes(of: sum.bigEndian) { Data($0) }))
        bytes[range.lowerBound] ^= 1
        try place.write(bytes, to: "notes")
        let dump = try place.roost("dump", "notes")
        dump.expectError(3, containing: "entity 'Tag'")
        #expect(!dump.output.contains("\"end\""))
        let part = try place.roost("dump", "notes", "--entity=Note")
        #expect(part.code == 0, "\(part.errors)")
        try place.roost("dump", "notes", "--entity=Tag").expectError(3, containing: "entity 'Tag'")
        try place.roost("convert", "notes", "lmdb:other").expectError(3, containing: "entity 'Tag'")
        let without = try ManagedObjectModel(entities: [
            EntityDescription("Note", attributes: [.init("text", type: .string), .init("count", type: .integer16)])
        ])
        try place.write(Data(without.document()), to: "new.roostmodel.json")
        try place.roost("migrate", "notes", "--to=new.roostmodel.json", "--output=lmdb:other", "--allow-loss")
            .expectError(3, containing: "entity 'Tag'")
        #expect(try !place.names().contains("other"))
    }

    @Test("--accept-changes copies changed values with a warning that names the object")
    func acceptsChanges() throws {
        let place = try Workplace()
        try makeStore(in: place)
        for command in [
            ["dump", "notes"], ["convert", "notes", "lmdb:copy"], ["backup", "notes", "backup"],
            ["migrate", "notes", "--to=notes", "--output=json:migrated"],
        ] {
            let run = try place.start(command + ["--accept-changes"]).wait()
            #expect(run.code == 0, "\(command): \(run.errors)")
            #expect(
                (run.output + run.errors).contains("1 object was changed by another program: Note/p3"), "\(command)")
        }
        for store in ["lmdb:copy", "backup", "json:migrated"] {
            #expect(try place.roost("check", store).code == 0)
            let found = try place.roost("fetch", store, "Note", "--where=text BEGINSWITH 'written'", "--count")
            #expect(found.output == "8\n")
        }
        let update = try place.roost("update", "notes", "Note", "--set=count = 7", "--yes", "--accept-changes")
        #expect(update.code == 0, "\(update.errors)")
        #expect(try place.roost("check", "notes").code == 0)
    }

    @Test("check --accept --yes accepts a changed value, and the next check finds nothing")
    func accept() throws {
        let place = try Workplace()
        try makeStore(in: place)
        let before = try place.bytes("notes")
        try place.roost("check", "notes", "--accept").expectError(2, containing: "--yes")
        try place.roost("check", "notes", "--yes").expectError(2, containing: "--accept")
        #expect(try place.bytes("notes") == before)
        let run = try place.roost("check", "notes", "--accept", "--yes")
        #expect(run.code == 0 && run.output.contains("Note/p3") && run.output.contains("Accepted"), "\(run.errors)")
        #expect(try place.roost("check", "notes").output == "sqlite:notes is sound.\n")
        let again = try place.roost("check", "notes", "--accept", "--yes", "--json")
        #expect(try again.json()["accepted"] as? Bool == false)
        #expect(try place.roost("check", "notes", "--accept", "--yes").output.contains("Nothing to accept"))
        let changed = try place.roost("diff", "notes", "sqlite:sound")
        #expect(changed.code == 1 && changed.output.contains("Note/p3"))
    }

    @Test("check --accept --json reports accepted objects, or that nothing changed", arguments: [true, false])
    func acceptJSON(damaged: Bool) throws {
        let place = try Workplace()
        try makeStore(in: place, damaged: damaged)
        let report = try place.roost("check", "notes", "--accept", "--yes", "--json").json()
        #expect(report["accepted"] as? Bool == damaged)
        #expect(report["objects"] as? [String] == (damaged ? ["Note/p3"] : []))
        #expect((report["entities"] as? [[String: Any]])?.count == (damaged ? 1 : 0))
        #expect((report["generation"] != nil) == damaged)
    }

    @Test("check --accept refuses stores of types that other programs do not write", arguments: ["lmdb", "json"])
    func otherTypes(type: String) throws {
        let place = try Workplace()
        try makeStore(type, in: place, damaged: false)
        let run = try place.roost("check", "\(type):notes", "--accept", "--yes")
        run.expectError(3, containing: "'\(type)'")
    }

    @Test(
        "check --accept asks on a terminal and accepts only after y",
        .enabled(if: hasTerminals, "/usr/bin/script is missing"),
        arguments: [("y", 0), ("n", 1)])
    func asking(answer: String, code: Int) throws {
        let place = try Workplace()
        try makeStore(in: place)
        let before = try place.bytes("notes")
        let script = "printf '\(answer)\\n' | /usr/bin/script -qec \"$*\" /dev/null"
        let run = try place.roost("check", "notes", "--accept", through: ["/bin/sh", "-c", script, "sh"])
        #expect(run.code == Int32(code), "\(run.output) \(run.errors)")
        #expect(run.output.contains("Note/p3") && run.output.contains("Accept these changes? [y/N]"), "\(run.output)")
        #expect(try (place.bytes("notes") == before) == (code == 1))
        #expect(try place.roost("check", "notes").code == Int32(code))
    }

    @Test(
        "a store with a damaged model in its metadata cannot be opened", arguments: ["\"attributes\"", "\"entities\""])
    func metadata(damaged text: String) throws {
        let place = try Workplace()
        try makeStore(in: place, damaged: false)
        var bytes = try place.bytes("notes")
        let range = try #require(bytes.firstRange(of: Data(text.utf8)))
        bytes[range.lowerBound + 1] ^= 1
        try place.write(bytes, to: "notes")
        try place.roost("dump", "notes").expectError(3, containing: "metadata 'model'")
        try place.roost("dump", "notes", "--accept-changes").expectError(3, containing: "metadata 'model'")
        #expect(try place.roost("check", "notes").code == 1)
    }
}
