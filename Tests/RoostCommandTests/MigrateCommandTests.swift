import Foundation
import Roost
import RoostFiles
import Testing

@Suite("roost migrate", .serialized)
struct MigrateCommandTests {
    /// The attributes of the entity `Note` in each version of a bundle, in Apple's XML.
    private static let versions = [
        "Notes":
            #"<attribute name="title" attributeType="String"/><attribute name="color" optional="YES" attributeType="String"/>"#,
        "Notes 2":
            #"<attribute name="title" attributeType="String"/><attribute name="hexColor" optional="YES" attributeType="String" elementID="color"/><attribute name="isDone" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>"#,
        "Notes 3":
            #"<attribute name="title" attributeType="String"/><attribute name="paint" optional="YES" attributeType="String" elementID="color"/><attribute name="isDone" attributeType="Boolean" defaultValueString="YES" usesScalarValueType="YES"/>"#,
        // A migration to this version cannot be inferred.
        "Notes 10":
            #"<attribute name="title" attributeType="Date" usesScalarValueType="NO"/><attribute name="paint" optional="YES" attributeType="String"/>"#,
    ]

    private func makeBundle(in place: Workplace, current: String = "Notes 3") throws {
        let bundle = place.file("Notes.xcdatamodeld")
        for (name, attributes) in Self.versions {
            let version = "\(bundle)/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
            let contents = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="1" \
                systemVersion="1" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
                    <entity name="Note" syncable="YES">\(attributes)</entity>
                </model>
                """
            try Data(contents.utf8).write(to: URL(fileURLWithPath: "\(version)/contents"))
        }
        let plist = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string></dict></plist>
            """
        try Data(plist.utf8).write(to: URL(fileURLWithPath: "\(bundle)/.xccurrentversion"))
    }

    private func makeStore(_ type: String, in place: Workplace, version: String = "Notes", count: Int = 5) throws {
        let model = try ModelFile.read(place.file("Notes.xcdatamodeld"), version: version).model
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: place.file("notes")), model: model)
        var changes = ChangeSet(model: model)
        let color = ["Notes": "color", "Notes 2": "hexColor"][version] ?? "paint"
        for key in 1...count {
            try changes.insert(
                ObjectID("Note", key: Int64(key)),
                values: ["title": .string("note \(key)"), color: .string("c\(key)")])
        }
        _ = try store.commit(changes)
        try store.close()
    }

    private func paints(_ column: String = "paint", of store: String, in place: Workplace) throws -> String {
        let result = try place.roost("fetch", store, "Note", "--select=\(column)", "--format=csv")
        #expect(result.code == 0, "\(result.errors)")
        return result.output.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ")
    }

    @Test(
        "an in-place migration to a bundle's current version is verified and keeps a backup, and a second does nothing",
        arguments: Workplace.fileTypes)
    func wholeWay(type: String) throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore(type, in: place)
        let before = try place.bytes("notes")
        let plan = try place.roost("migrate", "notes", "--to=Notes.xcdatamodeld", "--in-place", "--dry-run")
        #expect(plan.code == 0 && plan.output.hasPrefix("Would migrate \(type):notes in place.\n"), "\(plan)")
        #expect(plan.output.contains("way       inferred directly from 'Notes' to 'Notes 3'"), "\(plan.output)")
        #expect(try place.bytes("notes") == before)
        let result = try place.roost("migrate", "notes", "--to=Notes.xcdatamodeld", "--in-place", "--keep-backup")
        #expect(result.code == 0 && result.errors == "", "\(result)")
        #expect(result.output.hasPrefix("Migrated \(type):notes in place.\n"), "\(result.output)")
        #expect(result.output.contains("verified by reading it again"))
        #expect(try paints(of: "notes", in: place) == "c1 c2 c3 c4 c5")
        let backup = try #require(try place.names().first { $0.hasPrefix("notes.backup-") && !$0.hasSuffix(".lock") })
        #expect(try place.bytes(backup) == before)
        let again = try place.roost("migrate", "notes", "--to=Notes.xcdatamodeld", "--in-place", "--json")
        #expect(again.code == 0)
        #expect(try again.json()["path"] as? String == "nothing")
        let text = try place.roost("migrate", "notes", "--to=Notes.xcdatamodeld", "--in-place")
        #expect(text.output == "\(type):notes has the model already; nothing was done.\n")
        #expect(try place.roost("check", "notes").code == 0)
        #expect(try place.names().allSatisfy { !$0.contains("roost-tmp") })
    }

    @Test("a migration into another store of any type leaves the source unchanged", arguments: Workplace.fileTypes)
    func output(type: String) throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place)
        let before = try place.bytes("notes")
        let result = try place.roost(
            "migrate", "notes", "--to=Notes.xcdatamodeld@Notes 2", "--output=\(type):new", "--json")
        #expect(result.code == 0, "\(result.errors)")
        let report = try result.json()
        #expect(report["objects"] as? Int == 5 && report["verified"] as? Bool == true)
        #expect(report["mappedDigest"] as? String == report["destinationDigest"] as? String)
        #expect(try paints("hexColor", of: "new", in: place) == "c1 c2 c3 c4 c5")
        #expect(try place.bytes("notes") == before)
        try place.roost("migrate", "notes", "--to=Notes.xcdatamodeld", "--output=\(type):new")
            .expectError(3, containing: "exists already")
        #expect(
            try place.roost(
                "migrate", "notes", "--to=Notes.xcdatamodeld", "--output=\(type):new", "--overwrite", "--quiet"
            ).output == "")
        #expect(try paints(of: "new", in: place) == "c1 c2 c3 c4 c5")
    }

    @Test("a migration with --direct or to a single model takes one step")
    func direct() throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place)
        #expect(
            try place.roost("migrate", "notes", "--to=Notes.xcdatamodeld", "--output=sqlite:notes-stepwise").code == 0)
        let result = try place.roost(
            "migrate", "notes", "--to=Notes.xcdatamodeld", "--output=sqlite:a", "--direct", "--json")
        #expect(result.code == 0, "\(result.errors)")
        #expect((try result.json()["steps"] as? [Any])?.isEmpty == true)
        // No step has a mapping model, so one mapping model is inferred for both steps.
        #expect(try paints("isDone", of: "a", in: place) == paints("isDone", of: "notes-stepwise", in: place))
        let model = try place.roost("model", "print", "Notes.xcdatamodeld", "--model-version=Notes 2")
        try place.write(Data(model.output.utf8), to: "two.roostmodel.json")
        #expect(try place.roost("migrate", "notes", "--to=two.roostmodel.json", "--output=sqlite:b").code == 0)
        #expect(try paints("hexColor", of: "b", in: place) == "c1 c2 c3 c4 c5")
        #expect(try place.roost("migrate", "notes", "--to=b", "--in-place").code == 0)
        #expect(try place.roost("diff", "notes", "b").code == 0)
    }

    /// Writes a mapping model from 'Notes 3' to 'Notes 10'.
    private func writeMapping(as name: String, policy: String? = nil, in place: Workplace) throws {
        let more = policy.map { ", \"policy\": \"\($0)\"" } ?? ""
        let text = """
            {"formatVersion": 1, "entityMappings": [{"name": "NoteToNote", "type": "transform", "source": "Note",
             "destination": "Note"\(more), "attributes": {"title": {"value": "now()"}, "paint": {"value": "$source.paint"}}}]}
            """
        try place.write(Data(text.utf8), to: name)
    }

    @Test("a migration refuses a step without a mapping, and a mapping with a policy")
    func refusedMapping() throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place)
        let to = "--to=Notes.xcdatamodeld@Notes 10"
        try place.roost("migrate", "notes", to, "--in-place").expectError(3, containing: "'Notes 3' to 'Notes 10'")
        try writeMapping(as: "code.roostmapping.json", policy: "NotePolicy", in: place)
        try place.roost("migrate", "notes", to, "--in-place", "--mapping=code.roostmapping.json")
            .expectError(3, containing: "the policy 'NotePolicy', which is code")
    }

    @Test(
        "a migration refuses wrong or unsuitable versions for a mapping model",
        arguments: [
            ("Notes 3", 2, "FILE@FROM..TO"), ("Notes 4..Notes 10", 2, "did you mean"),
            ("Notes 10..Notes 3", 2, "later version"), ("Notes..Notes 2", 3, "paint"),
        ] as [(String, Int32, String)])
    func wrongMappingVersions(versions: String, code: Int32, message: String) throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place)
        try writeMapping(as: "plain.roostmapping.json", in: place)
        try place.roost(
            "migrate", "notes", "--to=Notes.xcdatamodeld@Notes 10", "--in-place",
            "--mapping=plain.roostmapping.json@\(versions)"
        ).expectError(code, containing: message)
    }

    @Test("a migration applies a mapping model to the step that fits, with or without stated versions")
    func mapping() throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place)
        try writeMapping(as: "plain.roostmapping.json", in: place)
        let to = "--to=Notes.xcdatamodeld@Notes 10"
        let stated = try place.roost(
            "migrate", "notes", to, "--output=json:stated", "--mapping=plain.roostmapping.json@Notes 3..Notes 10",
            "--allow-loss")
        #expect(stated.code == 0, "\(stated.errors)")
        let result = try place.roost(
            "migrate", "notes", to, "--in-place", "--mapping=plain.roostmapping.json", "--allow-loss", "--json")
        #expect(result.code == 0, "\(result.errors)")
        #expect((try result.json()["steps"] as? [Any])?.count == 2)
        #expect(try paints(of: "notes", in: place) == "c1 c2 c3 c4 c5")
        let again = try place.roost("migrate", "notes", to, "--in-place", "--mapping=plain.roostmapping.json")
        #expect(again.code == 0 && again.errors.contains("no mapping was used"), "\(again)")
    }

    private static let titleMapping = """
        {"formatVersion": 1, "entityMappings": [{"name": "NoteToNote", "type": "transform", "source": "Note",
         "destination": "Note", "attributes": {"title": {"value": "$source.title"}}}]}
        """

    @Test("a migration warns of a mapping model for versions before the version of the store")
    func unusedMapping() throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place, version: "Notes 3")
        try place.write(Data(Self.titleMapping.utf8), to: "old.roostmapping.json")
        try place.write(
            Data(Self.titleMapping.replacing("$source.title", with: "now()").utf8), to: "new.roostmapping.json")
        let unused = try place.roost(
            "migrate", "notes", "--to=Notes.xcdatamodeld@Notes 10", "--in-place", "--dry-run", "--allow-loss",
            "--mapping=old.roostmapping.json@Notes..Notes 2", "--mapping=new.roostmapping.json@Notes 3..Notes 10")
        #expect(unused.code == 0, "\(unused.errors)")
        #expect(unused.errors.contains("Notes..Notes 2' is not used: it maps 'Notes' to 'Notes 2'"))
        #expect(!unused.errors.contains("new.roostmapping"))
    }

    @Test("a migration to an equivalent model keeps the store's model and names the difference")
    func keptModel() throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place, version: "Notes 3")
        var entities = try ModelFile.read(place.file("Notes.xcdatamodeld"), version: "Notes 3").model.entityDescriptions
        entities[0].fetchIndexes = [FetchIndexDescription("byTitle", on: "title")]
        try place.write(Data(try ManagedObjectModel(entities: entities).document()), to: "indexed.json")
        let kept = try place.roost("migrate", "notes", "--to=indexed.json", "--in-place")
        #expect(kept.code == 0 && kept.output.contains("keeps its own model"), "\(kept.output)\(kept.errors)")
        #expect(kept.output.contains("Note.byTitle: fetch index added"))
        try place.roost("migrate", "notes", "--to=indexed.json@Notes 3", "--in-place")
            .expectError(2, containing: "has no versions")
    }

    @Test("a plan of several steps names the requirements of later steps")
    func laterRequirements() throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place, version: "Notes")
        // A step with a mapping model of its own stays separate from the next.
        try place.write(
            Data(
                Self.titleMapping.replacing(
                    "{\"title\"", with: "{\"hexColor\": {\"value\": \"$source.color\"}, \"title\""
                ).utf8),
            to: "first.roostmapping.json")
        try place.write(
            Data(
                Self.titleMapping.replacing(
                    "\"title\": {\"value\": \"$source.title\"}", with: "\"paint\": {\"value\": \"'x'\"}"
                ).utf8),
            to: "last.roostmapping.json")
        let plan = try place.roost(
            "migrate", "notes", "--to=Notes.xcdatamodeld", "--in-place", "--dry-run", "--json",
            "--mapping=first.roostmapping.json@Notes..Notes 2", "--mapping=last.roostmapping.json@Notes 2..Notes 3"
        ).json()
        #expect((plan["steps"] as? [Any])?.count == 2)
        let warnings = try #require(plan["warnings"] as? [String])
        #expect(warnings.contains { $0.hasPrefix("Notes 3: Note.title") }, "\(warnings)")
        #expect(warnings.contains { $0.hasPrefix("Only the first step was tried") })
        #expect(plan["links"] is NSNull && plan["objects"] is NSNull)
    }

    @Test(
        "a migration that loses data is refused without --allow-loss, also with a backup",
        arguments: Workplace.fileTypes)
    func losses(type: String) throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore(type, in: place)
        let before = try place.bytes("notes")
        let other = #"{"formatVersion": 1, "entities": {"Other": {"attributes": {"x": {"type": "string"}}}}}"#
        try place.write(Data(other.utf8), to: "wrong.roostmodel.json")
        for arguments in [["--in-place"], ["--in-place", "--keep-backup"], ["--output=\(type):new"]] {
            let refused = try place.start(["migrate", "notes", "--to=wrong.roostmodel.json"] + arguments).wait()
            refused.expectError(3, containing: "--allow-loss")
            #expect(refused.errors.contains("5 objects"), "\(refused.errors)")
        }
        #expect(try place.bytes("notes") == before)
        #expect(try place.names().filter { $0.hasPrefix("notes.backup") || $0 == "new" } == [])
        let plan = try place.roost("migrate", "notes", "--to=wrong.roostmodel.json", "--in-place", "--dry-run")
        #expect(plan.code == 3)
        #expect(plan.output.split(separator: "\n")[1].contains("Note: All objects"), "\(plan.output)")
        let dropped = try place.roost(
            "migrate", "notes", "--to=wrong.roostmodel.json", "--in-place", "--allow-loss", "--json")
        #expect(dropped.code == 0, "\(dropped.errors)")
        let losses = try #require(try dropped.json()["lossCounts"] as? [[String: Any]])
        #expect(losses.count == 1 && losses[0]["count"] as? Int == 5 && losses[0]["entity"] as? String == "Note")
    }

    /// Whether `script`, which runs a program in a terminal, is installed.
    private static let hasTerminals = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

    @Test(
        "a migration that loses data asks on a terminal and happens only after y",
        .enabled(if: hasTerminals, "/usr/bin/script is missing"), arguments: ["y", "n"])
    func asks(answer: String) throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place)
        let before = try place.bytes("notes")
        let other = #"{"formatVersion": 1, "entities": {"Other": {"attributes": {"x": {"type": "string"}}}}}"#
        try place.write(Data(other.utf8), to: "wrong.roostmodel.json")
        let script = "printf '\(answer)\\n' | /usr/bin/script -qec \"$*\" /dev/null"
        let asked = try place.roost(
            "migrate", "notes", "--to=wrong.roostmodel.json", "--in-place", through: ["/bin/sh", "-c", script, "sh"])
        #expect(asked.output.contains("(5 objects") && asked.output.contains("[y/N]"), "\(asked.output)")
        #expect(asked.code == (answer == "y" ? 0 : 1), "\(asked.output)")
        #expect(try (place.bytes("notes") == before) == (answer == "n"))
    }

    @Test(
        "a migration with wrong options names them and changes nothing",
        arguments: [
            ([], "--to is missing"), (["--to=x"], "--in-place, or --output"),
            (["--to=x", "--in-place", "--output=sqlite:y"], "exclude each other"),
            (["--to=x", "--output=sqlite:y", "--keep-backup"], "needs '--in-place'"),
            (["--to=x", "--in-place", "--overwrite"], "needs '--output'"),
            (["--to=x", "--in-place", "--skip-damaged"], "not done in place"),
        ] as [([String], String)])
    func wrongOptions(arguments: [String], message: String) throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place, version: "Notes 2")
        let before = try place.bytes("notes")
        try place.start(["migrate", "notes"] + arguments).wait().expectError(2, containing: message)
        #expect(try place.bytes("notes") == before)
    }

    @Test("a migration to an older, unknown or missing model changes nothing")
    func wrongTargets() throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place, version: "Notes 2")
        let before = try place.bytes("notes")
        let to = "--to=Notes.xcdatamodeld"
        try place.roost("migrate", "notes", "\(to)@Notes", "--in-place").expectError(
            3, containing: "is newer than 'Notes'")
        try place.roost("migrate", "notes", "\(to)@Nots", "--in-place").expectError(2, containing: "Nots")
        try place.roost("migrate", "nothing", to, "--in-place").expectError(3, containing: "no such file")
        try place.roost("migrate", "notes", "--to=nothing.json", "--in-place").expectError(
            3, containing: "nothing.json")
        try place.makeStore("sqlite", named: "music", objects: 20)
        try place.roost("migrate", "music", to, "--in-place").expectError(3, containing: "is none of the versions")
        #expect(try place.bytes("notes") == before)
        #expect(try place.names().allSatisfy { !$0.contains("roost-tmp") && !$0.contains("backup") })
    }

    @Test("a migration with --direct can plan a step to an older version")
    func olderVersion() throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore("sqlite", in: place, version: "Notes 2")
        let before = try place.bytes("notes")
        let plan = try place.roost(
            "migrate", "notes", "--to=Notes.xcdatamodeld@Notes", "--direct", "--in-place", "--dry-run", "--json")
        #expect(plan.code == 0, "\(plan.errors)")
        #expect(try place.bytes("notes") == before)
    }

    @Test("a migration that three processes start happens once", arguments: Workplace.fileTypes)
    func together(type: String) throws {
        let place = try Workplace()
        try makeBundle(in: place)
        try makeStore(type, in: place, count: 2000)
        let arguments = [
            "migrate", "notes", "--to=Notes.xcdatamodeld", "--in-place", "--keep-backup", "--json", "--timeout=120",
        ]
        let runs = try (0..<3).map { _ in try place.start(arguments) }
        let results = try runs.map { try $0.wait() }
        for result in results { #expect(result.code == 0, "\(result.errors)") }
        let paths = try results.map { try $0.json()["path"] as? String }
        #expect(paths.filter { $0 == "onePass" }.count == 1 && paths.filter { $0 == "nothing" }.count == 2, "\(paths)")
        #expect(try place.names().filter { $0.contains("backup") && !$0.hasSuffix(".lock") }.count == 1)
        #expect(try place.roost("check", "notes").code == 0)
    }
}
