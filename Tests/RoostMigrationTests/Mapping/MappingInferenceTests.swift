import RoostCore
import RoostMigration
import RoostQuery
import TestSamples
import Testing

/// Tests for the table of inferred changes in `MAPPING-FORMAT.md`.
@Suite("Inferred mapping models")
struct MappingInferenceTests {
    private typealias A = AttributeDescription

    // MARK: Adding, removing and renaming

    @Test("inference copies an entity that is the same in both models")
    func copies() throws {
        let old = try model(EntityDescription("Note", attributes: [A("title", type: .string)]))
        let new = try model(
            EntityDescription("Note", attributes: [A("title", type: .string)]), EntityDescription("Tag"))
        let mapping = try #require(try MappingModel.inferred(from: old, to: new).entityMapping(named: "IEM_Copy_Note"))
        #expect(mapping.type == .copy)
        #expect(mapping.sourceEntity == "Note" && mapping.destinationEntity == "Note")
        #expect(mapping.sourceVersionHash == old.entity("Note")?.versionHash)
        #expect(mapping.destinationVersionHash == new.entity("Note")?.versionHash)
        #expect(mapping.attributeMappings.isEmpty && mapping.relationshipMappings.isEmpty)
    }

    @Test(
        "inference adds and removes entities, with one mapping for each"
    )
    func addsAndRemovesEntities() throws {
        let old = try model(EntityDescription("Gone"), EntityDescription("Note"))
        let new = try model(EntityDescription("Author"), EntityDescription("Note"))
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(mapping.entityMappings.map(\.name) == ["IEM_Add_Author", "IEM_Copy_Note", "IEM_Remove_Gone"])
        #expect(mapping.entityMappings.map(\.type) == [.add, .copy, .remove])
        let remarks = mapping.remarks(from: old, to: new)
        #expect(remarks.map(\.description) == ["loss: Gone: All objects of the entity are dropped."])
    }

    @Test("inference adds and removes attributes and relationships")
    func addsAndRemovesProperties() throws {
        let old = try model(
            EntityDescription(
                "Note", attributes: [A("body", type: .string), A("color", type: .string)],
                relationships: [.toMany("oldTags", to: "Tag")]),
            EntityDescription("Tag"))
        let new = try model(
            EntityDescription(
                "Note", attributes: [A("body", type: .string), A("date", type: .date)],
                relationships: [.toMany("newTags", to: "Tag")]),
            EntityDescription("Tag"))
        let mapping = try MappingModel.inferred(from: old, to: new)
        let note = try #require(mapping.entityMapping(named: "IEM_Transform_Note"))
        #expect(
            note.attributeMappings == [PropertyMapping("body", expression: .source("body")), PropertyMapping("date")])
        #expect(note.relationshipMappings == [PropertyMapping("newTags")])
        #expect(
            mapping.remarks(from: old, to: new).map { "\($0.kind) \($0.entity).\($0.property ?? "")" }
                == ["loss Note.color", "loss Note.oldTags"])
    }

    @Test("renaming identifiers rename entities, attributes and relationships")
    func renames() throws {
        let old = try model(
            EntityDescription(
                "Note", attributes: [A("color", type: .string)],
                relationships: [.toMany("tags", to: "Tag", inverse: "notes")]
            ),
            EntityDescription("Tag", relationships: [.toMany("notes", to: "Note", inverse: "tags")]))
        var labels = RelationshipDescription.toMany("labels", to: "Label", inverse: "posts")
        labels.renamingIdentifier = "tags"
        var posts = RelationshipDescription.toMany("posts", to: "Post", inverse: "labels")
        posts.renamingIdentifier = "notes"
        let new = try model(
            EntityDescription(
                "Post", attributes: [A("hexColor", type: .string).with { $0.renamingIdentifier = "color" }],
                relationships: [labels]
            ).with { $0.renamingIdentifier = "Note" },
            EntityDescription("Label", relationships: [posts]).with { $0.renamingIdentifier = "Tag" })
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(mapping.entityMappings.map(\.name) == ["IEM_Transform_Tag", "IEM_Transform_Note"])
        let post = try #require(mapping.entityMapping(named: "IEM_Transform_Note"))
        #expect(post.destinationEntity == "Post")
        #expect(post.attributeMappings == [PropertyMapping("hexColor", expression: .source("color"))])
        #expect(
            post.relationshipMappings == [
                PropertyMapping("labels", expression: .relatedInstances(ofSourceRelationship: "tags"))
            ])
        #expect(mapping.remarks(from: old, to: new).isEmpty)
    }

    @Test("an unchanged renaming identifier matches elements across renames", arguments: [(0, 1), (1, 2), (0, 2)])
    func keepsIdentifier(old: Int, new: Int) throws {
        let versions = try ["title", "name", "label"].map { name in
            try model(
                EntityDescription(
                    "Note\(name.count)", attributes: [A(name, type: .string).with { $0.renamingIdentifier = "title" }]
                ).with { $0.renamingIdentifier = "Note" })
        }
        let mapping = try MappingModel.inferred(from: versions[old], to: versions[new])
        let entity = try #require(mapping.entityMappings.first)
        #expect(mapping.entityMappings.count == 1 && entity.type == .transform)
        #expect(entity.attributeMappings.map { $0.valueExpression != nil } == [true])
    }

    @Test("a renaming identifier unknown in the source gives a new element and a remark")
    func unmatchedIdentifier() throws {
        let old = try model(
            EntityDescription("Note", attributes: [A("name", type: .string).with { $0.renamingIdentifier = "title" }]))
        let new = try model(
            EntityDescription(
                "Note", attributes: [A("label", type: .string).with { $0.renamingIdentifier = "name" }]
            ).with { $0.versionHashModifier = "2" },
            EntityDescription("Tag").with { $0.renamingIdentifier = "Lebel" })
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(mapping.entityMappings.map(\.name) == ["IEM_Transform_Note", "IEM_Add_Tag"])
        #expect(mapping.entityMappings[0].attributeMappings == [PropertyMapping("label")])
        let remarks = mapping.remarks(from: old, to: new)
        // The new identifier is a previous name, so the remark names the previous identifier.
        #expect(
            remarks.contains {
                $0.kind == .note && $0.property == "label" && $0.message.contains("has the renaming identifier 'title'")
            })
        #expect(remarks.contains { $0.kind == .note && $0.entity == "Tag" })
    }

    @Test("two destination attributes with one renaming identifier both get the source attribute's value")
    func sharedIdentifier() throws {
        let old = try model(EntityDescription("Note", attributes: [A("title", type: .string)]))
        let both = EntityDescription(
            "Note",
            attributes: [
                A("headline", type: .string).with { $0.renamingIdentifier = "title" }, A("title", type: .string),
            ])
        let new = try model(both)
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(
            mapping.entityMappings[0].attributeMappings
                == [
                    PropertyMapping("headline", expression: .source("title")),
                    PropertyMapping("title", expression: .source("title")),
                ])
        // In a later version, each attribute keeps its own value, although both have the identifier `title`.
        var changed = both
        changed.versionHashModifier = "2"
        #expect(
            try MappingModel.inferred(from: new, to: model(changed)).entityMappings[0].attributeMappings
                == [
                    PropertyMapping("headline", expression: .source("headline")),
                    PropertyMapping("title", expression: .source("title")),
                ])
    }

    @Test("a renaming identifier that several source attributes share is refused as ambiguous")
    func ambiguousIdentifier() throws {
        let old = try model(
            EntityDescription(
                "Note",
                attributes: [
                    A("a", type: .string).with { $0.renamingIdentifier = "x" },
                    A("b", type: .string).with { $0.renamingIdentifier = "x" },
                ]))
        let new = try model(
            EntityDescription("Note", attributes: [A("c", type: .string).with { $0.renamingIdentifier = "x" }]))
        let problems = MappingModel.inferenceProblems(from: old, to: new)
        #expect(problems.map(\.property) == ["c"])
        #expect(problems.first?.message.contains("several source elements: a, b") == true)
    }

    // MARK: Optional and mandatory

    @Test("an attribute that becomes mandatory gives a remark unless it has a default")
    func becomesMandatory() throws {
        let old = try model(EntityDescription("Note", attributes: [A("a", type: .string), A("b", type: .string)]))
        let new = try model(
            EntityDescription(
                "Note",
                attributes: [
                    A("a", type: .string, isOptional: false),
                    A("b", type: .string, isOptional: false, defaultValue: ""),
                ]))
        let mapping = try MappingModel.inferred(from: old, to: new)
        let remarks = mapping.remarks(from: old, to: new)
        #expect(remarks.map(\.kind) == [.demand] && remarks.map(\.property) == ["a"])
    }

    @Test("an attribute that becomes optional keeps its values without a remark")
    func becomesOptional() throws {
        let old = try model(EntityDescription("Note", attributes: [A("a", type: .string, isOptional: false)]))
        let new = try model(EntityDescription("Note", attributes: [A("a", type: .string)]))
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(mapping.entityMappings[0].attributeMappings == [PropertyMapping("a", expression: .source("a"))])
        #expect(mapping.remarks(from: old, to: new).isEmpty)
    }

    @Test("a new mandatory attribute without a default gives a remark")
    func addsMandatory() throws {
        let old = try model(EntityDescription("Note"))
        let new = try model(
            EntityDescription(
                "Note",
                attributes: [
                    A("a", type: .string, isOptional: false),
                    A("b", type: .string, isOptional: false, defaultValue: "x"),
                ])
        )
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(mapping.entityMappings[0].attributeMappings == [PropertyMapping("a"), PropertyMapping("b")])
        let remarks = mapping.remarks(from: old, to: new)
        #expect(remarks.map(\.kind) == [.demand] && remarks.map(\.property) == ["a"])
    }

    // MARK: Types

    @Test(
        "inference widens an attribute's type, and refuses the reverse change",
        arguments: [
            (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64), (.integer16, .decimal),
            (.integer64, .decimal), (.integer16, .float), (.integer16, .double), (.integer32, .double),
            (.float, .double), (.boolean, .integer16), (.boolean, .integer64), (.transformable, .binaryData),
        ] as [(AttributeType, AttributeType)])
    func widens(old: AttributeType, new: AttributeType) throws {
        let (a, b) = (
            try model(EntityDescription("Note", attributes: [A("x", type: old)])),
            try model(EntityDescription("Note", attributes: [A("y", type: new).with { $0.renamingIdentifier = "x" }]))
        )
        let mapping = try MappingModel.inferred(from: a, to: b)
        #expect(mapping.entityMappings[0].attributeMappings == [PropertyMapping("y", expression: .source("x"))])
        #expect(mapping.problems(from: a, to: b).isEmpty)
        #expect(!MappingModel.inferenceProblems(from: b, to: a).isEmpty)
    }

    /// The type changes that inference refuses, because they can lose values.
    private static let lossyChanges: [(AttributeType, AttributeType)] = {
        let types = AttributeType.allCases.filter { $0 != .undefined && $0 != .composite }
        return types.flatMap { old in
            types.filter { !old.widens(to: $0) && !old.convertsWhereExact(to: $0) }.map { (old, $0) }
        }
    }()

    @Test("inference refuses a type change that can lose values, also with a rename", arguments: lossyChanges)
    func refusesTypes(old: AttributeType, new: AttributeType) throws {
        let (a, b) = (
            try model(EntityDescription("Note", attributes: [A("x", type: old)])),
            try model(EntityDescription("Note", attributes: [A("y", type: new).with { $0.renamingIdentifier = "x" }]))
        )
        let problems = MappingModel.inferenceProblems(from: a, to: b)
        #expect(problems.map(\.property) == ["y"])
        #expect(problems.first?.message.contains("from \(old.name) (of 'x') to \(new.name)") == true)
    }

    @Test("integer64 does not widen to double, nor integer32 to float")
    func keepsWholeNumbers() {
        #expect(!AttributeType.integer64.widens(to: .double) && !AttributeType.integer32.widens(to: .float))
    }

    @Test(
        "a whole number becomes floating-point, with a remark if not all values are exact",
        arguments: [
            (AttributeType.integer16, AttributeType.double, false), (.integer32, .double, false),
            (.integer64, .double, true), (.integer16, .float, false), (.integer32, .float, true),
            (.integer64, .float, true),
        ])
    func wholeNumbers(old: AttributeType, new: AttributeType, isDemand: Bool) throws {
        let (a, b) = (
            try model(EntityDescription("Card", attributes: [A("amount", type: old)])),
            try model(
                EntityDescription("Card", attributes: [A("sum", type: new).with { $0.renamingIdentifier = "amount" }]))
        )
        let mapping = try MappingModel.inferred(from: a, to: b)
        #expect(mapping.entityMappings[0].attributeMappings == [PropertyMapping("sum", expression: .source("amount"))])
        #expect(mapping.problems(from: a, to: b).isEmpty)
        let remarks = mapping.remarks(from: a, to: b)
        #expect(remarks.map(\.kind) == (isDemand ? [.demand] : []))
        #expect(
            remarks.allSatisfy {
                $0.property == "sum" && $0.message.contains("from \(old.name) to \(new.name)")
                    && $0.message.contains(new == .float ? "2^24" : "2^53")
            })
    }

    @Test("a whole number in a composite becomes floating-point with a remark")
    func wholeNumberElements() throws {
        let (a, b) = (
            try model(
                EntityDescription(
                    "Card", attributes: [A("price", type: .composite, elements: [A("sum", type: .integer64)])])),
            try model(
                EntityDescription(
                    "Card", attributes: [A("price", type: .composite, elements: [A("sum", type: .double)])]))
        )
        let mapping = try MappingModel.inferred(from: a, to: b)
        #expect(mapping.remarks(from: a, to: b).map { [$0.kind.rawValue, $0.property] } == [["demand", "price.sum"]])
    }

    @Test(
        "an attribute whose values have a text form becomes a string only on request",
        arguments: AttributeType.allCases.filter { ![.undefined, .composite, .string].contains($0) })
    func convertsToString(type: AttributeType) throws {
        let (old, new) = (
            try model(EntityDescription("Note", attributes: [A("x", type: type)])),
            try model(EntityDescription("Note", attributes: [A("x", type: .string)]))
        )
        #expect(!MappingModel.inferenceProblems(from: old, to: new).isEmpty)
        let options = MappingModel.InferenceOptions(convertsToString: true)
        guard type.hasText else {
            #expect(!MappingModel.inferenceProblems(from: old, to: new, options: options).isEmpty)
            return
        }
        let mapping = try MappingModel.inferred(from: old, to: new, options: options)
        #expect(
            mapping.entityMappings[0].attributeMappings == [
                PropertyMapping("x", expression: .cast(.source("x"), .string))
            ])
        #expect(mapping.problems(from: old, to: new).isEmpty)
    }

    @Test("composite elements that no mapping reads are losses, at any depth")
    func droppedElements() throws {
        func place(_ elements: [AttributeDescription]) throws -> ManagedObjectModel {
            try model(EntityDescription("Note", attributes: [A("place", type: .composite, elements: elements)]))
        }
        let inner = A("street", type: .composite, elements: [A("name", type: .string), A("number", type: .integer32)])
        let source = try place([A("lat", type: .double), A("lon", type: .double), inner])
        func losses(_ destination: ManagedObjectModel, mapping: MappingModel? = nil) throws -> [String?] {
            try (mapping ?? .inferred(from: source, to: destination)).remarks(from: source, to: destination)
                .filter { $0.kind == .loss }.map(\.property)
        }
        #expect(try losses(source) == [])
        #expect(try losses(place([A("lat", type: .double), inner])) == ["place.lon"])
        #expect(
            try losses(
                place([
                    A("lat", type: .double), A("lon", type: .double),
                    A("street", type: .composite, elements: [A("name", type: .string)]),
                ]))
                == ["place.street.number"])
        #expect(
            try losses(
                place([
                    A("latitude", type: .double).with { $0.renamingIdentifier = "lat" }, A("lon", type: .double), inner,
                ])) == [])
        let single = MappingModel([
            EntityMapping(
                "N", type: .transform, from: "Note", to: "Note",
                attributes: [
                    PropertyMapping(
                        "place.lat", expression: try .init(format: "$source.place.lat + $source.place.street.number"))
                ])
        ])
        #expect(try losses(source, mapping: single) == ["place.lon", "place.street.name"])
    }

    @Test("inference compares composite attributes element by element")
    func composites() throws {
        func note(_ elements: [A], modifier: String? = nil) throws -> ManagedObjectModel {
            try model(
                EntityDescription(
                    "Note", attributes: [A("place", type: .composite, elements: elements)]
                ).with { $0.versionHashModifier = modifier })
        }
        let old = try note([A("lat", type: .float), A("lon", type: .float), A("note", type: .string)])
        let same = try note([A("lat", type: .float), A("lon", type: .float), A("note", type: .string)], modifier: "2")
        #expect(
            try MappingModel.inferred(from: old, to: same).entityMappings[0].attributeMappings
                == [PropertyMapping("place", expression: .source("place"))])
        let new = try note([
            A("lat", type: .double), A("longitude", type: .float).with { $0.renamingIdentifier = "lon" },
            A("height", type: .float),
        ])
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(
            mapping.entityMappings[0].attributeMappings
                == [
                    PropertyMapping("place", expression: .source("place")), PropertyMapping("place.height"),
                    PropertyMapping("place.lat", expression: .source("place.lat")),
                    PropertyMapping("place.longitude", expression: .source("place.lon")),
                ])
        #expect(mapping.problems(from: old, to: new).isEmpty)
        let wrong = try note([A("lat", type: .integer16), A("lon", type: .float)])
        #expect(MappingModel.inferenceProblems(from: old, to: wrong).map(\.property) == ["place.lat"])
    }

    @Test("a transient attribute that becomes stored starts empty, and the reverse is a loss")
    func transients() throws {
        let old = try model(
            EntityDescription(
                "Note", attributes: [A("a", type: .string).with { $0.isTransient = true }, A("b", type: .string)]))
        let new = try model(
            EntityDescription(
                "Note", attributes: [A("a", type: .string), A("b", type: .string).with { $0.isTransient = true }]))
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(mapping.entityMappings[0].attributeMappings == [PropertyMapping("a")])
        #expect(mapping.remarks(from: old, to: new).map(\.property) == ["b"])
    }

    // MARK: Hierarchies

    @Test("an attribute keeps its values when it moves within a hierarchy")
    func movesAttribute() throws {
        func party(above: [A], below: [A]) throws -> ManagedObjectModel {
            try model(
                EntityDescription("Party", attributes: above),
                EntityDescription("Person", superentity: "Party", attributes: below))
        }
        let (above, below) = (
            try party(above: [A("name", type: .string)], below: []),
            try party(above: [], below: [A("name", type: .string)])
        )
        let up = try MappingModel.inferred(from: below, to: above)
        #expect(
            up.entityMapping(named: "IEM_Transform_Person")?.attributeMappings
                == [PropertyMapping("name", expression: .source("name"))])
        #expect(up.entityMapping(named: "IEM_Transform_Party")?.attributeMappings == [PropertyMapping("name")])
        #expect(up.remarks(from: below, to: above).isEmpty)
        let down = try MappingModel.inferred(from: above, to: below)
        #expect(
            down.entityMapping(named: "IEM_Transform_Person")?.attributeMappings
                == [PropertyMapping("name", expression: .source("name"))])
        #expect(down.remarks(from: above, to: below).map { "\($0.kind) \($0.entity)" } == ["loss Party"])
    }

    @Test(
        "an entity keeps its values when its parent is inserted, removed or changed",
        arguments: [(nil, "Being"), ("Being", nil), ("Being", "Party")] as [(String?, String?)])
    func changesParent(old: String?, new: String?) throws {
        func person(_ parent: String?) throws -> ManagedObjectModel {
            try model(
                EntityDescription("Person", superentity: parent, attributes: [A("name", type: .string)]),
                EntityDescription("Being").with { $0.isAbstract = true },
                EntityDescription("Party").with { $0.isAbstract = true })
        }
        let (a, b) = (try person(old), try person(new))
        let mapping = try MappingModel.inferred(from: a, to: b)
        #expect(
            mapping.entityMapping(named: "IEM_Transform_Person")?.attributeMappings
                == [PropertyMapping("name", expression: .source("name"))])
        #expect(mapping.problems(from: a, to: b).isEmpty)
    }

    /// Returns a model of cats and dogs, in two hierarchies.
    private func apart() throws -> ManagedObjectModel { try model(EntityDescription("Cat"), EntityDescription("Dog")) }

    /// Returns a model of cats and dogs, in one hierarchy of animals.
    private func together() throws -> ManagedObjectModel {
        try model(
            EntityDescription("Animal").with { $0.isAbstract = true }, EntityDescription("Cat", superentity: "Animal"),
            EntityDescription("Dog", superentity: "Animal"))
    }

    @Test("inference refuses to merge two hierarchies into one")
    func mergesHierarchies() throws {
        let problems = MappingModel.inferenceProblems(from: try apart(), to: try together())
        #expect(problems.map(\.entity) == ["Animal"])
        #expect(problems.first?.message.contains("'Cat', 'Dog'") == true)
    }

    @Test("inference splits one hierarchy into two")
    func splitsHierarchies() throws {
        #expect(
            try MappingModel.inferred(from: together(), to: apart()).entityMappings.map(\.name)
                == ["IEM_Transform_Cat", "IEM_Transform_Dog", "IEM_Remove_Animal"])
    }

    // MARK: Splitting and merging

    private func notesAndDrafts() throws -> ManagedObjectModel {
        try model(EntityDescription("Draft").with { $0.renamingIdentifier = "Note" }, EntityDescription("Note"))
    }

    @Test("inference refuses to split an entity into two")
    func splits() throws {
        let problems = MappingModel.inferenceProblems(
            from: try model(EntityDescription("Note")), to: try notesAndDrafts())
        #expect(problems.map(\.entity) == ["Draft", "Note"])
    }

    @Test("inference copies an entity that keeps its name, and removes one whose renaming identifier is that name")
    func merges() throws {
        let merged = try MappingModel.inferred(from: notesAndDrafts(), to: model(EntityDescription("Note")))
        #expect(merged.entityMappings.map(\.name) == ["IEM_Copy_Note", "IEM_Remove_Draft"])
    }

    @Test("a renaming identifier that several source entities share is refused as ambiguous")
    func ambiguousEntities() throws {
        let other = try model(EntityDescription("Text").with { $0.renamingIdentifier = "X" })
        let several = try model(
            EntityDescription("A").with { $0.renamingIdentifier = "X" },
            EntityDescription("B").with { $0.renamingIdentifier = "X" })
        #expect(MappingModel.inferenceProblems(from: several, to: other).map(\.entity) == ["Text"])
    }

    // MARK: Changes that affect no data

    @Test("changes of delete rules, defaults, limits, classes and indexes need no migration")
    func compatible() throws {
        let old = try model(
            EntityDescription(
                "Note", attributes: [A("n", type: .integer16)], relationships: [.toMany("tags", to: "Tag")]),
            EntityDescription("Tag"))
        let new = try model(
            EntityDescription(
                "Note",
                attributes: [
                    A(
                        "n", type: .integer16, defaultValue: 3
                    ).with {
                        $0.validation = AttributeValidation(minimum: 1)
                        $0.userInfo = ["a": "b"]
                    }
                ],
                relationships: [.toMany("tags", to: "Tag", deleteRule: .cascade)]
            ).with {
                $0.fetchIndexes = [FetchIndexDescription("byN", on: "n")]
                $0.managedObjectClassName = "Note"
                $0.userInfo = ["c": "d"]
            },
            EntityDescription("Tag"))
        #expect(try MappingModel.inferred(from: old, to: new).entityMappings.map(\.type) == [.copy, .copy])
    }

    private func numbers(
        constraints: [[String]] = [], isAbstract: Bool = false, modifier: String? = nil
    ) throws -> ManagedObjectModel {
        try model(
            EntityDescription(
                "Note", attributes: [A("n", type: .integer16), A("m", type: .integer16)],
                uniquenessConstraints: constraints
            ).with {
                $0.isAbstract = isAbstract
                $0.versionHashModifier = modifier
            })
    }

    /// A constraint on more attributes is wider: objects unique by `n` are unique by `n` and `m`.
    @Test("a new or narrower uniqueness constraint gives a remark; a wider constraint gives none")
    func constraints() throws {
        let (old, constrained) = (try numbers(), try numbers(constraints: [["n"]]))
        let mapping = try MappingModel.inferred(from: old, to: constrained)
        #expect(mapping.entityMappings.map(\.name) == ["IEM_Transform_Note"])
        #expect(mapping.remarks(from: old, to: constrained).map(\.kind) == [.demand])
        let wider = try numbers(constraints: [["n", "m"]])
        let loosened = try MappingModel.inferred(from: constrained, to: wider)
        #expect(loosened.remarks(from: constrained, to: wider).isEmpty)
        let narrowed = try MappingModel.inferred(from: wider, to: constrained)
        #expect(narrowed.remarks(from: wider, to: constrained).map(\.kind) == [.demand])
    }

    @Test("an entity that becomes abstract gives a remark")
    func becomesAbstract() throws {
        let (old, abstract) = (try numbers(), try numbers(isAbstract: true))
        let mapping = try MappingModel.inferred(from: old, to: abstract)
        #expect(mapping.remarks(from: old, to: abstract).map(\.kind) == [.demand])
    }

    @Test("a changed hash modifier is inferred without a remark")
    func hashModifier() throws {
        let (old, modified) = (try numbers(), try numbers(modifier: "2"))
        #expect(try MappingModel.inferred(from: old, to: modified).remarks(from: old, to: modified).isEmpty)
    }

    // MARK: Refusals

    @Test("a refused inference lists each problem once, with entity, property and remedy")
    func refusals() throws {
        let old = try model(
            EntityDescription(
                "Note", attributes: [A("a", type: .string), A("b", type: .date)],
                relationships: [.toMany("r", to: "Note")]),
            EntityDescription("Memo", superentity: "Note"))
        let new = try model(
            EntityDescription(
                "Note", attributes: [A("a", type: .integer16), A("b", type: .uuid)],
                relationships: [.toOne("r", to: "Note")]),
            EntityDescription("Memo", superentity: "Note"))
        let error = storeError { _ = try MappingModel.inferred(from: old, to: new) }
        #expect(error?.code == .mappingNotInferable)
        let lines = (error?.message ?? "").split(separator: "\n").dropFirst().map { $0.drop { $0 == " " } }
        #expect(lines.map { $0.prefix { $0 != ":" } } == ["Note.a", "Note.b", "Note.r"])
        #expect(lines.allSatisfy { $0.contains("mapping model") })
    }
}

func model(_ entities: EntityDescription...) throws -> ManagedObjectModel { try ManagedObjectModel(entities: entities) }
