import RoostCore
import RoostMigration
import Testing

/// A renaming identifier is stray if it names no element, or an unrelated element.
@Suite("Matching elements of two versions")
struct VersionMatchingTests {
    private typealias A = AttributeDescription

    private func model(_ entities: EntityDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: entities)
    }

    @Test("a mapping model with version 1 hashes fits only the models that have these hashes")
    func mappingsOfOldRecipe() throws {
        let (old, new) = (
            try model(EntityDescription("Track", attributes: [.date("seen").transient()])),
            try model(EntityDescription("Track", attributes: [.date("seen")]))
        )
        var mapping = try MappingModel.inferred(from: old, to: new)
        let index = try #require(mapping.entityMappings.firstIndex { $0.sourceEntity == "Track" })
        mapping.entityMappings[index].sourceVersionHash = old.versionHashes(by: .v1)["Track"]
        mapping.entityMappings[index].destinationVersionHash = new.versionHashes(by: .v1)["Track"]
        #expect(mapping.problems(from: old, to: new).map(\.description) == [])
        mapping.entityMappings[index].sourceVersionHash = new.versionHashes(by: .v1)["Track"]
        #expect(mapping.problems(from: old, to: new).map(\.mapping) == ["IEM_Transform_Track"])
    }

    /// Returns each mapping as `type source>destination`.
    private func mappings(_ old: ManagedObjectModel, to new: ManagedObjectModel) throws -> [String] {
        try MappingModel.inferred(from: old, to: new).entityMappings.map { mapping in
            let ends = [mapping.sourceEntity, mapping.destinationEntity].map { $0?.text ?? "-" }
            return "\(mapping.type.rawValue) \(ends.joined(separator: ">"))"
        }
    }

    /// Returns the source of each attribute of `Note`, if any.
    private func values(_ old: [AttributeDescription], to new: [AttributeDescription]) throws -> [String: String] {
        let old = try model(EntityDescription("Note", attributes: old).with { $0.versionHashModifier = "old" })
        let new = try model(EntityDescription("Note", attributes: new))
        let mapping = try #require(try MappingModel.inferred(from: old, to: new).entityMappings.first)
        var values: [String: String] = [:]
        for property in mapping.attributeMappings {
            guard case .path(_, let names)? = property.valueExpression else { continue }
            values[property.name] = names.joined(separator: ".")
        }
        return values
    }

    // MARK: Entities

    @Test("an entity with the same name and hash is copied despite a stray renaming identifier")
    func strayIdentifierWithEqualHash() throws {
        let note = EntityDescription("Note", attributes: [A("title", type: .string)])
        var stray = note
        stray.renamingIdentifier = "messageDestructionTimeout"
        let (plain, renamed) = (try model(note), try model(stray))
        #expect(plain.entity("Note")?.versionHash == renamed.entity("Note")?.versionHash)
        #expect(try mappings(plain, to: renamed) == ["copy Note>Note"])
        #expect(try mappings(renamed, to: plain) == ["copy Note>Note"])
        // The identifier may also name another, unchanged entity.
        let tag = EntityDescription("Tag", attributes: [A("name", type: .string)])
        stray.renamingIdentifier = "Tag"
        #expect(try mappings(model(note, tag), to: model(stray, tag)) == ["copy Note>Note", "copy Tag>Tag"])
    }

    @Test("a changed entity keeps its objects despite a stray renaming identifier")
    func strayIdentifierOfAChangedEntity() throws {
        func note(_ name: String, identifier: String?) throws -> ManagedObjectModel {
            try model(
                EntityDescription("Note", attributes: [A(name, type: .string)]).with {
                    $0.renamingIdentifier = identifier
                })
        }
        #expect(try mappings(note("a", identifier: nil), to: note("b", identifier: "stray")) == ["transform Note>Note"])
        #expect(try mappings(note("a", identifier: "stray"), to: note("b", identifier: nil)) == ["transform Note>Note"])
        #expect(
            try mappings(note("a", identifier: "stray"), to: note("b", identifier: "other")) == ["transform Note>Note"])
    }

    @Test("an entity is renamed, and a new entity may take its old name")
    func renamedEntity() throws {
        let old = try model(EntityDescription("Note", attributes: [A("title", type: .string)]))
        let post = EntityDescription("Post", attributes: [A("title", type: .string)]).with {
            $0.renamingIdentifier = "Note"
        }
        #expect(try mappings(old, to: model(post)) == ["transform Note>Post"])
        #expect(
            try mappings(old, to: model(post, EntityDescription("Note", attributes: [A("other", type: .date)])))
                == ["add ->Note", "transform Note>Post"])
        // An identifier from an earlier rename also matches: `Post` and `Entry` both have `Note`.
        let third = EntityDescription("Entry", attributes: [A("title", type: .string)]).with {
            $0.renamingIdentifier = "Note"
        }
        #expect(try mappings(model(post), to: model(third)) == ["transform Post>Entry"])
    }

    @Test(
        "two equal entities that match one source entity are refused as ambiguous"
    )
    func renamedAndReplacedBySame() throws {
        let note = EntityDescription("Note", attributes: [A("title", type: .string)])
        let post = EntityDescription("Post", attributes: [A("title", type: .string)]).with {
            $0.renamingIdentifier = "Note"
        }
        let problems = MappingModel.inferenceProblems(from: try model(note), to: try model(note, post))
        #expect(problems.map(\.entity) == ["Note", "Post"])
    }

    @Test("two entities exchange their names by renaming identifiers")
    func swappedEntities() throws {
        let old = try model(
            EntityDescription("A", attributes: [A("x", type: .string)]),
            EntityDescription("B", attributes: [A("y", type: .date)]))
        let new = try model(
            EntityDescription("A", attributes: [A("y", type: .date)]).with { $0.renamingIdentifier = "B" },
            EntityDescription("B", attributes: [A("x", type: .string)]).with { $0.renamingIdentifier = "A" })
        #expect(try mappings(old, to: new) == ["transform B>A", "transform A>B"])
    }

    @Test("an entity keeps its objects when its renaming identifier is removed")
    func removedIdentifier() throws {
        let old = try model(
            EntityDescription("Post", attributes: [A("a", type: .string)]).with { $0.renamingIdentifier = "Note" })
        let new = try model(EntityDescription("Post", attributes: [A("a", type: .string), A("b", type: .string)]))
        #expect(try mappings(old, to: new) == ["transform Post>Post"])
    }

    // MARK: Attributes

    @Test("an attribute keeps its values despite a stray renaming identifier")
    func strayIdentifierOfAnAttribute() throws {
        let plain = A("isSilenced", type: .boolean)
        let stray = A("isSilenced", type: .boolean).with { $0.renamingIdentifier = "mutedStatus" }
        #expect(try values([plain], to: [stray]) == ["isSilenced": "isSilenced"])
        #expect(try values([stray], to: [plain]) == ["isSilenced": "isSilenced"])
        #expect(
            try values([plain], to: [stray, A("mutedStatus", type: .integer32)]) == ["isSilenced": "isSilenced"],
            "the identifier is the name of a new attribute")
        #expect(
            try values([plain, A("mutedStatus", type: .boolean)], to: [stray, A("mutedStatus", type: .boolean)])
                == ["isSilenced": "mutedStatus", "mutedStatus": "mutedStatus"],
            "the identifier is the name of an attribute that stays: both get its values")
    }

    @Test(
        "a number that becomes floating-point keeps its values despite a stray identifier",
        arguments: [
            (.integer64, .double), (.integer64, .float), (.integer32, .float), (.integer32, .double),
        ] as [(AttributeType, AttributeType)])
    func strayIdentifierOfANumber(old: AttributeType, new: AttributeType) throws {
        func number(_ type: AttributeType, identifier: String? = nil) -> [AttributeDescription] {
            [A("n", type: type).with { $0.renamingIdentifier = identifier }]
        }
        #expect(try values(number(old), to: number(new, identifier: "stray")) == ["n": "n"])
        #expect(try values(number(old, identifier: "stray"), to: number(new)) == ["n": "n"])
    }

    @Test("attributes are renamed, exchanged, and replaced by new attributes with the old names")
    func renamedAttributes() throws {
        #expect(
            try values([A("x", type: .string)], to: [A("y", type: .string).with { $0.renamingIdentifier = "x" }]) == [
                "y": "x"
            ])
        #expect(
            try values(
                [A("x", type: .string), A("y", type: .string)],
                to: [
                    A("x", type: .string).with { $0.renamingIdentifier = "y" },
                    A("y", type: .string).with { $0.renamingIdentifier = "x" },
                ])
                == ["x": "y", "y": "x"])
        // The usual type change is a renamed attribute, and a new attribute with the old name.
        #expect(
            try values(
                [A("x", type: .string)],
                to: [A("oldX", type: .string).with { $0.renamingIdentifier = "x" }, A("x", type: .date)])
                == ["oldX": "x"])
        // With a stray identifier and another type, the attribute is new.
        #expect(
            try values([A("x", type: .string)], to: [A("x", type: .date).with { $0.renamingIdentifier = "new" }]) == [:]
        )
    }

    @Test("an element of a composite keeps its values despite a stray renaming identifier")
    func elements() throws {
        func place(_ identifier: String?) -> AttributeDescription {
            A(
                "place", type: .composite,
                elements: [
                    A("lat", type: .double).with { $0.renamingIdentifier = identifier }, A("lon", type: .double),
                    A("n\(identifier ?? "")", type: .integer16),
                ])
        }
        let kept = try values([place(nil)], to: [place("stray")])
        #expect(kept["place.lat"] == "place.lat" && kept["place.lon"] == "place.lon")
        #expect(kept["place.nstray"] == nil)
    }

    // MARK: Relationships

    @Test(
        "a relationship keeps its destinations despite a stray renaming identifier",
        arguments: [("stray", nil), (nil, "stray"), ("stray", "other")] as [(String?, String?)])
    func strayIdentifierOfARelationship(identifier: String?, back: String?) throws {
        func notes(_ identifier: String?, back: String?, modifier: String) throws -> ManagedObjectModel {
            var tags = RelationshipDescription.toMany("tags", to: "Tag", inverse: "notes")
            var notes = RelationshipDescription.toMany("notes", to: "Note", inverse: "tags")
            (tags.renamingIdentifier, notes.renamingIdentifier) = (identifier, back)
            return try model(
                EntityDescription("Note", relationships: [tags]).with { $0.versionHashModifier = modifier },
                EntityDescription("Tag", relationships: [notes]).with { $0.versionHashModifier = modifier })
        }
        let (plain, stray) = (
            try notes(nil, back: nil, modifier: "1"), try notes(identifier, back: back, modifier: "2")
        )
        for (old, new) in [(plain, stray), (stray, plain)] {
            let mapping = try MappingModel.inferred(from: old, to: new)
            #expect(mapping.entityMappings.flatMap(\.relationshipMappings).allSatisfy { $0.valueExpression != nil })
            #expect(!mapping.remarks(from: old, to: new).contains { $0.kind == .loss })
        }
    }

    @Test("relationships are renamed and exchanged by renaming identifiers")
    func renamedRelationships() throws {
        func note(_ first: (String, String?), _ second: (String, String?)) throws -> ManagedObjectModel {
            let relationships = [first, second].map { name, identifier in
                var relationship = RelationshipDescription.toOne(name, to: "Tag")
                relationship.renamingIdentifier = identifier
                return relationship
            }
            return try model(
                EntityDescription("Note", relationships: relationships).with {
                    $0.versionHashModifier = "\(first)\(second)"
                },
                EntityDescription("Tag"))
        }
        func origins(_ old: ManagedObjectModel, to new: ManagedObjectModel) throws -> [String: String] {
            let mapping = try #require(
                try MappingModel.inferred(from: old, to: new).entityMappings.first { $0.destinationEntity == "Note" })
            var origins: [String: String] = [:]
            for property in mapping.relationshipMappings {
                if case .registered(_, let arguments)? = property.valueExpression,
                    case .constant(.string(let name)) = arguments[1]
                {
                    origins[property.name] = name
                }
            }
            return origins
        }
        let old = try note(("a", nil), ("b", nil))
        #expect(try origins(old, to: note(("a", "b"), ("b", "a"))) == ["a": "b", "b": "a"])
        #expect(try origins(old, to: note(("c", "a"), ("b", nil))) == ["c": "a", "b": "b"])
        #expect(try origins(old, to: note(("a", nil), ("b", "a"))) == ["a": "a", "b": "a"])
    }
}
