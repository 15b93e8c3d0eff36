import RoostCore
import RoostMigration
import RoostQuery
import TestSamples
import Testing

@Suite("Problems of mapping models")
struct MappingProblemTests {
    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel

    init() throws {
        source = try model(
            EntityDescription(
                "Note",
                attributes: [
                    .init("title", type: .string), .init("length", type: .integer32), .init("date", type: .date),
                    .init("place", type: .composite, elements: [.init("lat", type: .double)]),
                    .init("scratch", type: .string).with { $0.isTransient = true },
                ],
                relationships: [.toMany("tags", to: "Tag", inverse: "notes"), .toOne("first", to: "Tag")]),
            EntityDescription("Tag", relationships: [.toMany("notes", to: "Note", inverse: "tags")]))
        destination = try model(
            EntityDescription(
                "Note",
                attributes: [
                    .init("title", type: .string), .init("pages", type: .double),
                    .init("place", type: .composite, elements: [.init("lat", type: .double)]),
                    .init("scratch", type: .string).with { $0.isTransient = true },
                ],
                relationships: [.toMany("tags", to: "Tag", inverse: "notes"), .toOne("first", to: "Tag")]),
            EntityDescription("Tag", relationships: [.toMany("notes", to: "Note", inverse: "tags")]))
    }

    private func problems(_ mappings: EntityMapping...) -> [String] {
        MappingModel(mappings).problems(from: source, to: destination).map(\.description)
    }

    private func problems(_ name: String, format: String, policy: String? = nil) throws -> [String] {
        let property = PropertyMapping(name, expression: try FetchRequest.Expression(format: format))
        let isRelationship = destination.entity("Note")?.relationship(name) != nil
        return problems(
            EntityMapping(
                "NoteToNote", type: .transform, from: "Note", to: "Note", attributes: isRelationship ? [] : [property]
            ).with {
                $0.relationshipMappings = isRelationship ? [property] : []
                $0.policyName = policy
            },
            EntityMapping("TagToTag", type: .transform, from: "Tag", to: "Tag"))
    }

    @Test("a mapping model that fits both models has no problems")
    func fits() throws {
        #expect(
            problems(
                try EntityMapping(
                    "NoteToNote", type: .transform, from: "Note", to: "Note",
                    attributes: [
                        PropertyMapping("title", expression: .source("title")),
                        PropertyMapping("pages", expression: try .init(format: "($source.length - 32.0) / 1.8")),
                        PropertyMapping("place.lat", expression: try .init(format: "$source.place.lat")),
                        PropertyMapping("scratch", expression: .source("scratch")),
                    ]
                ).with {
                    $0.sourceVersionHash = source.entity("Note")?.versionHash
                    $0.destinationVersionHash = destination.entity("Note")?.versionHash
                    $0.sourcePredicate = try .init(format: "length > 3 AND ANY tags.notes.title == 'a'")
                    $0.relationshipMappings = [
                        PropertyMapping("tags", expression: .relatedInstances(ofSourceRelationship: "tags")),
                        PropertyMapping(
                            "first",
                            expression: .destinationInstances(ofEntityMapping: "TagToTag", from: .source("first"))),
                    ]
                },
                EntityMapping("TagToTag", type: .transform, from: "Tag", to: "Tag"),
                EntityMapping("Nothing", type: .custom, to: "Tag").with { $0.policyName = "TagPolicy" }
            ).isEmpty)
    }

    @Test(
        "a valid mapping expression has no problems",
        arguments: [
            ("title", "NULL"), ("title", "'constant'"), ("title", "FUNCTION($source, 'valueForKey:', 'title')"),
            ("title", "uppercase($source.title)"), ("pages", "$source.tags.@count"),
            ("title", "CAST($source.length, 'NSString')"),
            ("pages", "SUBQUERY($source.tags, $t, $t.notes.@count > 1).@count"),
            ("first", "NULL"), ("title", "TERNARY($source.length > 3, 'long', $source.title)"), ("pages", "TRUE"),
        ])
    func goodExpressions(name: String, format: String) throws {
        #expect(try problems(name, format: format) == [])
    }

    @Test(
        "an invalid mapping expression has one problem that names its cause",
        arguments: [
            ("titel", "$source.title", "has no attribute 'titel'; did you mean 'title'?"),
            ("title", "$source.titel", "no stored property 'titel'; did you mean 'title'?"),
            ("title", "$sorce.title", "Unknown variable '$sorce'; did you mean '$source'?"),
            ("title", "title", "write $source before it"),
            ("title", "$source.length", "gives integer values, and the attribute holds string"),
            ("pages", "$source.title", "gives string values, and the attribute holds double"),
            ("title", "$source.tags", "has many values"),
            ("title", "$source.place", "gives composite values"),
            ("title", "FUNCTION($entityPolicy, 'convert:', $source.title)", "the mapping has no policy"),
            (
                "title", "FUNCTION($source, 'valueForKye:', 'title')",
                "Unknown function 'valueForKye:'; did you mean 'valueForKey:'?"
            ),
            ("title", "FUNCTION($source, 'valueForKey:', $source.title)", "takes one argument"),
            (
                "title",
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'TagToTag', $source.tags)",
                "an attribute cannot hold any"
            ),
            (
                "tags",
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'TagTag', $source.tags)",
                "no entity mapping 'TagTag'; did you mean 'TagToTag'?"
            ),
            (
                "tags",
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'NoteToNote', $source.tags)",
                "makes objects of 'Note', but the relationship's destination is 'Tag'"
            ),
            (
                "tags",
                "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'tgs', $source.tags)",
                "no relationship 'tgs'; did you mean 'tags'?"
            ),
            (
                "tags", "FUNCTION($manager, 'destinationInstances', 'TagToTag', $source.tags)",
                "The manager has no function"
            ),
            (
                "tags", "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:')",
                "takes two arguments"
            ),
            ("tags", "$source.tags", "needs objects of the destination"),
            (
                "first",
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'TagToTag', $source.title)",
                "gives string values"
            ),
            (
                "first",
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'TagToTag', $source)",
                "gives objects of 'Note', but the entity mapping 'TagToTag' takes objects of 'Tag'"
            ),
            (
                "first",
                "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'tags', $source.first)",
                "names the relationship 'tags', but its second argument contains other objects"
            ),
            ("title", "$destination.title", "'$destination' has no properties"),
            ("title", "$destination", "is the ID of the new object"), ("pages", "$entityMapping", "is a name"),
            ("title", "$manager", "has no value"),
        ])
    func badExpressions(name: String, format: String, message: String) throws {
        let found = try problems(name, format: format)
        #expect(found.count == 1)
        #expect(found.first?.contains(message) == true, "\(found)")
        #expect(found.first?.hasPrefix("mapping 'NoteToNote', \(name): ") == true)
    }

    @Test("the result of a policy function is not checked, but its arguments are")
    func policies() throws {
        #expect(
            try problems("title", format: "FUNCTION($entityPolicy, 'convert:', $source.length)", policy: "P").isEmpty)
        #expect(try problems("tags", format: "FUNCTION($entityPolicy, 'find:', $destination)", policy: "P").isEmpty)
        #expect(try problems("title", format: "FUNCTION($entityPolicy, 'convert:', $sorce)", policy: "P").count == 1)
    }

    @Test("each type of entity mapping requires its entities and allows no others")
    func types() {
        #expect(problems(EntityMapping("m", type: .custom, from: "Note", to: "Note")).count == 1)
        #expect(problems(EntityMapping("m", type: .custom).with { $0.policyName = "P" }).count == 1)
        #expect(problems(EntityMapping("m", type: .add)).count == 1)
        #expect(problems(EntityMapping("m", type: .add, from: "Note", to: "Note")).count == 1)
        #expect(problems(EntityMapping("m", type: .remove)).count == 1)
        #expect(problems(EntityMapping("m", type: .remove, from: "Note", to: "Note")).count == 1)
        #expect(problems(EntityMapping("m", type: .transform)).count == 2)
        #expect(
            problems(EntityMapping("m", type: .add, to: "Note").with { $0.sourcePredicate = .constant(true) }).count
                == 1)
        let constant = PropertyMapping("title", expression: .constant("new"))
        #expect(problems(EntityMapping("m", type: .add, to: "Note", attributes: [constant])).count == 1)
        #expect(problems(EntityMapping("m", type: .add, to: "Note", attributes: [PropertyMapping("title")])).isEmpty)
        #expect(
            problems(EntityMapping("m", type: .add, to: "Note", attributes: [constant]).with { $0.policyName = "P" })
                .isEmpty)
        #expect(problems(EntityMapping("m", type: .copy, from: "Tag", to: "Tag")).isEmpty)
        #expect(problems(EntityMapping("m", type: .copy, from: "Note", to: "Note")).count == 1)
        #expect(
            problems(
                EntityMapping("m", type: .copy, from: "Tag", to: "Tag").with {
                    $0.relationshipMappings = [PropertyMapping("notes")]
                }
            ).count == 1)
        // A copy mapping may contain a property mapping with the same effect as the copy.
        #expect(
            problems(
                EntityMapping(
                    "m", type: .copy, from: "Tag", to: "Tag"
                ).with {
                    $0.relationshipMappings = [
                        PropertyMapping("notes", expression: .relatedInstances(ofSourceRelationship: "notes"))
                    ]
                }
            ).isEmpty)
    }

    @Test("a copy mapping may name a relationship's entity mapping only if no other mapping makes the destinations")
    func copies() throws {
        func copy(_ expression: FetchRequest.Expression, policy: String? = nil) -> EntityMapping {
            EntityMapping(
                "tags", type: .copy, from: "Tag", to: "Tag"
            ).with {
                $0.relationshipMappings = [PropertyMapping("notes", expression: expression)]
                $0.policyName = policy
            }
        }
        let named = copy(.destinationInstances(ofEntityMapping: "a", from: .source("notes")))
        let long = EntityMapping("a", type: .transform, from: "Note", to: "Note").with {
            $0.sourcePredicate = .greater("length", than: 9)
        }
        let short = EntityMapping("b", type: .transform, from: "Note", to: "Note").with {
            $0.sourcePredicate = .less("length", than: 9)
        }
        #expect(problems(named, long).isEmpty)
        #expect(problems(named, long, short).count == 1)
        #expect(problems(copy(.policy("notes:", .source("notes")), policy: "P"), long).count == 1)
    }

    @Test("a to-many relationship that becomes to-one by a mapping is a loss")
    func manyBecomeOne() throws {
        let model = MappingModel([
            EntityMapping(
                "n", type: .transform, from: "Note", to: "Note"
            ).with {
                $0.relationshipMappings = [
                    PropertyMapping(
                        "first", expression: .destinationInstances(ofEntityMapping: "t", from: .source("tags")))
                ]
            },
            EntityMapping("t", type: .transform, from: "Tag", to: "Tag"),
        ])
        #expect(model.problems(from: source, to: destination).isEmpty)
        let remarks = model.remarks(from: source, to: destination).filter { $0.property == "tags" }
        #expect(remarks.contains { $0.kind == .loss && $0.message.contains("'Note.first' is to-one") })
    }

    @Test("an invalid mapping model reports all its problems in one error")
    func allAtOnce() throws {
        let mapping = MappingModel([
            try EntityMapping(
                "a", type: .transform, from: "Note", to: "Tga"
            ).with {
                $0.sourceVersionHash = VersionHash(high: 1, low: 2)
                $0.sourcePredicate = try .init(format: "titel == 'x'")
            },
            EntityMapping(
                "a", type: .transform, from: "Noet", to: "Note",
                attributes: [PropertyMapping("title"), PropertyMapping("title"), PropertyMapping("tags")]
            ).with { $0.relationshipMappings = [PropertyMapping("pages"), PropertyMapping("tgas")] },
            EntityMapping(
                "", type: .transform, from: "Tag", to: "Tag",
                attributes: [PropertyMapping("x", expression: .source("y"))]),
        ])
        let error = storeError { try mapping.requireValid(from: source, to: destination) }
        #expect(error?.code == .invalidMappingModel)
        let message = error?.message ?? ""
        for part in [
            "no entity 'Tga'; did you mean 'Tag'?", "another version of the source entity 'Note'",
            "The predicate: Entity 'Note' has no stored property 'titel'", "Another mapping has this name too",
            "no entity 'Noet'; did you mean 'Note'?", "title: The property has two mappings",
            "'Note.tags' is one of the relationships",
            "'Note.pages' is one of the attributes", "no relationship 'tgas'; did you mean 'tags'?",
            "The mapping has no name",
            "no attribute 'x'",
        ] { #expect(message.contains(part), "\(part) in \(message)") }
        #expect(message.split(separator: "\n").count == 12)
    }

    @Test(
        "an inferred mapping model has no problems and reads back from its document", arguments: 0..<40 as Range<UInt64>
    )
    func inferred(seed: UInt64) throws {
        var random = RandomModel(seed: seed)
        let (old, new) = (try random.model(), try random.model())
        for (a, b) in [(old, new), (new, old), (old, old)] {
            guard MappingModel.inferenceProblems(from: a, to: b, options: .init(convertsToString: true)).isEmpty else {
                #expect(a != b)
                continue
            }
            let mapping = try MappingModel.inferred(from: a, to: b, options: .init(convertsToString: true))
            #expect(mapping.problems(from: a, to: b).map(\.description) == [])
            #expect(try MappingModel(document: mapping.document()) == mapping)
            // Computing the remarks must not trap.
            _ = mapping.remarks(from: a, to: b)
        }
    }
}

@Suite("Errors of a model mismatch")
struct ModelMismatchTests {
    private func error(_ old: EntityDescription..., new: EntityDescription...) throws -> StoreError {
        .modelMismatch(
            "a.sqlite", has: try ManagedObjectModel(entities: old), expected: try ManagedObjectModel(entities: new))
    }

    @Test("a model mismatch error names the differences and the remedy")
    func inferable() throws {
        let error = try error(
            EntityDescription("Note", attributes: [.init("title", type: .string), .init("n", type: .integer16)]),
            new: EntityDescription("Note", attributes: [.init("title", type: .string), .init("n", type: .integer32)]),
            EntityDescription("Tag"))
        #expect(error.code == .modelMismatch)
        #expect(error.message.contains("'a.sqlite'"))
        #expect(
            error.message.contains(#"Note.n: attribute changed (type: "integer16" → "integer32"); Tag: entity added."#))
        #expect(error.message.contains("Migrate the store (roost migrate)"))
    }

    @Test("errors with many or very long mapping problems have a bounded size")
    func boundedMessages() {
        let name = String(repeating: "n", count: 3_000_000)
        #expect(
            MappingProblem(mapping: name, entity: name, property: name, message: name).description.utf8.count < 2000)
        let reasons = (0..<100_000).map { MappingProblem(entity: "E", property: "p\($0)", message: "It is wrong.") }
        #expect(StoreError.mappingNotInferable(reasons).message.hasSuffix(" more problems."))
    }

    @Test("a model mismatch error lists a few differences and counts the others")
    func many() throws {
        let error = try error(
            EntityDescription("Note"),
            new: EntityDescription("Note", attributes: (0..<50).map { .init("a\($0)", type: .string) }))
        #expect(error.message.contains("and 47 more") && !error.message.contains("\n"))
        #expect(error.message.utf8.count < 500)
        // Changes that need no migration are not listed.
        let quiet = try self.error(
            EntityDescription("Note", attributes: [.init("a", type: .string)]),
            new: EntityDescription("Note", attributes: [.init("a", type: .string, defaultValue: "x")]),
            EntityDescription("B")
        )
        #expect(!quiet.message.contains("Note"))
    }
}
