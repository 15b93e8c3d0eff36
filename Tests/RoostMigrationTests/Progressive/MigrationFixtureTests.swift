import Foundation
import Roost
import RoostConformance
import RoostMigration
import Testing

/// Tests that use `MigrationFixture` like a program that tests its own migrations.
@Suite("Fixtures of migrations")
struct MigrationFixtureTests {
    private func fixture(_ directory: TemporaryDirectory) throws -> MigrationFixture {
        let type = try #require(Sample.fileTypes.first)
        let location = StoreLocation(type: type, path: directory.file("notes-1"))
        try Notes.store(location).close()
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: location.path)
        return MigrationFixture(location, registry: .standard)
    }

    private func differences(of fixture: MigrationFixture, from expected: MigrationSnapshot) throws -> [String] {
        let options = MigrationOptions(history: try Notes.history())
        return try fixture.differences(from: expected) { copy in
            _ = try MigrationManager(registry: .standard).migrateInPlace(copy, model: expected.model, options: options)
            return copy
        }
    }

    @Test("a migrated copy of a fixture has the expected content, and the fixture does not change")
    func asExpected() throws {
        let directory = try TemporaryDirectory()
        let fixture = try fixture(directory)
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.store.path))
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        let expected = MigrationSnapshot(
            model: try Notes.v3(), counts: ["Note": 5, "Tag": 3],
            objects: [
                .init(
                    "Note", where: .equal("title", to: "note 2"),
                    values: ["paint": "c2", "rating": 20, "isDone": false],
                    targets: ["tags": [1, 3]]),
                .init("Tag", where: .equal("name", to: "tag 1"), targets: ["notes": [2, 3, 5]]),
            ])
        #expect(try differences(of: fixture, from: expected) == [])
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.store.path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == names)
    }

    @Test("a fixture is read through a symbolic link, and refused if it has a log file")
    func linked() throws {
        let directory = try TemporaryDirectory()
        let fixture = try fixture(directory)
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.store.path))
        let link = directory.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.store.path)
        let linked = MigrationFixture(StoreLocation(type: fixture.store.type, path: link), registry: .standard)
        #expect(
            try differences(of: linked, from: MigrationSnapshot(model: try Notes.v3(), counts: ["Note": 5, "Tag": 3]))
                == [])
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.store.path)) == before)
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.store.path)
        #expect(attributes[.posixPermissions] as? Int == 0o400)
        try Data().write(to: URL(fileURLWithPath: fixture.store.path + "-wal"))
        let error = #expect(throws: StoreError.self) {
            try differences(of: linked, from: MigrationSnapshot(model: try Notes.v3(), counts: [:]))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("a fixture lists the actual digest and every difference from the expectation")
    func differences() throws {
        let directory = try TemporaryDirectory()
        let fixture = try fixture(directory)
        var expected = MigrationSnapshot(
            model: try Notes.v3(), counts: ["Note": 4], digest: "not known yet",
            objects: [
                .init("Note", where: .equal("title", to: "note 2"), values: ["paint": "red"], targets: ["tags": [2]]),
                .init("Note"), .init("Note", where: .equal("title", to: "note 9")),
            ])
        let found = try differences(of: fixture, from: expected)
        #expect(found.count == 7, "\(found)")
        for text in [
            "5 objects of 'Note', not 4", "3 objects of 'Tag', not 0", "The digest is ", "'paint' is ",
            "'tags' has the members [1, 3]",
            "more than one object of 'Note'", "no object of 'Note' where",
        ] {
            #expect(found.contains { $0.contains(text) }, "\(text): \(found)")
        }
        let digest = try #require(found.first { $0.hasPrefix("The digest is ") }).split(separator: " ")[3].dropLast()
        expected = MigrationSnapshot(model: try Notes.v3(), digest: String(digest))
        #expect(try differences(of: fixture, from: expected) == [])
        let model = try Notes.v3()
        let unchanged = try fixture.differences(from: MigrationSnapshot(model: model)) { $0 }
        #expect(unchanged.count == 1 && unchanged[0].contains("does not have the model"), "\(unchanged)")
    }

    @Test("comparing a fixture with an expectation of an unknown entity or property throws")
    func senseless() throws {
        let directory = try TemporaryDirectory()
        let fixture = try fixture(directory)
        for expected in [
            MigrationSnapshot(model: try Notes.v3(), counts: ["Nota": 1]),
            MigrationSnapshot(model: try Notes.v3(), objects: [.init("Nota")]),
            MigrationSnapshot(
                model: try Notes.v3(),
                objects: [.init("Note", where: .equal("title", to: "note 2"), values: ["color": 1])]
            ),
            MigrationSnapshot(
                model: try Notes.v3(),
                objects: [.init("Note", where: .equal("title", to: "note 2"), targets: ["tag": [1]])]
            ),
        ] {
            #expect(throws: StoreError.self) { try differences(of: fixture, from: expected) }
        }
    }
}
