import Foundation
import Roost
import RoostAppleModels
import RoostCore
import RoostCoreData
import RoostMigration
import Testing

@Suite("Import of mapping models")
struct MappingImportTests {
    /// Note(title, body, image; attachments) and Attachment(note), or with `extra` an attribute
    /// more.
    private static func model(extra: Bool = false) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Note",
                attributes: [.string("title"), .string("body", isOptional: true)]
                    + (extra ? [.integer32("length")] : []),
                relationships: [.toMany("attachments", to: "Attachment", inverse: "note")]),
            EntityDescription(
                "Attachment", attributes: [.string("name")],
                relationships: [.toOne("note", to: "Note", inverse: "attachments")]),
            EntityDescription("Picture", superentity: "Attachment"),
        ])
    }

    private func read(
        _ file: MappingFileText, _ source: ManagedObjectModel? = nil, _ destination: ManagedObjectModel? = nil
    ) throws -> CoreDataMappingModel {
        try CoreDataMappingReader.read(
            xml: file.bytes, file: "X/xcmapping.xml", source: source, destination: destination)
    }

    @Test("entity mappings are imported in their numbers' order, with default names, types and hashes")
    func orderAndNames() throws {
        var file = MappingFileText([
            ("sourcemodelpath", "App/A.xcdatamodel"), ("destinationmodelpath", "App/B.xcdatamodel"),
        ])
        let title = file.attribute("title")
        file.entity(nil, "Attachment", number: 3)
        file.entity("Note", "Note", number: 2, attributeMappings: [title])
        file.entity("Attachment", nil, number: 1)
        file.entity("Note", "Attachment", number: 0, [("name", "Cut"), ("migrationpolicyclassname", "App.Cutter")])
        file.entity("Note", "Note", number: 9, isOrphan: true)
        let (source, destination) = (try Self.model(), try Self.model(extra: true))
        let imported = try read(file, source, destination)
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

    @Test("an imported mapping of an unchanged entity copies it unless it changes a value")
    func copies() throws {
        let model = try Self.model()
        var file = MappingFileText()
        let properties = [file.attribute("title"), file.attribute("body")]
        let changed = [
            file.attribute("name", [("valueexpressiondata", ExpressionArchive.data { $0.constant(.string("none")) })])
        ]
        let (attachments, note) = (file.relationship("attachments"), file.relationship("note"))
        file.entity(
            "Note", "Note", number: 1, attributeMappings: properties, relationshipMappings: [attachments])
        file.entity("Attachment", "Attachment", number: 2, attributeMappings: changed, relationshipMappings: [note])
        let mappings = try read(file, model, model).mapping.entityMappings
        #expect(mappings.map(\.type) == [.copy, .transform])
        #expect(mappings[0].attributeMappings.isEmpty && mappings[0].relationshipMappings.isEmpty)
        #expect(MappingModel(mappings).problems(from: model, to: model).map(\.description) == [])
        // Without both models, the reader cannot know.
        #expect(try read(file).mapping.entityMappings.map(\.type) == [.transform, .transform])
    }

    @Test("an imported property mapping without an expression reads the source property of its name")
    func automaticExpressions() throws {
        var file = MappingFileText()
        let attributes = [
            file.attribute("title"), file.attribute("length"),
            file.attribute("body", [("autogenerateexpression", "0")]),
        ]
        let relationships = [
            file.relationship("attachments"), file.relationship("others"),
            file.relationship("first", [("sourcemappingname", "Copies"), ("sourcekeypath", "$source.attachments")]),
            file.relationship("self", [("sourcemappingname", "NoteToNote"), ("sourcekeypath", "$source")]),
            file.relationship(
                "all", [("sourcemappingname", "NoteToNote"), ("sourcekeypath", "a.@distinctUnionOfSets.b")]),
        ]
        file.entity(
            "Note", "Note", number: 1, attributeMappings: attributes, relationshipMappings: relationships)
        file.entity("Attachment", "Attachment", number: 2, [("name", "Copies")])
        let mapping = try #require(try read(file, Self.model(), Self.model(extra: true)).mapping.entityMappings.first)
        #expect(mapping.attributeMappings.map(\.valueExpression) == [.source("title"), nil, nil])
        let expected: [FetchRequest.Expression?] = [
            .destinationInstances(ofEntityMapping: "Copies", from: .source("attachments")), nil,
            .destinationInstances(ofEntityMapping: "Copies", from: .source("attachments")),
            .destinationInstances(ofEntityMapping: "NoteToNote", from: .variable("source")),
            .destinationInstances(ofEntityMapping: "NoteToNote", from: .source("a.@distinctUnionOfObjects.b")),
        ]
        #expect(mapping.relationshipMappings.map(\.valueExpression) == expected)
    }

    @Test("an empty key path means no expression, since a policy makes the value")
    func emptyKeyPaths() throws {
        func chains(_ assets: String) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Chain", attributes: [.string("name")], relationships: [.toMany("assets", to: assets)]),
                EntityDescription("Asset", attributes: [.string("symbol")]),
                EntityDescription("ChainAsset", attributes: [.string("symbol")]),
            ])
        }
        var file = MappingFileText()
        let cleared = [("sourcekeypath", "")]
        let name = file.attribute("name", cleared)
        let assets = file.relationship("assets", cleared)
        file.entity(
            "Chain", "Chain", number: 1, [("migrationpolicyclassname", "App.ChainPolicy")], attributeMappings: [name],
            relationshipMappings: [assets])
        let symbol = file.attribute("symbol")
        file.entity("Asset", "Asset", number: 2, attributeMappings: [symbol])
        let (source, destination) = (try chains("ChainAsset"), try chains("Asset"))
        for imported in [try read(file, source, destination), try read(file)] {
            #expect(imported.mapping.entityMappings[0].attributeMappings == [PropertyMapping("name")])
            #expect(imported.mapping.entityMappings[0].relationshipMappings == [PropertyMapping("assets")])
            #expect(imported.mapping.problems(from: source, to: destination).map(\.description) == [])
            #expect(!imported.warnings.contains { $0.message.contains("does not fit") })
        }
        // A mapping that is named all the same is not used, and that is said.
        var named = MappingFileText()
        let relationship = named.relationship("assets", cleared + [("sourcemappingname", "AssetToAsset")])
        named.entity("Chain", "Chain", number: 1, relationshipMappings: [relationship])
        let imported = try read(named, source, destination)
        #expect(imported.mapping.entityMappings[0].relationshipMappings == [PropertyMapping("assets")])
        #expect(imported.warnings.contains { $0.message.contains("its key path is empty") })
        // What is written counts, whatever the key path is.
        var written = MappingFileText()
        let title = written.attribute(
            "name", cleared + [("valueexpressiondata", ExpressionArchive.data { $0.constant(.string("x")) })])
        written.entity("Chain", "Chain", number: 1, attributeMappings: [title])
        #expect(
            try read(written, source, destination).mapping.entityMappings[0].attributeMappings
                == [PropertyMapping("name", expression: .constant(.string("x")))])
    }

    @Test("an imported expression of SELF reads the source object")
    func expressionsOfSelf() throws {
        func value(_ make: (inout ExpressionArchive) -> TestPlist) throws -> FetchRequest.Expression? {
            var file = MappingFileText()
            let title = file.attribute("title", [("valueexpressiondata", ExpressionArchive.data(make))])
            file.entity("Note", "Note", number: 1, attributeMappings: [title])
            let imported = try read(file, Self.model(), Self.model(extra: true))
            #expect(
                imported.mapping.problems(from: try Self.model(), to: try Self.model(extra: true)).map(\.description)
                    == [])
            return imported.mapping.entityMappings[0].attributeMappings[0].valueExpression
        }
        func itself(_ archive: inout ExpressionArchive) -> TestPlist {
            archive.writer.object("NSSelfExpression", [("NSExpressionType", .int(1))])
        }
        #expect(try value { $0.keyPath("body", of: itself(&$0)) } == .source("body"))
        #expect(
            try value { $0.function("uppercase:", [$0.keyPath("body", of: itself(&$0))]) }
                == .function(.uppercase, [.source("body")]))
        #expect(
            try value { archive in
                let body = archive.keyPath("body", of: itself(&archive))
                let condition = archive.comparison(body, 4, archive.constant(.string("x")))
                return archive.ternary(condition, archive.keyPath("title", of: itself(&archive)), body)
            }
                == .conditional(
                    .comparison(.init(left: .source("body"), operator: .equal, right: .constant(.string("x")))),
                    .source("title"),
                    .source("body")))
    }

    @Test("key paths of the editor start at the source object, with or without SELF")
    func keyPathsOfSelf() throws {
        for path in ["SELF.body", "self.body", "body", "$source.body"] {
            var file = MappingFileText()
            let title = file.attribute("title", [("sourcekeypath", path)])
            file.entity("Note", "Note", number: 1, attributeMappings: [title])
            #expect(
                try read(file, Self.model(), Self.model()).mapping.entityMappings[0].attributeMappings
                    == [PropertyMapping("title", expression: .source("body"))], "\(path)")
        }
        var file = MappingFileText()
        let note = file.relationship("note", [("sourcemappingname", "NoteToNote"), ("sourcekeypath", "SELF")])
        file.entity("Note", "Note", number: 1)
        file.entity("Note", "Attachment", number: 2, relationshipMappings: [note])
        #expect(
            try read(file, Self.model(), Self.model()).mapping.entityMappings[1].relationshipMappings
                == [
                    PropertyMapping(
                        "note",
                        expression: .destinationInstances(ofEntityMapping: "NoteToNote", from: .variable("source")))
                ])
    }

    @Test(
        "an expression that the file does not have and that does not fit is left out with a warning; one that it has stays"
    )
    func misfits() throws {
        func model(_ type: AttributeType, _ destination: String) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Note", attributes: [AttributeDescription("size", type: type), .string("title")],
                    relationships: [.toMany("parts", to: destination)]),
                EntityDescription("Part"), EntityDescription("Piece"),
            ])
        }
        let (source, destination) = (try model(.string, "Part"), try model(.integer32, "Piece"))
        func file(_ more: [(String, String)]) -> MappingFileText {
            var file = MappingFileText()
            let (size, title) = (file.attribute("size", more), file.attribute("title"))
            let parts = file.relationship("parts")
            file.entity(
                "Note", "Note", number: 1, [("migrationpolicyclassname", "App.P")], attributeMappings: [size, title],
                relationshipMappings: [parts])
            file.entity("Piece", "Piece", number: 2)
            return file
        }
        let imported = try read(file([]), source, destination)
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
        // The same, said by the file.
        for written in [
            [("sourcekeypath", "size")], [("sourcekeypath", "SELF.size")],
            [("valueexpressiondata", ExpressionArchive.data { $0.keyPath("size", of: $0.variable("source")) })],
        ] {
            let imported = try read(file(written), source, destination)
            #expect(
                imported.mapping.entityMappings[0].attributeMappings[0]
                    == PropertyMapping("size", expression: .source("size")))
            let problems = imported.mapping.problems(from: source, to: destination)
            #expect(problems.map(\.property) == ["size"])
        }
    }

    @Test("a relationship to an entity with mapped subentities uses every mapping, with a warning")
    func hierarchies() throws {
        var file = MappingFileText()
        let attachments = file.relationship("attachments")
        file.entity("Note", "Note", number: 1, relationshipMappings: [attachments])
        file.entity("Attachment", "Attachment", number: 2)
        file.entity("Picture", "Picture", number: 3)
        let imported = try read(file, Self.model(), Self.model())
        #expect(
            imported.mapping.entityMappings[0].relationshipMappings.map(\.valueExpression)
                == [.relatedInstances(ofSourceRelationship: "attachments")])
        #expect(imported.warnings.contains { $0.message.contains("subentities with mappings of their own") })
    }

    @Test("a filter is read with the types of the source model, where there is one")
    func filters() throws {
        var file = MappingFileText()
        file.entity("Note", "Note", number: 1, [("sourcefilterpredicatestring", "body != nil AND title &lt; 'm'")])
        file.entity("Attachment", "Attachment", number: 2, [("sourcefilterpredicatestring", "TRUEPREDICATE")])
        let expected = FetchRequest.Predicate.isNotNull("body") && .less("title", than: .string("m"))
        #expect(try read(file, Self.model()).mapping.entityMappings.map(\.sourcePredicate) == [expected, nil])
        #expect(try read(file).mapping.entityMappings.map(\.sourcePredicate) == [expected, nil])

        var wrong = MappingFileText()
        wrong.entity("Note", "Note", number: 1, [("sourcefilterpredicatestring", "bodi != nil")])
        let error = try failure { try read(wrong, Self.model()) }
        #expect(error.code == .invalidMappingModel)
        #expect(error.message.contains("entity mapping 'NoteToNote': its source filter cannot be read"))
        #expect(error.message.contains("body"))
    }

    @Test("a source expression that fetches the entity itself with a predicate is a filter; every other one is refused")
    func writtenFetches() throws {
        func fetch(_ entity: String) -> String {
            ExpressionArchive.data { archive in
                let request = archive.function(
                    "fetchRequestForSourceEntityNamed:predicateString:", of: archive.variable("manager"),
                    [archive.constant(.string(entity)), archive.constant(.string("title == 'a'"))])
                let context = archive.keyPath("sourceContext", of: archive.variable("manager"))
                return archive.writer.object(
                    "NSFetchRequestExpression", [("NSFetchRequest", request), ("NSContext", context)])
            }
        }
        func file(_ entity: String) -> MappingFileText {
            var file = MappingFileText()
            file.entity(
                "Note", "Note", number: 1, [("sourceexpressiondata", fetch(entity)), ("autogenerateexpression", "0")])
            return file
        }
        #expect(
            try read(file("Note")).mapping.entityMappings.map(\.sourcePredicate) == [.equal("title", to: .string("a"))])
        #expect(try failure { try read(file("Attachment")) }.message.contains("not a fetch of its own entity"))
    }

    @Test("user info of entity and property mappings is imported, and lists give a warning")
    func userInfo() throws {
        var writer = ArchiveWriter()
        let info = writer.dictionary([
            ("version", writer.string("2")), ("count", .int(7)), ("list", writer.list([])),
        ])
        let data = Data(writer.archive(info)).base64EncodedString()
        var file = MappingFileText()
        let title = file.attribute("title", [("userinfodata", data)])
        file.entity("Note", "Note", number: 1, [("userinfodata", data)], attributeMappings: [title])
        let imported = try read(file, Self.model(), Self.model())
        let expected = ["version": "2", "count": "7"]
        #expect(imported.mapping.entityMappings[0].userInfo == expected)
        #expect(imported.mapping.entityMappings[0].attributeMappings[0].userInfo == expected)
        #expect(imported.warnings.count == 2)
        #expect(imported.warnings.allSatisfy { $0.message.contains("'list' is neither text nor a number") })
    }

    // MARK: Expressions

    private func expression(_ make: (inout ExpressionArchive) -> TestPlist) throws -> FetchRequest.Expression? {
        var file = MappingFileText()
        let title = file.attribute("title", [("valueexpressiondata", ExpressionArchive.data(make))])
        file.entity("Note", "Note", number: 1, attributeMappings: [title])
        return try read(file, Self.model(), Self.model()).mapping.entityMappings[0].attributeMappings[0].valueExpression
    }

    @Test("every kind of archived expression that Xcode writes is imported")
    func expressions() throws {
        #expect(try expression { $0.constant(.bool(true)) } == .constant(.bool(true)))
        #expect(try expression { $0.constant(.int(-3)) } == .constant(.int(-3)))
        #expect(try expression { $0.constant(.real(1.5)) } == .constant(.double(1.5)))
        #expect(try expression { $0.constant(.string("ä")) } == .constant(.string("ä")))
        #expect(try expression { $0.constant(.data([1, 2])) } == .constant(.data(Data([1, 2]))))
        #expect(try expression { $0.constant(object: .uid(0)) } == .constant(.null))
        #expect(
            try expression { $0.constant(object: $0.writer.object("NSDate", [("NS.time", .real(8))])) }
                == .constant(.date(Date(timeIntervalSinceReferenceDate: 8))))
        #expect(
            try expression {
                $0.constant(
                    object: $0.writer.object("NSUUID", [("NS.uuidbytes", .data([UInt8](repeating: 7, count: 16)))]))
            } == .constant(.uuid(#require(UUID(uuidString: "07070707-0707-0707-0707-070707070707")))))
        #expect(
            try expression { $0.constant(object: $0.writer.list([$0.writer.string("a"), .uid(0)])) }
                == .aggregate([.constant(.string("a")), .constant(.null)]))
        #expect(try expression { $0.variable("entityPolicy") } == .variable("entityPolicy"))
        #expect(try expression { $0.keyPath("country.name", of: $0.variable("source")) } == .source("country.name"))
        #expect(
            try expression { $0.keyPath("name", of: $0.keyPath("country", of: $0.variable("source"))) }
                == .source("country.name"))
        #expect(
            try expression { $0.function("valueForKey:", of: $0.variable("source"), [$0.constant(.string("name"))]) }
                == .source("name"))
        #expect(
            try expression {
                $0.writer.object("NSAggregateExpression", [("NSCollection", $0.writer.list([$0.constant(.int(1))]))])
            }
                == .aggregate([.constant(.int(1))]))
        let celsius = try expression { archive in
            let fahrenheit = archive.keyPath("temperature", of: archive.variable("source"))
            let difference = archive.function("from:subtract:", [fahrenheit, archive.constant(.real(32))])
            return archive.function("divide:by:", [difference, archive.constant(.real(1.8))])
        }
        #expect(try celsius == FetchRequest.Expression(format: "($source.temperature - 32.0) / 1.8"))
        #expect(
            try expression {
                $0.function(
                    "convert:", of: $0.variable("entityPolicy"), [$0.keyPath("x", of: $0.variable("source"))])
            } == .policy("convert:", .source("x")))
        #expect(
            try expression {
                $0.function(
                    "castObject:toType:",
                    [$0.keyPath("x", of: $0.variable("source")), $0.constant(.string("NSString"))])
            } == .cast(.source("x"), .string))
        #expect(
            try expression {
                $0.writer.object(
                    "NSSetExpression",
                    [
                        ("NSExpressionType", .int(5)), ("NSLeftExpression", $0.keyPath("a", of: $0.variable("source"))),
                        ("NSRightExpression", $0.keyPath("b", of: $0.variable("source"))),
                    ])
            } == .setOperation(.union, .source("a"), .source("b")))
    }

    @Test("archived SUBQUERY and TERNARY expressions are imported with their conditions")
    func conditions() throws {
        // The variable of a subquery is a name, or an expression.
        for isName in [true, false] {
            let found = try expression { archive in
                let tracks = archive.keyPath("tracks", of: archive.variable("source"))
                let long = archive.comparison(
                    archive.keyPath("length", of: archive.variable("t")), 2, archive.constant(.int(600)))
                let named = archive.comparison(
                    archive.keyPath("name", of: archive.variable("t")), 8, archive.constant(.string("a")),
                    options: ("NSOptions", 3))
                let variable = isName ? archive.writer.string("t") : archive.variable("t")
                return archive.keyPath(
                    "@count", of: archive.subquery(tracks, variable, archive.compound(1, [long, named])))
            }
            #expect(
                try found
                    == FetchRequest.Expression(
                        format: "SUBQUERY($source.tracks, $t, $t.length > 600 AND $t.name BEGINSWITH[cd] 'a').@count"))
        }
        let chosen = try expression { archive in
            let missing = archive.comparison(
                archive.keyPath("rating", of: archive.variable("source")), 4, archive.constant(object: .uid(0)))
            let bad = archive.compound(
                0,
                [
                    archive.comparison(
                        archive.keyPath("tags.name", of: archive.variable("source")), 99,
                        archive.constant(.string("x")), modifier: 2, options: ("NSFlags", 1))
                ])
            let never = archive.writer.object("NSFalsePredicate", [])
            return archive.ternary(
                archive.compound(2, [missing, bad, never]), archive.constant(.int(0)),
                archive.keyPath("rating", of: archive.variable("source")))
        }
        #expect(
            try chosen
                == FetchRequest.Expression(
                    format:
                        "TERNARY($source.rating == nil OR NOT ANY $source.tags.name CONTAINS[c] 'x' OR FALSEPREDICATE, 0, $source.rating)"
                ))
    }

    @Test("every comparison of a condition is read by its number")
    func comparisons() throws {
        let symbols: [(Int64, String)] = [
            (0, "<"), (1, "<="), (2, ">"), (3, ">="), (4, "=="), (5, "!="), (6, "MATCHES"), (7, "LIKE"),
            (8, "BEGINSWITH"), (9, "ENDSWITH"), (10, "IN"), (99, "CONTAINS"),
        ]
        for (type, symbol) in symbols {
            let found = try expression { archive in
                let condition = archive.comparison(
                    archive.keyPath("a", of: archive.variable("source")), type,
                    archive.keyPath("b", of: archive.variable("source")))
                return archive.ternary(condition, archive.constant(.int(1)), archive.constant(.int(2)))
            }
            #expect(
                try found == FetchRequest.Expression(format: "TERNARY($source.a \(symbol) $source.b, 1, 2)"),
                "\(symbol)")
        }
        let between = try expression { archive in
            let limits = archive.writer.object(
                "NSAggregateExpression",
                [("NSCollection", archive.writer.list([archive.constant(.int(1)), archive.constant(.int(9))]))])
            let condition = archive.comparison(
                archive.keyPath("a", of: archive.variable("source")), 100, limits, modifier: 1)
            return archive.ternary(condition, archive.constant(.int(1)), archive.constant(.int(2)))
        }
        #expect(
            try between == FetchRequest.Expression(format: "TERNARY(ALL $source.a BETWEEN {1, 9}, 1, 2)"))
    }

    @Test("an expression without a counterpart is refused with its file, line, mapping and function")
    func untranslatable() throws {
        func message(_ make: (inout ExpressionArchive) -> TestPlist) throws -> String {
            let error = try failure { try expression(make) }
            #expect(error.code == .invalidMappingModel)
            #expect(error.message.hasPrefix("X/xcmapping.xml:6: entity mapping 'NoteToNote', attribute 'title': "))
            return error.message
        }
        #expect(
            try message { $0.function("uppercaseString", of: $0.keyPath("x", of: $0.variable("source")), []) }
                .contains("function 'uppercaseString'"))
        #expect(
            try message { $0.function("sourceContext", of: $0.variable("manager"), []) }
                .contains("function 'sourceContext' of $manager"))
        #expect(try message { $0.function("random", []) }.contains("function 'random'"))
        #expect(try message { $0.function("now", [], of: "NSDate") }.contains("of class NSDate"))
        #expect(
            try message { $0.writer.object("NSBlockExpression", []) }.contains(
                "an expression of class NSBlockExpression"))
        #expect(
            try message { $0.writer.object("NSFetchRequestExpression", [("NSExpressionType", .int(50))]) }.contains(
                "FETCH, which looks through a whole store, has no counterpart"))
        func condition(
            _ make: @escaping (inout ExpressionArchive) -> TestPlist
        ) throws -> String {
            try message { $0.ternary(make(&$0), $0.constant(.int(1)), $0.constant(.int(2))) }
        }
        #expect(try condition { $0.writer.object("NSBlockPredicate", []) }.contains("a predicate of class NSBlock"))
        #expect(
            try condition { $0.comparison($0.variable("source"), 11, $0.constant(.int(1))) }
                .contains("a comparison by a method"))
        #expect(
            try condition { $0.comparison($0.variable("source"), 77, $0.constant(.int(1))) }.contains("of type 77"))
        #expect(try condition { $0.compound(0, []) }.contains("incomplete"))
        #expect(try condition { $0.writer.object("NSComparisonPredicate", []) }.contains("incomplete"))
        #expect(try message { $0.writer.object("NSSubqueryExpression", []) }.contains("incomplete"))
        #expect(try message { $0.writer.object("NSTernaryExpression", []) }.contains("incomplete"))
        #expect(
            try message { $0.constant(object: $0.writer.object("NSColor", [])) }.contains("a constant of class NSColor")
        )
        #expect(try message { $0.writer.object("NSVariableExpression", []) }.contains("incomplete"))
    }

    @Test("an expression in a circle, and one that unfolds without end, are refused")
    func endlessExpressions() throws {
        let circle = try failure {
            try expression { archive in
                let place = archive.writer.reserve()
                return archive.writer.object(
                    "NSAggregateExpression", [("NSCollection", archive.writer.list([place]))], at: place)
            }
        }
        #expect(circle.code == .limitExceeded)
        let bomb = try failure {
            try expression { archive in
                var node = archive.constant(.int(1))
                for _ in 0..<40 {
                    node = archive.writer.object(
                        "NSAggregateExpression", [("NSCollection", archive.writer.list([node, node]))])
                }
                return node
            }
        }
        #expect(bomb.code == .limitExceeded)
    }

    // MARK: Wrong files

    @Test("a file that is not a mapping model is refused, and the error names the file")
    func wrongFiles() throws {
        func error(_ text: String) throws -> StoreError {
            let error = try failure { try CoreDataMappingReader.read(xml: Array(text.utf8), file: "f") }
            #expect(error.code == .invalidMappingModel)
            return error
        }
        #expect(try error("<model/>").message.hasPrefix("f:1: the root element is not <database>"))
        #expect(try error("<database></database>").message == "f: there is no mapping model in the file.")
        #expect(try error("<database>").message.contains("not closed"))
        #expect(try error(MappingFileText().text).message.contains("no entity mapping"))
        #expect(
            try error("<database><object type=\"A\" id=\"z\"/>\n<object type=\"A\" id=\"z\"/></database>").message
                == "f:2: two objects have the identifier 'z'.")
        var dangling = MappingFileText()
        dangling.entity("A", "A", number: 1, attributeMappings: ["z999"])
        #expect(try error(dangling.text).message.contains("refers to 'z999'"))
        var unknown = MappingFileText()
        let note = unknown.relationship("r", [("sourcemappingname", "NoteToNot"), ("sourcekeypath", "$source")])
        unknown.entity("Note", "Note", number: 1, relationshipMappings: [note])
        #expect(try error(unknown.text).message.contains("did you mean 'NoteToNote'?"))
        let directory = try TemporaryDirectory()
        #expect(try failure { try CoreDataMappingReader.read(at: directory.path) }.code == .notFound)
        #expect(try failure { try CoreDataMappingReader.read(at: directory.file("no")) }.code == .notFound)
    }

    @Test("MappingFile.read reads mapping documents and Apple's bundles")
    func mappingFiles() throws {
        let directory = try TemporaryDirectory()
        var file = MappingFileText()
        let title = file.attribute("title")
        file.entity("Note", "Note", number: 1, attributeMappings: [title])
        file.entity("Note", "Note", number: 2, isOrphan: true)
        try directory.write(file.text, to: "A.xcmappingmodel/xcmapping.xml")
        let models = (try Self.model(), try Self.model(extra: true))
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
        file.entity("Note", "Note", number: 1, attributeMappings: [title], relationshipMappings: [notes])
        let imported = try read(file)
        #expect(
            imported.mapping.entityMappings[0].attributeMappings == [
                PropertyMapping("title", expression: .source("title"))
            ])
        #expect(
            imported.mapping.entityMappings[0].relationshipMappings
                == [PropertyMapping("notes", expression: .relatedInstances(ofSourceRelationship: "notes"))])
        #expect(imported.warnings.filter { $0.message.contains("give the models") }.count == 2)
    }

    // MARK: Damage

    private func refusal(of file: MappingFileText) -> StoreError? {
        do throws(StoreError) {
            _ = try CoreDataMappingReader.read(xml: file.bytes, file: "damaged")
            return nil
        } catch {
            return error
        }
    }

    /// Every byte of an expression's archive, changed in two ways, and every way to cut it off.
    @Test("a damaged archived expression is imported or refused with its attribute's name")
    func damagedArchives() throws {
        var archive = ExpressionArchive()
        let root = archive.function(
            "destinationInstancesForEntityMappingNamed:sourceInstances:", of: archive.variable("manager"),
            [archive.constant(.string("NoteToNote")), archive.keyPath("notes", of: archive.variable("source"))])
        let bytes = archive.writer.archive(root)
        var refused = 0
        func attempt(_ damaged: [UInt8]) {
            var file = MappingFileText()
            let data = Data(damaged).base64EncodedString()
            let title = file.attribute("title", [("valueexpressiondata", data)])
            file.entity("Note", "Note", number: 1, attributeMappings: [title])
            guard let error = refusal(of: file) else { return }
            refused += 1
            #expect([.invalidMappingModel, .limitExceeded].contains(error.code))
            #expect(error.message.contains("attribute 'title'"), "\(error)")
        }
        for index in bytes.indices {
            for mask: UInt8 in [0x01, 0xF0] {
                var damaged = bytes
                damaged[index] ^= mask
                attempt(damaged)
            }
            attempt(Array(bytes[..<index]))
        }
        #expect(refused > bytes.count / 2)
    }
}
