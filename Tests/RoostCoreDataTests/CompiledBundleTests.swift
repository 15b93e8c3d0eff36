import Foundation
import Roost
import RoostAppleModels
import RoostCore
import RoostCoreData
import Testing

/// Returns a compiled model with one entity.
///
/// The type of an attribute is a raw value of `NSAttributeType`, such as 700 for a string.
func compiledModel(_ entity: String, attributes: [(name: String, type: Int64)]) -> [UInt8] {
    var archive = ArchiveWriter()
    let properties = attributes.map { attribute in
        (
            attribute.name,
            archive.object(
                "NSAttributeDescription",
                fields: [
                    ("NSPropertyName", archive.string(attribute.name)), ("NSAttributeType", .int(attribute.type)),
                    ("NSIsOptional", .bool(true)),
                ])
        )
    }
    let members = archive.dictionary(properties)
    let description = archive.object(
        "NSEntityDescription", fields: [("NSEntityName", archive.string(entity)), ("NSProperties", members)])
    let entities = archive.dictionary([(entity, description)])
    let root = archive.object("NSManagedObjectModel", fields: [("NSEntities", entities)])
    return archive.archive(root)
}

extension TemporaryDirectory {
    func write(_ bytes: [UInt8], to name: String) throws {
        let location = URL(fileURLWithPath: file(name))
        try FileManager.default.createDirectory(
            at: location.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: location)
    }
}

@Suite("Compiled model bundles")
struct CompiledBundleTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Writes `Notes.momd` with `Notes`, `Notes 2` and `Notes 10`, each with one more attribute.
    static func writeBundle(to directory: TemporaryDirectory, current: String? = "Notes 2") throws -> String {
        let attributes: [(name: String, type: Int64)] = [("title", 700), ("stars", 200), ("day", 900)]
        for (index, name) in ["Notes", "Notes 2", "Notes 10"].enumerated() {
            try directory.write(
                compiledModel("Note", attributes: Array(attributes.prefix(index + 1))), to: "Notes.momd/\(name).mom")
        }
        try directory.write([0xFF, 0], to: "Notes.momd/Notes 10.omo")
        var info: [(String, TestPlist)] = [
            (
                "NSManagedObjectModel_VersionHashes",
                .dict([
                    ("Notes", .dict([("Note", .data([1, 1]))])), ("Notes 2", .dict([("Note", .data([2, 2]))])),
                    ("Notes 10", .dict([("Note", .data([3, 3]))])),
                ])
            )
        ]
        if let current { info.append(("NSManagedObjectModel_CurrentVersionName", .string(current))) }
        try directory.write(TestPlist.dict(info).binary, to: "Notes.momd/VersionInfo.plist")
        return directory.file("Notes.momd")
    }

    @Test("the versions of a .momd bundle are listed in order, and the current one is read by default")
    func listsVersions() throws {
        let path = try Self.writeBundle(to: directory)
        #expect(try CoreDataModelReader.versions(at: path) == ["Notes", "Notes 2", "Notes 10"])
        #expect(try CoreDataModelReader.currentVersion(at: path) == "Notes 2")
        #expect(
            try CoreDataModelReader.read(at: path).model.entity("Note")?.attributes.map(\.name) == ["stars", "title"])
        #expect(try CoreDataModelReader.read(at: path, version: "Notes").model.entity("Note")?.attributes.count == 1)
        #expect(
            try CoreDataModelReader.read(at: path, version: "Notes 10.mom").model.entity("Note")?.attributes.count == 3)
        let error = try failure { try CoreDataModelReader.read(at: path, version: "Notes 3") }
        #expect(error.code == .notFound && error.message.contains("Notes 2"))
        let (history, read) = (try #require(try ModelFile.history(at: path)), try ModelFile.read(path).model)
        #expect(history.versions.map(\.name) == ["Notes", "Notes 2", "Notes 10"])
        #expect(history.versions[1].model == read)
    }

    @Test("a .momd bundle without a valid current version is refused")
    func noCurrent() throws {
        let path = try Self.writeBundle(to: directory, current: nil)
        let error = try failure { try CoreDataModelReader.read(at: path) }
        #expect(error.code == .invalidModel && error.message.contains("does not say which version is current"))
        let outside = try failure {
            try CoreDataModelReader.read(at: Self.writeBundle(to: directory, current: "../Notes"))
        }
        #expect(outside.code == .invalidModel && outside.message.contains("VersionInfo.plist"))
        #expect(try failure { try CoreDataModelReader.read(at: path, version: "../Notes") }.code == .invalidModel)
    }

    @Test("a symbolic link inside a .momd bundle is refused")
    func symbolicLink() throws {
        let path = try Self.writeBundle(to: directory)
        try directory.write(compiledModel("Outside", attributes: [("x", 700)]), to: "Outside.mom")
        try FileManager.default.createSymbolicLink(
            atPath: path + "/Linked.mom", withDestinationPath: directory.file("Outside.mom"))
        #expect(try failure { try CoreDataModelReader.read(at: path, version: "Linked") }.code == .invalidModel)
    }

    @Test("a damaged model inside a .momd bundle gives an error with the file's name")
    func damagedModel() throws {
        let path = try Self.writeBundle(to: directory)
        try directory.write(Array("bplist00 and nothing more".utf8), to: "Notes.momd/Broken.mom")
        let error = try failure { try CoreDataModelReader.read(at: path, version: "Broken") }
        #expect(error.code == .corrupted && error.message.contains("Broken.mom"))
    }

    @Test("a .momd bundle of one version needs no VersionInfo.plist")
    func singleVersion() throws {
        try directory.write(compiledModel("Note", attributes: [("title", 700)]), to: "One.momd/One.mom")
        #expect(try CoreDataModelReader.currentVersion(at: directory.file("One.momd")) == "One")
        #expect(try ModelFile.read(directory.file("One.momd")).model.entities.map(\.name) == ["Note"])
        #expect(try ModelFile.history(at: directory.file("One.momd"))?.versions.count == nil)
    }

    @Test("the Spotlight and cloud encryption flags of a compiled model's properties are read")
    func spotlightAndEncryption() throws {
        var archive = ArchiveWriter()
        let name = archive.object(
            "NSAttributeDescription",
            fields: [
                ("NSPropertyName", archive.string("name")), ("NSAttributeType", .int(700)),
                ("NSIndexedBySpotlight", .bool(true)), ("NSAllowsCloudEncryption", .bool(true)),
            ])
        let friend = archive.object(
            "NSRelationshipDescription",
            fields: [
                ("NSPropertyName", archive.string("friend")), ("_NSDestinationEntityName", archive.string("Person")),
                ("NSMaxCount", .int(1)), ("NSIsOptional", .bool(true)), ("NSIndexedBySpotlight", .int(1)),
                ("NSAllowsCloudEncryption", .bool(false)),
            ])
        let properties = archive.dictionary([("name", name), ("friend", friend)])
        let person = archive.object(
            "NSEntityDescription", fields: [("NSEntityName", archive.string("Person")), ("NSProperties", properties)])
        let entities = archive.dictionary([("Person", person)])
        let root = archive.object("NSManagedObjectModel", fields: [("NSEntities", entities)])
        try directory.write(archive.archive(root), to: "Keys.mom")
        let (model, warnings) = try CoreDataModelReader.read(at: directory.file("Keys.mom"))
        #expect(warnings.map(\.description) == [])
        let entity = try #require(model.entityDescriptions.first)
        #expect(entity.attributes.map(\.isIndexedBySpotlight) == [true])
        #expect(entity.attributes.map(\.allowsCloudEncryption) == [true])
        #expect(entity.relationships.map(\.isIndexedBySpotlight) == [true])
    }
}
