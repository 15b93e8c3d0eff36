import Foundation
import Roost
import RoostCore
import Testing

@Suite("Commands on stores")
struct StoreCommandTests {
    @Test("info shows identity, format, counts, links and model of a store", arguments: Workplace.fileTypes)
    func info(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "music")
        let info = try place.roost("info", "music", "--json").json()
        #expect(info["type"] as? String == type)
        #expect(info["path"] as? String == "music")
        #expect(UUID(uuidString: info["uuid"] as? String ?? "") != nil)
        #expect(info["formatVersion"] as? Int == (type == "sqlite" ? 3 : 2))
        #expect((info["capabilities"] as? [String])?.contains("writing") == true)
        #expect(info["bytes"] as? Int == (try place.bytes("music").count))
        let entities = try #require(info["entities"] as? [[String: Any]])
        #expect(entities.reduce(0) { $0 + ($1["count"] as? Int ?? 0) } == 2000)
        #expect(
            entities.compactMap { $0["name"] as? String } == ["Album", "Artist", "Band", "Genre", "Playlist", "Track"])
        let links = try #require(info["links"] as? [[String: Any]])
        #expect(
            links.compactMap { $0["relationship"] as? String } == [
                "Album.genres", "Artist.influences", "Playlist.tracks",
            ])
        let model = try #require(info["model"] as? [String: Any])
        #expect((model["entities"] as? [[String: Any]])?.count == 6)
        let text = try place.roost("info", "music")
        #expect(text.code == 0 && text.output.contains("Track"))
    }

    @Test("check of a sound store exits with 0 and has no findings", arguments: Workplace.fileTypes)
    func soundStore(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "music")
        let check = try place.roost("check", "music")
        #expect(check.code == 0 && check.errors == "")
        let report = try place.roost("check", "music", "--json").json()
        #expect(report["sound"] as? Bool == true)
        #expect((report["findings"] as? [Any])?.isEmpty == true)
    }

    @Test(
        "a conversion reports its work and gives an equal store", arguments: Workplace.fileTypes, Workplace.fileTypes)
    func conversion(from type: String, to other: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "music")
        let before = try place.bytes("music")
        let digest = try #require(try place.roost("info", "music", "--json").json()["digest"] as? String)
        let result = try place.roost("convert", "music", "\(other):copy", "--json")
        #expect(result.code == 0 && result.errors == "")
        let report = try result.json()
        #expect(report["digest"] as? String == digest)
        #expect(report["verified"] as? Bool == true)
        #expect(report["objects"] as? Int == 2000)
        #expect(report["source"] as? String == "\(type):music")
        #expect(report["destination"] as? String == "\(other):copy")
        for field in ["links", "peakPrivateBytes"] { #expect((report[field] as? Int ?? 0) > 0) }
        #expect((report["seconds"] as? Double ?? 0) > 0)
        let diff = try place.roost("diff", "music", "copy")
        #expect(diff.code == 0 && diff.output == "" && diff.errors == "")
        #expect(try place.roost("diff", "music", "copy", "--json").json()["equal"] as? Bool == true)
        #expect(try place.bytes("music") == before)
        #expect(try place.names().allSatisfy { !$0.contains("roost-tmp") })
    }

    @Test("diff names each difference without values and exits with 1", arguments: Workplace.fileTypes)
    func differences(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a")
        try place.makeStore(type, named: "b")
        let store = try StoreRegistry.standard.open(StoreLocation(type: type, path: place.file("b")))
        var changes = ChangeSet(model: store.model)
        changes.deletes = [.init(ObjectID("Genre", key: 3), version: 1)]
        try changes.update(ObjectID("Playlist", key: 2), version: 1, values: ["name": "secret value"])
        _ = try store.commit(changes)
        try store.close()
        let diff = try place.roost("diff", "a", "b", "--limit=1000")
        #expect(diff.code == 1 && diff.errors == "")
        let lines = diff.output.split(separator: "\n")
        #expect(lines.contains("- Genre/p3"))
        #expect(lines.contains("! Playlist/p2: created, name, pinned"))
        #expect(lines.contains { $0.hasPrefix("- Album.genres from Album/p") && $0.hasSuffix(" to Genre/p3") })
        #expect(!diff.output.contains("secret"))
        let first = try place.roost("diff", "a", "b", "--limit=1", "--json")
        #expect(first.code == 1)
        #expect((try first.json()["differences"] as? [Any])?.count == 1)
    }

    @Test("check lists violations of the model's rules and exits with 1", arguments: Workplace.fileTypes)
    func violations(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a")
        let store = try StoreRegistry.standard.open(StoreLocation(type: type, path: place.file("a")))
        var changes = ChangeSet(model: store.model)
        changes.deletes = [.init(ObjectID("Album", key: 5), version: 1)]
        _ = try store.commit(changes)
        try store.close()
        let check = try place.roost("check", "a")
        #expect(check.code == 1)
        #expect(check.output.contains("violation: Track/p"))
        #expect(check.output.contains("Album/p5, which does not exist"))
        let report = try place.roost("check", "a", "--json").json()
        #expect(report["damage"] as? Int == 0 && report["sound"] as? Bool == true && report["valid"] as? Bool == false)
        let findings = try #require(report["findings"] as? [[String: Any]])
        #expect(report["violations"] as? Int == findings.count && !findings.isEmpty)
        #expect(findings.allSatisfy { $0["severity"] as? String == "violation" && $0["kind"] as? String == "dangling" })
        #expect(findings.allSatisfy { $0["property"] as? String == "Track.album" && $0["count"] as? Int == 1 })
        #expect(findings.allSatisfy { ($0["object"] as? String)?.hasPrefix("Track/p") == true })
    }

    @Test("a new store has the type of its file name extension", arguments: Workplace.fileTypes)
    func typeByName(type: String) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 100)
        #expect(try place.roost("convert", "a", "b.\(type)", "--quiet").code == 0)
        #expect(try place.roost("info", "b.\(type)").output.hasPrefix("type          \(type),"))
        // A file that is not a store is not replaced, whatever its name.
        try place.write(Data("text".utf8), to: "c.\(type)")
        try place.roost("convert", "a", "c.\(type)", "--overwrite").expectError(3, containing: "c.\(type)")
        #expect(try place.bytes("c.\(type)") == Data("text".utf8))
    }

    @Test("a conversion replaces an existing store only with --overwrite", arguments: Workplace.fileTypes)
    func overwrite(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a")
        try place.makeStore(type, named: "b", objects: 500)
        let before = try place.bytes("b")
        try place.roost("convert", "a", "\(type):b").expectError(3, containing: "--overwrite")
        #expect(try place.roost("convert", "a", "\(type):b", "--dry-run").errors.contains("--overwrite"))
        // A file of another type is not replaced.
        try place.write(Data("text".utf8), to: "text")
        let other = try place.roost("convert", "a", "\(type):text")
        other.expectError(3, containing: "exists already; choose another path or remove it")
        #expect(try place.bytes("b") == before)
        #expect(try place.roost("convert", "a", "b", "--overwrite", "--quiet").output == "")
        #expect(try place.roost("diff", "a", "b").code == 0)
    }

    @Test(
        "commands refuse a destination in memory",
        arguments: [
            ["convert", "a", "memory:x"], ["convert", "a", "memory:", "--dry-run"], ["load", "memory:x"],
            ["migrate", "a", "--to=a", "--output=memory:x"],
        ])
    func memoryDestination(arguments: [String]) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 50)
        try place.start(arguments).wait().expectError(2, containing: "ends with this command")
    }

    @Test("a directory as STORE is an error that names the stores in it", arguments: Workplace.fileTypes)
    func directory(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 50)
        try place.write(Data("text".utf8), to: "text")
        try place.roost("info", ".").expectError(
            3, containing: "is a directory, not a store file; the store in it is a")
        #expect(try place.roost("convert", "a", "\(type):b", "-q").code == 0)
        let path = place.path
        try place.roost("check", path).expectError(3, containing: "the stores in it are \(path)/a, \(path)/b")
        try FileManager.default.createDirectory(atPath: place.file("empty"), withIntermediateDirectories: false)
        try place.roost("info", "empty").expectError(3, containing: "is a directory, not a store file; check the path")
    }

    @Test("diff and info of different models name the differences")
    func differentModels() throws {
        let place = try Workplace()
        func make(_ name: String, attributes: [AttributeDescription]) throws {
            let model = try ManagedObjectModel(entities: [EntityDescription("Note", attributes: attributes)])
            try StoreRegistry.standard.create(.sqlite(place.file(name)), model: model).close()
        }
        try make("a", attributes: [AttributeDescription("date", type: .date)])
        try make(
            "b", attributes: [AttributeDescription("created", type: .date).renamed(from: "date"), .string("title")])
        let result = try place.roost("diff", "a", "b")
        #expect(result.code == 1)
        #expect(
            result.output == """
                models differ in Note
                  Note.date: attribute renamed to created
                  Note.title: attribute added

                """)
        #expect(result.errors.hasPrefix("roost: note: ") && result.errors.contains("roost migrate"))
        let document = try place.roost("model", "print", "b").output
        try place.write(Data(document.utf8), to: "b.roostmodel.json")
        try place.roost("info", "a", "--model=b.roostmodel.json")
            .expectError(3, containing: "Note.date: attribute renamed to created")
    }

    @Test(
        "byte counts are exact, and counts of 1000 or more also have a short form",
        arguments: [
            (0, "0"), (999, "999"), (1000, "1000 (1.0 kB)"), (999_949, "999949 (999.9 kB)"),
            (999_950, "999950 (1.0 MB)"), (1_318_912, "1318912 (1.3 MB)"), (82_022_461_440, "82022461440 (82.0 GB)"),
            (.max, "9223372036854775807 (9.2 EB)"),
        ] as [(Int, String)])
    func byteCounts(count: Int, text: String) {
        #expect(ByteCountText.text(count) == text)
    }

    @Test("a dry run of a conversion writes nothing and exits as the conversion would", arguments: Workplace.fileTypes)
    func dryRun(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a")
        let names = try place.names()
        let plan = try place.roost("convert", "a", "\(type):b", "--dry-run", "--json")
        #expect(plan.code == 0)
        #expect(try plan.json()["objects"] as? Int == 2000)
        #expect((try plan.json()["refusals"] as? [Any])?.isEmpty == true)
        try place.roost("convert", "a", "\(type):a", "--dry-run").expectError(2, containing: "is the source")
        #expect(try place.names() == names)
        try place.write(Data("other".utf8), to: "taken")
        let refused = try place.roost("convert", "a", "\(type):taken", "--dry-run")
        refused.expectError(3, containing: "taken")
        #expect(refused.output.contains("refused"))
    }

    @Test("roost demo converts through all types and ends with equal content")
    func demonstration() throws {
        let place = try Workplace()
        let result = try place.roost("demo", "--objects=1000", "--seed=7")
        #expect(result.code == 0 && result.errors == "")
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines.first?.split(separator: " ").map(String.init) == [
                "hop", "objects", "links", "seconds", "objects/s", "bytes", "digest", "verified",
            ])
        let hops = lines.filter { $0.contains(" -> ") }
        #expect(hops.count == Workplace.fileTypes.count + 1)
        #expect(hops.allSatisfy { $0.hasSuffix("yes") })
        #expect(result.output.contains("equals the first"))
        // Only equal seeds give equal content.
        let digest = try place.roost("info", "music.sqlite", "--json").json()["digest"] as? String
        let again = try Workplace()
        #expect(try again.roost("demo", "--objects=1000", "--seed=7").code == 0)
        #expect(try again.roost("info", "music.sqlite", "--json").json()["digest"] as? String == digest)
        #expect(try again.roost("demo", "--objects=1000", "--seed=8").code == 0)
        #expect(try again.roost("info", "music.sqlite", "--json").json()["digest"] as? String != digest)
    }

    @Test("roost demo refuses a number of objects above its limit", arguments: ["1000000001", "9223372036854775807"])
    func tooManyObjects(count: String) throws {
        let place = try Workplace()
        let result = try place.roost("demo", "--objects=\(count)")
        #expect(result.code == 2)
        #expect(result.errors.contains("from 1 to 1000000000, not '\(count)'"), "\(result.errors)")
        #expect(try place.names() == [])
    }

    @Test("roost demo makes a sound store of any number of objects", arguments: [1, 2, 9, 49, 101])
    func smallLibraries(objects: Int) throws {
        let place = try Workplace()
        #expect(try place.roost("demo", "--objects=\(objects)").code == 0)
        let entities = try #require(
            try place.roost("info", "music.sqlite", "--json").json()["entities"] as? [[String: Any]])
        #expect(entities.reduce(0) { $0 + ($1["count"] as? Int ?? 0) } == objects)
        #expect(try place.roost("check", "music.sqlite").code == 0)
    }
}
