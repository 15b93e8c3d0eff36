import Foundation
import Roost
import RoostAppleModels
import RoostCore
import RoostCoreData
import RoostMigration
import Testing

@Suite("Key paths and values in imported mapping models")
struct MappingKeyPathTests {
    private typealias Sample = MappingImportSample

    // MARK: Empty key paths

    private func chains(of assets: String) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Chain", attributes: [.string("name")], relationships: [.toMany("assets", to: assets)]),
            EntityDescription("Asset", attributes: [.string("symbol")]),
            EntityDescription("ChainAsset", attributes: [.string("symbol")]),
        ])
    }

    private let emptyKeyPath = [("sourcekeypath", "")]

    @Test("an empty key path means no expression, with and without the models", arguments: [true, false])
    func emptyKeyPaths(hasModels: Bool) throws {
        var file = MappingFileText()
        let name = file.attribute("name", attributes: emptyKeyPath)
        let assets = file.relationship("assets", attributes: emptyKeyPath)
        file.entity(
            from: "Chain", to: "Chain", number: 1, attributes: [("migrationpolicyclassname", "App.ChainPolicy")],
            attributeMappings: [name],
            relationshipMappings: [assets])
        let symbol = file.attribute("symbol")
        file.entity(from: "Asset", to: "Asset", number: 2, attributeMappings: [symbol])
        let (source, destination) = (try chains(of: "ChainAsset"), try chains(of: "Asset"))
        let imported = try hasModels ? Sample.read(file, from: source, to: destination) : Sample.read(file)
        #expect(imported.mapping.entityMappings[0].attributeMappings == [PropertyMapping("name")])
        #expect(imported.mapping.entityMappings[0].relationshipMappings == [PropertyMapping("assets")])
        #expect(imported.mapping.problems(from: source, to: destination).map(\.description) == [])
        #expect(!imported.warnings.contains { $0.message.contains("does not fit") })
    }

    @Test("the name of an entity mapping is ignored, with a warning, if the key path beside it is empty")
    func mappingBesideEmptyKeyPath() throws {
        var file = MappingFileText()
        let relationship = file.relationship(
            "assets", attributes: emptyKeyPath + [("sourcemappingname", "AssetToAsset")])
        file.entity(from: "Chain", to: "Chain", number: 1, relationshipMappings: [relationship])
        let imported = try Sample.read(file, from: chains(of: "ChainAsset"), to: chains(of: "Asset"))
        #expect(imported.mapping.entityMappings[0].relationshipMappings == [PropertyMapping("assets")])
        #expect(imported.warnings.contains { $0.message.contains("its key path is empty") })
    }

    @Test("an archived expression is imported although its key path is empty")
    func expressionBesideEmptyKeyPath() throws {
        var file = MappingFileText()
        let title = file.attribute(
            "name",
            attributes: emptyKeyPath + [("valueexpressiondata", ExpressionArchive.data { $0.constant(.string("x")) })])
        file.entity(from: "Chain", to: "Chain", number: 1, attributeMappings: [title])
        let imported = try Sample.read(file, from: chains(of: "ChainAsset"), to: chains(of: "Asset"))
        #expect(
            imported.mapping.entityMappings[0].attributeMappings
                == [PropertyMapping("name", expression: .constant(.string("x")))])
    }

    // MARK: The source object

    @Test("an imported expression of SELF reads the source object")
    func expressionsOfSelf() throws {
        func value(_ make: (inout ExpressionArchive) -> TestPlist) throws -> FetchRequest.Expression? {
            var file = MappingFileText()
            let title = file.attribute("title", attributes: [("valueexpressiondata", ExpressionArchive.data(make))])
            file.entity(from: "Note", to: "Note", number: 1, attributeMappings: [title])
            let imported = try Sample.read(file, from: Sample.model(), to: Sample.model(hasLength: true))
            #expect(
                imported.mapping.problems(from: try Sample.model(), to: try Sample.model(hasLength: true)).map(
                    \.description)
                    == [])
            return imported.mapping.entityMappings[0].attributeMappings[0].valueExpression
        }
        func itself(_ archive: inout ExpressionArchive) -> TestPlist {
            archive.writer.object("NSSelfExpression", fields: [("NSExpressionType", .int(1))])
        }
        #expect(try value { $0.keyPath("body", of: itself(&$0)) } == .source("body"))
        #expect(
            try value { $0.function("uppercase:", arguments: [$0.keyPath("body", of: itself(&$0))]) }
                == .function(.uppercase, [.source("body")]))
        #expect(
            try value { archive in
                let body = archive.keyPath("body", of: itself(&archive))
                let condition = archive.comparison(body, type: 4, to: archive.constant(.string("x")))
                return archive.ternary(
                    condition, whenTrue: archive.keyPath("title", of: itself(&archive)), whenFalse: body)
            }
                == .conditional(
                    .comparison(.init(left: .source("body"), operator: .equal, right: .constant(.string("x")))),
                    .source("title"),
                    .source("body")))
    }

    @Test(
        "a key path from Xcode's mapping editor starts at the source object, with or without SELF",
        arguments: ["SELF.body", "self.body", "body", "$source.body"])
    func keyPathsOfSelf(path: String) throws {
        var file = MappingFileText()
        let title = file.attribute("title", attributes: [("sourcekeypath", path)])
        file.entity(from: "Note", to: "Note", number: 1, attributeMappings: [title])
        #expect(
            try Sample.read(file, from: Sample.model(), to: Sample.model()).mapping.entityMappings[0].attributeMappings
                == [PropertyMapping("title", expression: .source("body"))])
    }

    @Test("the key path SELF of a relationship is the source object itself")
    func relationshipToSelf() throws {
        var file = MappingFileText()
        let note = file.relationship(
            "note", attributes: [("sourcemappingname", "NoteToNote"), ("sourcekeypath", "SELF")])
        file.entity(from: "Note", to: "Note", number: 1)
        file.entity(from: "Note", to: "Attachment", number: 2, relationshipMappings: [note])
        #expect(
            try Sample.read(file, from: Sample.model(), to: Sample.model()).mapping.entityMappings[1]
                .relationshipMappings
                == [
                    PropertyMapping(
                        "note",
                        expression: .destinationInstances(ofEntityMapping: "NoteToNote", from: .variable("source")))
                ])
    }

    // MARK: Values that do not fit

    /// Returns a model of notes whose size has the type `type`.
    ///
    /// The parts of a note are objects of the entity `destination`.
    private func notes(size type: AttributeType, partsOf destination: String) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [AttributeDescription("size", type: type), .string("title")],
                relationships: [.toMany("parts", to: destination)]),
            EntityDescription("Part"), EntityDescription("Piece"),
        ])
    }

    private func fileWithSize(_ more: [(String, String)] = []) -> MappingFileText {
        var file = MappingFileText()
        let (size, title) = (file.attribute("size", attributes: more), file.attribute("title"))
        let parts = file.relationship("parts")
        file.entity(
            from: "Note", to: "Note", number: 1, attributes: [("migrationpolicyclassname", "App.P")],
            attributeMappings: [size, title],
            relationshipMappings: [parts])
        file.entity(from: "Piece", to: "Piece", number: 2)
        return file
    }

    @Test("an inferred value that does not fit its property is left out with a warning")
    func misfits() throws {
        let (source, destination) = (
            try notes(size: .string, partsOf: "Part"), try notes(size: .integer32, partsOf: "Piece")
        )
        let imported = try Sample.read(fileWithSize(), from: source, to: destination)
        let note = imported.mapping.entityMappings[0]
        #expect(
            note.attributeMappings == [PropertyMapping("size"), PropertyMapping("title", expression: .source("title"))])
        #expect(note.relationshipMappings == [PropertyMapping("parts")])
        #expect(imported.mapping.problems(from: source, to: destination).map(\.description) == [])
        let warnings = imported.warnings.filter { $0.message.contains("does not fit") }
        #expect(
            warnings.map(\.element) == ["entity mapping 'NoteToNote', 'size'", "entity mapping 'NoteToNote', 'parts'"])
        #expect(warnings.allSatisfy { $0.line != nil })
        #expect(warnings.first?.message.contains("gives string values, and the attribute holds integer32") == true)
    }

    @Test(
        "a value that the file states is imported although it does not fit its property",
        arguments: [
            ("sourcekeypath", "size"), ("sourcekeypath", "SELF.size"),
            ("valueexpressiondata", ExpressionArchive.data { $0.keyPath("size", of: $0.variable("source")) }),
        ] as [(String, String)])
    func statedMisfits(attribute: String, text: String) throws {
        let (source, destination) = (
            try notes(size: .string, partsOf: "Part"), try notes(size: .integer32, partsOf: "Piece")
        )
        let imported = try Sample.read(fileWithSize([(attribute, text)]), from: source, to: destination)
        #expect(
            imported.mapping.entityMappings[0].attributeMappings[0]
                == PropertyMapping("size", expression: .source("size")))
        let problems = imported.mapping.problems(from: source, to: destination)
        #expect(problems.map(\.property) == ["size"])
    }
}
