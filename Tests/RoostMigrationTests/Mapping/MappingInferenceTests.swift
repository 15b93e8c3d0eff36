import RoostCore
import RoostMigration
import RoostQuery
import TestSamples
import Testing

/// Every row of the table of inference (reference §6.4), and what Roost adds to it.
@Suite("Inferred mapping models")
struct MappingInferenceTests {
    private typealias A = AttributeDescription
    private typealias R = RelationshipDescription

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
        var labels = R.toMany("labels", to: "Label", inverse: "posts")
        labels.renamingIdentifier = "tags"
        var posts = R.toMany("posts", to: "Post", inverse: "labels")
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

    @Test("a kept renaming identifier matches elements across two renames")
    func keepsIdentifier() throws {
        let versions = try ["title", "name", "label"].map { name in
            try model(
                EntityDescription(
                    "Note\(name.count)", attributes: [A(name, type: .string).with { $0.renamingIdentifier = "title" }]
                ).with { $0.renamingIdentifier = "Note" })
        }
        for (old, new) in [(0, 1), (1, 2), (0, 2)] {
            let mapping = try MappingModel.inferred(from: versions[old], to: versions[new])
            let entity = try #require(mapping.entityMappings.first)
            #expect(mapping.entityMappings.count == 1 && entity.type == .transform)
            #expect(entity.attributeMappings.map { $0.valueExpression != nil } == [true])
        }
    }

    @Test("a renaming identifier unknown in the source makes a new element and a note")
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
        // The likely mistake: the name of the version before was given instead of the identifier that it has.
        #expect(
            remarks.contains { $0.kind == .note && $0.property == "label" && $0.message.contains("known as 'title'") })
        #expect(remarks.contains { $0.kind == .note && $0.entity == "Tag" })
    }

    @Test("two destination attributes with one renaming identifier both get its value")
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
        // From there on each keeps its own value, though both have the identifier.
        var changed = both
        changed.versionHashModifier = "2"
        #expect(
            try MappingModel.inferred(from: new, to: model(changed)).entityMappings[0].attributeMappings
                == [
                    PropertyMapping("headline", expression: .source("headline")),
                    PropertyMapping("title", expression: .source("title")),
                ])
    }

    @Test("a renaming identifier of several source attributes with other names is refused")
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
        #expect(problems.first?.message.contains("several in the source: a, b") == true)
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

    @Test("inference refuses a type change that can lose values, also with a rename")
    func refusesTypes() throws {
        for old in AttributeType.allCases where old != .undefined && old != .composite {
            for new in AttributeType.allCases
            where new != .undefined && new != .composite && !old.widens(to: new) && !old.convertsWhereExact(to: new) {
                let (a, b) = (
                    try model(EntityDescription("Note", attributes: [A("x", type: old)])),
                    try model(
                        EntityDescription("Note", attributes: [A("y", type: new).with { $0.renamingIdentifier = "x" }]))
                )
                let problems = MappingModel.inferenceProblems(from: a, to: b)
                #expect(problems.map(\.property) == ["y"], "\(old) to \(new)")
                #expect(problems.first?.message.contains("from \(old.name) to \(new.name)") == true)
            }
        }
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

    @Test("an attribute whose type has a text becomes a string only on request", arguments: AttributeType.allCases)
    func convertsToString(type: AttributeType) throws {
        guard type != .undefined, type != .composite, type != .string else { return }
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
        func losses(_ destination: ManagedObjectModel, _ mapping: MappingModel? = nil) throws -> [String?] {
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
        #expect(try losses(source, single) == ["place.lon", "place.street.name"])
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

    // MARK: Relationships

    @Test("inference makes a to-one relationship to-many, and refuses the reverse")
    func becomesToMany() throws {
        let old = try model(
            EntityDescription("Note", relationships: [.toOne("image", to: "Image")]), EntityDescription("Image"))
        var images = R.toMany("images", to: "Image")
        images.renamingIdentifier = "image"
        let new = try model(EntityDescription("Note", relationships: [images]), EntityDescription("Image"))
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(
            mapping.entityMapping(named: "IEM_Transform_Note")?.relationshipMappings
                == [PropertyMapping("images", expression: .relatedInstances(ofSourceRelationship: "image"))])
        #expect(mapping.problems(from: old, to: new).isEmpty)
        // And not back: no rule says which one to keep.
        var image = R.toOne("image", to: "Image")
        image.renamingIdentifier = "images"
        let back = try model(EntityDescription("Note", relationships: [image]), EntityDescription("Image"))
        let from = try model(
            EntityDescription("Note", relationships: [.toMany("images", to: "Image")]), EntityDescription("Image"))
        let problems = MappingModel.inferenceProblems(from: from, to: back)
        #expect(problems.map(\.property) == ["image"])
        #expect(problems.first?.message.contains("from to-many to to-one") == true)
    }

    @Test("an order that is added gives a note, and one that is removed a loss")
    func orders() throws {
        func note(isOrdered: Bool) throws -> ManagedObjectModel {
            try model(
                EntityDescription("Note", relationships: [.toMany("tags", to: "Tag", isOrdered: isOrdered)]),
                EntityDescription("Tag"))
        }
        let (plain, ordered) = (try note(isOrdered: false), try note(isOrdered: true))
        let made = try MappingModel.inferred(from: plain, to: ordered)
        #expect(made.remarks(from: plain, to: ordered).map(\.kind) == [.note])
        let dropped = try MappingModel.inferred(from: ordered, to: plain)
        #expect(dropped.remarks(from: ordered, to: plain).map(\.kind) == [.loss])
    }

    @Test("a relationship with another destination entity is a new relationship and a loss")
    func otherDestination() throws {
        let old = try model(
            EntityDescription("Note", relationships: [.toOne("owner", to: "Person")]), EntityDescription("Person"),
            EntityDescription("Company"))
        let new = try model(
            EntityDescription("Note", relationships: [.toOne("owner", to: "Company")]), EntityDescription("Person"),
            EntityDescription("Company"))
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(
            mapping.entityMapping(named: "IEM_Transform_Note")?.relationshipMappings == [PropertyMapping("owner")])
        #expect(mapping.remarks(from: old, to: new).map(\.property) == ["owner"])
    }

    @Test("destinations that a relationship no longer allows are a loss")
    func narrowed() throws {
        func note(to destination: String) throws -> ManagedObjectModel {
            try model(
                EntityDescription("Note", relationships: [.toOne("owner", to: destination)]),
                EntityDescription("Party"),
                EntityDescription("Person", superentity: "Party"))
        }
        let (old, new) = (try note(to: "Party"), try note(to: "Person"))
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(
            mapping.entityMapping(named: "IEM_Transform_Note")?.relationshipMappings
                == [PropertyMapping("owner", expression: .relatedInstances(ofSourceRelationship: "owner"))])
        let remarks = mapping.remarks(from: old, to: new)
        #expect(remarks.map(\.kind) == [.loss])
        #expect(remarks.first?.message.contains("'Party'") == true)
        #expect(try MappingModel.inferred(from: new, to: old).remarks(from: new, to: old).isEmpty)
    }

    @Test("adding or removing an inverse keeps a relationship's destinations without a loss")
    func inverses() throws {
        let old = try model(
            EntityDescription("Note", relationships: [.toOne("owner", to: "Person")]), EntityDescription("Person"))
        let new = try model(
            EntityDescription("Note", relationships: [.toOne("owner", to: "Person", inverse: "notes")]),
            EntityDescription("Person", relationships: [.toMany("notes", to: "Note", inverse: "owner")]))
        let added = try MappingModel.inferred(from: old, to: new)
        #expect(
            added.entityMapping(named: "IEM_Transform_Note")?.relationshipMappings
                == [PropertyMapping("owner", expression: .relatedInstances(ofSourceRelationship: "owner"))])
        #expect(
            added.entityMapping(named: "IEM_Transform_Person")?.relationshipMappings == [PropertyMapping("notes")])
        #expect(added.remarks(from: old, to: new).isEmpty)
        let removed = try MappingModel.inferred(from: new, to: old)
        #expect(removed.remarks(from: new, to: old).isEmpty)
    }

    @Test("when two relationships become inverses, the end that stores keep determines the links")
    func joinedInverses() throws {
        let old = try model(
            EntityDescription("Note", relationships: [.toOne("owner", to: "Person")]),
            EntityDescription("Person", relationships: [.toMany("notes", to: "Note")]))
        let new = try model(
            EntityDescription("Note", relationships: [.toOne("owner", to: "Person", inverse: "notes")]),
            EntityDescription("Person", relationships: [.toMany("notes", to: "Note", inverse: "owner")]))
        let mapping = try MappingModel.inferred(from: old, to: new)
        #expect(
            mapping.entityMapping(named: "IEM_Transform_Note")?.relationshipMappings
                == [PropertyMapping("owner", expression: .relatedInstances(ofSourceRelationship: "owner"))])
        #expect(
            mapping.entityMapping(named: "IEM_Transform_Person")?.relationshipMappings == [PropertyMapping("notes")])
        #expect(mapping.remarks(from: old, to: new).map { "\($0.kind) \($0.property ?? "")" } == ["loss notes"])
    }

    @Test("an inverse that becomes to-one gives a remark, whatever its new name")
    func narrowedInverse() throws {
        func models(_ a: R, _ b: R) throws -> ManagedObjectModel {
            try model(EntityDescription("A", relationships: [a]), EntityDescription("B", relationships: [b]))
        }
        func expectDemand(_ old: ManagedObjectModel, _ new: ManagedObjectModel, _ kept: String) throws {
            #expect(MappingModel.inferenceProblems(from: old, to: new).map(\.description) == [])
            let mapping = try MappingModel.inferred(from: old, to: new)
            #expect(mapping.problems(from: old, to: new).map(\.description) == [])
            let remarks = mapping.remarks(from: old, to: new)
            #expect(remarks.map { [$0.kind.rawValue, $0.entity, $0.property] } == [["demand", "A", kept]])
            #expect(remarks.first?.message.contains("'B.a', is to-one: the migration fails if two objects") == true)
            // The pairs come from the end that is kept.
            #expect(mapping.entityMapping(named: "IEM_Transform_B")?.relationshipMappings == [PropertyMapping("a")])
        }
        let new = try models(.toOne("b", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "b"))
        let many = try models(.toOne("b", to: "B", inverse: "as"), .toMany("as", to: "A", inverse: "b"))
        try expectDemand(many, new, "b")
        // The end itself, renamed, and under its name.
        var renamed = R.toOne("a", to: "A", inverse: "b")
        renamed.renamingIdentifier = "as"
        try expectDemand(many, try models(.toOne("b", to: "B", inverse: "a"), renamed), "b")
        try expectDemand(try models(.toOne("b", to: "B", inverse: "a"), .toMany("a", to: "A", inverse: "b")), new, "b")
        try expectDemand(
            try models(.toMany("bs", to: "B", inverse: "as"), .toMany("as", to: "A", inverse: "bs")),
            try models(.toMany("bs", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "bs")), "bs")
        // Of one-to-one relationships nothing changes.
        let renamedInverse = try models(.toOne("b", to: "B", inverse: "c"), .toOne("c", to: "A", inverse: "b"))
        let kept = try MappingModel.inferred(from: renamedInverse, to: new)
        #expect(kept.remarks(from: renamedInverse, to: new).isEmpty)
    }

    @Test("a to-many relationship without pairs in a to-one inverse does not become to-one")
    func lostNarrowing() throws {
        func models(_ a: R?, _ b: R) throws -> ManagedObjectModel {
            try model(
                EntityDescription("A", relationships: a.map { [$0] } ?? []), EntityDescription("B", relationships: [b]))
        }
        // Without an inverse; with one that is new, and not where the pairs are.
        for (old, new) in [
            (try models(nil, .toMany("a", to: "A")), try models(nil, .toOne("a", to: "A"))),
            (
                try models(.toOne("b", to: "B", inverse: "a"), .toMany("a", to: "A", inverse: "b")),
                try models(.toOne("c", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "c"))
            ),
            (
                try models(.toMany("b", to: "B", inverse: "a"), .toMany("a", to: "A", inverse: "b")),
                try models(.toMany("b", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "b"))
            ),
        ] {
            let problems = MappingModel.inferenceProblems(from: old, to: new)
            #expect(problems.map { [$0.entity, $0.property] } == [["B", "a"]])
        }
    }

    @Test("a new to-one inverse gives a remark; a relationship that becomes its own inverse loses direction")
    func newInverse() throws {
        func nodes(_ relationship: R) throws -> ManagedObjectModel {
            try model(EntityDescription("A", relationships: [relationship]))
        }
        func remarks(_ old: ManagedObjectModel, _ new: ManagedObjectModel) throws -> [String] {
            try MappingModel.inferred(from: old, to: new).remarks(from: old, to: new).map {
                "\($0.kind) \($0.property ?? "")"
            }
        }
        let old = try model(EntityDescription("A", relationships: [.toOne("b", to: "B")]), EntityDescription("B"))
        let new = try model(
            EntityDescription("A", relationships: [.toOne("b", to: "B", inverse: "a")]),
            EntityDescription("B", relationships: [.toOne("a", to: "A", inverse: "b")]))
        #expect(try remarks(old, new) == ["demand b"])
        #expect(try remarks(new, old) == [])
        #expect(
            try remarks(nodes(.toOne("s", to: "A")), nodes(.toOne("s", to: "A", inverse: "s"))) == [
                "loss s", "demand s",
            ])
        #expect(try remarks(nodes(.toMany("s", to: "A")), nodes(.toMany("s", to: "A", inverse: "s"))) == ["loss s"])
        #expect(try remarks(nodes(.toOne("s", to: "A")), nodes(.toMany("s", to: "A", inverse: "s"))) == ["loss s"])
        #expect(try remarks(nodes(.toMany("s", to: "A", inverse: "s")), nodes(.toMany("s", to: "A"))) == [])
    }

    // MARK: Hierarchies

    @Test("an attribute keeps its values when it moves within a hierarchy")
    func movesAttribute() throws {
        func party(_ above: [A], _ below: [A]) throws -> ManagedObjectModel {
            try model(
                EntityDescription("Party", attributes: above),
                EntityDescription("Person", superentity: "Party", attributes: below))
        }
        let (above, below) = (try party([A("name", type: .string)], []), try party([], [A("name", type: .string)]))
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

    @Test("an entity keeps its values when its parent is inserted, removed or changed")
    func changesParent() throws {
        func person(_ parent: String?) throws -> ManagedObjectModel {
            try model(
                EntityDescription("Person", superentity: parent, attributes: [A("name", type: .string)]),
                EntityDescription("Being").with { $0.isAbstract = true },
                EntityDescription("Party").with { $0.isAbstract = true })
        }
        for (old, new) in [(nil, "Being"), ("Being", nil), ("Being", "Party")] as [(String?, String?)] {
            let (a, b) = (try person(old), try person(new))
            let mapping = try MappingModel.inferred(from: a, to: b)
            #expect(
                mapping.entityMapping(named: "IEM_Transform_Person")?.attributeMappings
                    == [PropertyMapping("name", expression: .source("name"))])
            #expect(mapping.problems(from: a, to: b).isEmpty)
        }
    }

    @Test("inference splits one hierarchy in two, but does not merge two")
    func mergesHierarchies() throws {
        let apart = try model(EntityDescription("Cat"), EntityDescription("Dog"))
        let together = try model(
            EntityDescription("Animal").with { $0.isAbstract = true }, EntityDescription("Cat", superentity: "Animal"),
            EntityDescription("Dog", superentity: "Animal"))
        let problems = MappingModel.inferenceProblems(from: apart, to: together)
        #expect(problems.map(\.entity) == ["Animal"])
        #expect(problems.first?.message.contains("'Cat', 'Dog'") == true)
        #expect(
            try MappingModel.inferred(from: together, to: apart).entityMappings.map(\.name)
                == ["IEM_Transform_Cat", "IEM_Transform_Dog", "IEM_Remove_Animal"])
    }

    // MARK: Splitting and merging

    @Test("inference refuses to split an entity or to merge two into one")
    func splits() throws {
        let one = try model(EntityDescription("Note"))
        let two = try model(
            EntityDescription("Draft").with { $0.renamingIdentifier = "Note" }, EntityDescription("Note"))
        let problems = MappingModel.inferenceProblems(from: one, to: two)
        #expect(problems.map(\.entity) == ["Draft", "Note"])
        // Merging: one of the two has the name, and the other is removed.
        let merged = try MappingModel.inferred(from: two, to: one)
        #expect(merged.entityMappings.map(\.name) == ["IEM_Copy_Note", "IEM_Remove_Draft"])
        let other = try model(EntityDescription("Text").with { $0.renamingIdentifier = "X" })
        let several = try model(
            EntityDescription("A").with { $0.renamingIdentifier = "X" },
            EntityDescription("B").with { $0.renamingIdentifier = "X" })
        #expect(MappingModel.inferenceProblems(from: several, to: other).map(\.entity) == ["Text"])
    }

    // MARK: What changes no data

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

    @Test("a new uniqueness constraint and a new abstract entity give remarks")
    func hashOnly() throws {
        let old = try model(
            EntityDescription("Note", attributes: [A("n", type: .integer16), A("m", type: .integer16)]))
        let constrained = try model(
            EntityDescription(
                "Note", attributes: [A("n", type: .integer16), A("m", type: .integer16)], uniquenessConstraints: [["n"]]
            ))
        let mapping = try MappingModel.inferred(from: old, to: constrained)
        #expect(mapping.entityMappings.map(\.name) == ["IEM_Transform_Note"])
        #expect(mapping.remarks(from: old, to: constrained).map(\.kind) == [.demand])
        // A wider constraint is met by what met a narrower one.
        let wider = try model(
            EntityDescription(
                "Note", attributes: [A("n", type: .integer16), A("m", type: .integer16)],
                uniquenessConstraints: [["n", "m"]]))
        let loosened = try MappingModel.inferred(from: constrained, to: wider)
        #expect(loosened.remarks(from: constrained, to: wider).isEmpty)
        let narrowed = try MappingModel.inferred(from: wider, to: constrained)
        #expect(narrowed.remarks(from: wider, to: constrained).map(\.kind) == [.demand])

        let abstract = try model(
            EntityDescription("Note", attributes: [A("n", type: .integer16), A("m", type: .integer16)]).with {
                $0.isAbstract = true
            })
        let demand = try MappingModel.inferred(from: old, to: abstract)
        #expect(demand.remarks(from: old, to: abstract).map(\.kind) == [.demand])
        let modified = try model(
            EntityDescription(
                "Note", attributes: [A("n", type: .integer16), A("m", type: .integer16)]
            ).with { $0.versionHashModifier = "2" })
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

/// A model of entities.
func model(_ entities: EntityDescription...) throws -> ManagedObjectModel { try ManagedObjectModel(entities: entities) }
