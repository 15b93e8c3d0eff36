import Foundation
import Roost
import RoostAppleModels
import RoostCore
import RoostCoreData
import RoostMigration
import Testing

@Suite("Import of mapping models")
struct MappingImportTests {
    private typealias Sample = MappingImportSample

    // MARK: Entity mappings

    @Test("entity mappings are imported in their numbers' order, with default names, types and hashes")
    func orderAndNames() throws {
        var file = MappingFileText([
            ("sourcemodelpath", "App/A.xcdatamodel"), ("destinationmodelpath", "App/B.xcdatamodel"),
        ])
        let title = file.attribute("title")
        file.entity(from: nil, to: "Attachment", number: 3)
        file.entity(from: "Note", to: "Note", number: 2, attributeMappings: [title])
        file.entity(from: "Attachment", to: nil, number: 1)
        file.entity(
            from: "Note", to: "Attachment", number: 0,
            attributes: [("name", "Cut"), ("migrationpolicyclassname", "App.Cutter")])
        file.entity(from: "Note", to: "Note", number: 9, isOrphan: true)
        let (source, destination) = (try Sample.model(), try Sample.model(hasLength: true))
        let imported = try Sample.read(file, from: source, to: destination)
        let mappings = imported.mapping.entityMappings
        #expect(mappings.map(\.name) == ["Cut", "Attachment", "NoteToNote", "Attachment2"])
        #expect(mappings.map(\.type) == [.custom, .remove, .transform, .add])
        #expect(mappings[0].policyName == "App.Cutter")
        #expect(mappings[2].sourceVersionHash == source.entity("Note")?.versionHash)
        #expect(mappings[2].destinationVersionHash == destination.entity("Note")?.versionHash)
        #expect(mappings[2].attributeMappings == [PropertyMapping("title", expression: .source("title"))])
        #expect(imported.sourceModelPath == "App/A.xcdatamodel")
        #expect(imported.destinationModelPath == "App/B.xcdatamodel")
        #expect(imported.warnings.map(\.message).contains { $0.contains("this one is called 'Attachment2'") })
        #expect(imported.warnings.filter { $0.message.contains("does not link to it") }.count == 1)
    }

    @Test("a linked entity mapping without an entity gives no warning except that it names no entity")
    func mappingWithoutEntity() throws {
        var file = MappingFileText()
        file.entity(from: "Note", to: "Note", number: 1)
        file.entity(from: nil, to: nil, number: 2)
        let imported = try Sample.read(file, from: Sample.model(), to: Sample.model())
        #expect(imported.mapping.entityMappings.map(\.name) == ["NoteToNote"])
        #expect(imported.warnings.map(\.message) == ["it names no entity; it is left out"])
    }

    @Test("an imported mapping of an unchanged entity is a copy unless the mapping changes a value")
    func copies() throws {
        let model = try Sample.model()
        var file = MappingFileText()
        let properties = [file.attribute("title"), file.attribute("body")]
        let changed = [
            file.attribute(
                "name", attributes: [("valueexpressiondata", ExpressionArchive.data { $0.constant(.string("none")) })])
        ]
        let (attachments, note) = (file.relationship("attachments"), file.relationship("note"))
        file.entity(
            from: "Note", to: "Note", number: 1, attributeMappings: properties, relationshipMappings: [attachments])
        file.entity(
            from: "Attachment", to: "Attachment", number: 2, attributeMappings: changed, relationshipMappings: [note])
        let mappings = try Sample.read(file, from: model, to: model).mapping.entityMappings
        #expect(mappings.map(\.type) == [.copy, .transform])
        #expect(mappings[0].attributeMappings.isEmpty && mappings[0].relationshipMappings.isEmpty)
        #expect(MappingModel(mappings).problems(from: model, to: model).map(\.description) == [])
        // Without both models, the reader cannot detect copies.
        #expect(try Sample.read(file).mapping.entityMappings.map(\.type) == [.transform, .transform])
    }

    @Test("a property mapping without an expression reads the source property of the same name, if that exists")
    func automaticExpressions() throws {
        var file = MappingFileText()
        let attributes = [
            file.attribute("title"), file.attribute("length"),
            file.attribute("body", attributes: [("autogenerateexpression", "0")]),
        ]
        let relationships = [
            file.relationship("attachments"), file.relationship("others"),
            file.relationship(
                "first", attributes: [("sourcemappingname", "Copies"), ("sourcekeypath", "$source.attachments")]),
            file.relationship("self", attributes: [("sourcemappingname", "NoteToNote"), ("sourcekeypath", "$source")]),
            file.relationship(
                "all", attributes: [("sourcemappingname", "NoteToNote"), ("sourcekeypath", "a.@distinctUnionOfSets.b")]),
        ]
        file.entity(
            from: "Note", to: "Note", number: 1, attributeMappings: attributes, relationshipMappings: relationships)
        file.entity(from: "Attachment", to: "Attachment", number: 2, attributes: [("name", "Copies")])
        let mapping = try #require(
            try Sample.read(file, from: Sample.model(), to: Sample.model(hasLength: true)).mapping.entityMappings.first)
        #expect(mapping.attributeMappings.map(\.valueExpression) == [.source("title"), nil, nil])
        let expected: [FetchRequest.Expression?] = [
            .destinationInstances(ofEntityMapping: "Copies", from: .source("attachments")), nil,
            .destinationInstances(ofEntityMapping: "Copies", from: .source("attachments")),
            .destinationInstances(ofEntityMapping: "NoteToNote", from: .variable("source")),
            .destinationInstances(ofEntityMapping: "NoteToNote", from: .source("a.@distinctUnionOfObjects.b")),
        ]
        #expect(mapping.relationshipMappings.map(\.valueExpression) == expected)
    }

    @Test("a relationship to an entity with mapped subentities gets the objects of all their mappings, with a warning")
    func hierarchies() throws {
        var file = MappingFileText()
        let attachments = file.relationship("attachments")
        file.entity(from: "Note", to: "Note", number: 1, relationshipMappings: [attachments])
        file.entity(from: "Attachment", to: "Attachment", number: 2)
        file.entity(from: "Picture", to: "Picture", number: 3)
        let imported = try Sample.read(file, from: Sample.model(), to: Sample.model())
        #expect(
            imported.mapping.entityMappings[0].relationshipMappings.map(\.valueExpression)
                == [.relatedInstances(ofSourceRelationship: "attachments")])
        #expect(imported.warnings.contains { $0.message.contains("subentities with mappings of their own") })
    }

    @Test("a source filter is imported the same with and without the source model")
    func filters() throws {
        var file = MappingFileText()
        file.entity(
            from: "Note", to: "Note", number: 1,
            attributes: [("sourcefilterpredicatestring", "body != nil AND title &lt; 'm'")])
        file.entity(
            from: "Attachment", to: "Attachment", number: 2,
            attributes: [("sourcefilterpredicatestring", "TRUEPREDICATE")])
        let expected = FetchRequest.Predicate.isNotNull("body") && .less("title", than: .string("m"))
        #expect(
            try Sample.read(file, from: Sample.model()).mapping.entityMappings.map(\.sourcePredicate) == [
                expected, nil,
            ])
        #expect(try Sample.read(file).mapping.entityMappings.map(\.sourcePredicate) == [expected, nil])
    }

    @Test("a source filter of an unknown property is refused with its mapping's name")
    func wrongFilter() throws {
        var file = MappingFileText()
        file.entity(from: "Note", to: "Note", number: 1, attributes: [("sourcefilterpredicatestring", "bodi != nil")])
        let error = try failure { try Sample.read(file, from: Sample.model()) }
        #expect(error.code == .invalidMappingModel)
        #expect(error.message.contains("entity mapping 'NoteToNote': its source filter cannot be read"))
        #expect(error.message.contains("body"))
    }

    /// Archives a source expression that fetches the objects of an entity.
    private func fetch(of entity: String) -> String {
        ExpressionArchive.data { archive in
            let request = archive.function(
                "fetchRequestForSourceEntityNamed:predicateString:", of: archive.variable("manager"),
                arguments: [archive.constant(.string(entity)), archive.constant(.string("title == 'a'"))])
            let context = archive.keyPath("sourceContext", of: archive.variable("manager"))
            return archive.writer.object(
                "NSFetchRequestExpression", fields: [("NSFetchRequest", request), ("NSContext", context)])
        }
    }

    private func fileWithFetch(of entity: String) -> MappingFileText {
        var file = MappingFileText()
        file.entity(
            from: "Note", to: "Note", number: 1,
            attributes: [("sourceexpressiondata", fetch(of: entity)), ("autogenerateexpression", "0")])
        return file
    }

    @Test("an archived fetch of a mapping's own entity is imported as its filter")
    func ownFetch() throws {
        #expect(
            try Sample.read(fileWithFetch(of: "Note")).mapping.entityMappings.map(\.sourcePredicate)
                == [.equal("title", to: .string("a"))])
    }

    @Test("an archived fetch of another entity is refused")
    func foreignFetch() throws {
        let error = try failure { try Sample.read(fileWithFetch(of: "Attachment")) }
        #expect(error.message.contains("does not fetch the source entity"))
    }

    @Test("user info of entity and property mappings is imported, and lists give a warning")
    func userInfo() throws {
        var writer = ArchiveWriter()
        let info = writer.dictionary([
            ("version", writer.string("2")), ("count", .int(7)), ("list", writer.list([])),
        ])
        let data = Data(writer.archive(info)).base64EncodedString()
        var file = MappingFileText()
        let title = file.attribute("title", attributes: [("userinfodata", data)])
        file.entity(
            from: "Note", to: "Note", number: 1, attributes: [("userinfodata", data)], attributeMappings: [title])
        let imported = try Sample.read(file, from: Sample.model(), to: Sample.model())
        let expected = ["version": "2", "count": "7"]
        #expect(imported.mapping.entityMappings[0].userInfo == expected)
        #expect(imported.mapping.entityMappings[0].attributeMappings[0].userInfo == expected)
        #expect(imported.warnings.count == 2)
        #expect(imported.warnings.allSatisfy { $0.message.contains("'list' is neither text nor a number") })
    }

    @Test("MappingFile.read reads mapping documents and Apple's bundles")
    func mappingFiles() throws {
        let directory = try TemporaryDirectory()
        var file = MappingFileText()
        let title = file.attribute("title")
        file.entity(from: "Note", to: "Note", number: 1, attributeMappings: [title])
        file.entity(from: "Note", to: "Note", number: 2, isOrphan: true)
        try directory.write(file.text, to: "A.xcmappingmodel/xcmapping.xml")
        let models = (try Sample.model(), try Sample.model(hasLength: true))
        let imported = try MappingFile.read(directory.file("A.xcmappingmodel"), source: models.0, destination: models.1)
        #expect(imported.mapping.entityMappings.map(\.name) == ["NoteToNote"])
        #expect(imported.warnings.count == 1)
        let document = String(decoding: try imported.mapping.document(), as: UTF8.self)
        try directory.write(document, to: "A.roostmapping.json")
        #expect(try MappingFile.read(directory.file("A.roostmapping.json")).mapping == imported.mapping)
        #expect(try failure { try MappingFile.read(directory.path + "/B.json") }.code == .notFound)
    }

    @Test("a mapping imported without models reads source properties by name, with warnings")
    func unknownModels() throws {
        var file = MappingFileText([("sourcemodeldata", "AAAA")])
        let (title, notes) = (file.attribute("title"), file.relationship("notes"))
        file.entity(from: "Note", to: "Note", number: 1, attributeMappings: [title], relationshipMappings: [notes])
        let imported = try Sample.read(file)
        #expect(
            imported.mapping.entityMappings[0].attributeMappings == [
                PropertyMapping("title", expression: .source("title"))
            ])
        #expect(
            imported.mapping.entityMappings[0].relationshipMappings
                == [PropertyMapping("notes", expression: .relatedInstances(ofSourceRelationship: "notes"))])
        #expect(imported.warnings.filter { $0.message.contains("pass both models") }.count == 2)
    }

    // MARK: Wrong files

    private func refusal(ofText text: String) throws -> StoreError {
        let error = try failure { try CoreDataMappingReader.read(xml: Array(text.utf8), file: "f") }
        #expect(error.code == .invalidMappingModel)
        return error
    }

    @Test("an XML file that is not a mapping model is refused with the reason")
    func notAMappingModel() throws {
        #expect(try refusal(ofText: "<model/>").message.hasPrefix("f:1: the root element is not <database>"))
        #expect(
            try refusal(ofText: "<database></database>").message == "f: the file contains no mapping model.")
        #expect(try refusal(ofText: "<database>").message.contains("not closed"))
        #expect(try refusal(ofText: MappingFileText().text).message.contains("no entity mapping"))
    }

    @Test("a mapping model with two objects of one identifier is refused with the line")
    func repeatedIdentifier() throws {
        let text = "<database><object type=\"A\" id=\"z\"/>\n<object type=\"A\" id=\"z\"/></database>"
        #expect(try refusal(ofText: text).message == "f:2: two objects have the identifier 'z'.")
    }

    @Test("a mapping model that refers to a missing object is refused with its identifier")
    func missingObject() throws {
        var file = MappingFileText()
        file.entity(from: "A", to: "A", number: 1, attributeMappings: ["z999"])
        #expect(try refusal(ofText: file.text).message.contains("refers to 'z999'"))
    }

    @Test("a relationship mapping that names a missing entity mapping suggests the nearest name")
    func missingEntityMapping() throws {
        var file = MappingFileText()
        let note = file.relationship(
            "r", attributes: [("sourcemappingname", "NoteToNot"), ("sourcekeypath", "$source")])
        file.entity(from: "Note", to: "Note", number: 1, relationshipMappings: [note])
        #expect(try refusal(ofText: file.text).message.contains("did you mean 'NoteToNote'?"))
    }

    @Test("a missing mapping model and a directory without one are not found", arguments: [true, false])
    func missingFile(isDirectory: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = isDirectory ? directory.path : directory.file("no")
        #expect(try failure { try CoreDataMappingReader.read(at: path) }.code == .notFound)
    }
}
