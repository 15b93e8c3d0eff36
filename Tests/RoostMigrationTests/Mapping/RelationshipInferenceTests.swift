import RoostCore
import RoostMigration
import RoostQuery
import TestSamples
import Testing

/// Tests for the relationships in the table of inferred changes in `MAPPING-FORMAT.md`.
@Suite("Inferred mappings of relationships")
struct RelationshipInferenceTests {
    private typealias R = RelationshipDescription

    @Test("inference makes a to-one relationship to-many")
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
    }

    /// No rule determines which destination to keep.
    @Test("inference refuses a to-many relationship that becomes to-one")
    func refusesToOne() throws {
        let old = try model(
            EntityDescription("Note", relationships: [.toMany("images", to: "Image")]), EntityDescription("Image"))
        var image = R.toOne("image", to: "Image")
        image.renamingIdentifier = "images"
        let new = try model(EntityDescription("Note", relationships: [image]), EntityDescription("Image"))
        let problems = MappingModel.inferenceProblems(from: old, to: new)
        #expect(problems.map(\.property) == ["image"])
        #expect(problems.first?.message.contains("from to-many to to-one") == true)
    }

    @Test("adding an order to a relationship gives a note, and removing the order is a loss")
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

    @Test("a relationship whose destination entity changes is new, and its old destinations are a loss")
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

    @Test("when two relationships become inverses, the to-one end determines the links")
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
        func expectDemand(_ old: ManagedObjectModel, to new: ManagedObjectModel, keeping kept: String) throws {
            #expect(MappingModel.inferenceProblems(from: old, to: new).map(\.description) == [])
            let mapping = try MappingModel.inferred(from: old, to: new)
            #expect(mapping.problems(from: old, to: new).map(\.description) == [])
            let remarks = mapping.remarks(from: old, to: new)
            #expect(remarks.map { [$0.kind.rawValue, $0.entity, $0.property] } == [["demand", "A", kept]])
            #expect(remarks.first?.message.contains("'B.a', is to-one: the migration fails if two objects") == true)
            // The relationship of `A` supplies the pairs, so `B.a` has no expression.
            #expect(mapping.entityMapping(named: "IEM_Transform_B")?.relationshipMappings == [PropertyMapping("a")])
        }
        let new = try models(.toOne("b", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "b"))
        let many = try models(.toOne("b", to: "B", inverse: "as"), .toMany("as", to: "A", inverse: "b"))
        try expectDemand(many, to: new, keeping: "b")
        // The inverse is renamed, and then keeps its name.
        var renamed = R.toOne("a", to: "A", inverse: "b")
        renamed.renamingIdentifier = "as"
        try expectDemand(many, to: try models(.toOne("b", to: "B", inverse: "a"), renamed), keeping: "b")
        try expectDemand(
            try models(.toOne("b", to: "B", inverse: "a"), .toMany("a", to: "A", inverse: "b")), to: new, keeping: "b")
        try expectDemand(
            try models(.toMany("bs", to: "B", inverse: "as"), .toMany("as", to: "A", inverse: "bs")),
            to: try models(.toMany("bs", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "bs")), keeping: "bs")
        // Renaming the inverse of a one-to-one relationship gives no remark.
        let renamedInverse = try models(.toOne("b", to: "B", inverse: "c"), .toOne("c", to: "A", inverse: "b"))
        let kept = try MappingModel.inferred(from: renamedInverse, to: new)
        #expect(kept.remarks(from: renamedInverse, to: new).isEmpty)
    }

    @Test("inference makes a to-many relationship to-one only if a to-one inverse keeps the pairs")
    func lostNarrowing() throws {
        func models(_ a: R?, _ b: R) throws -> ManagedObjectModel {
            try model(
                EntityDescription("A", relationships: a.map { [$0] } ?? []), EntityDescription("B", relationships: [b]))
        }
        // The relationship has no inverse, a new inverse without pairs, or a to-many inverse.
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
        func remarks(_ old: ManagedObjectModel, to new: ManagedObjectModel) throws -> [String] {
            try MappingModel.inferred(from: old, to: new).remarks(from: old, to: new).map {
                "\($0.kind) \($0.property ?? "")"
            }
        }
        let old = try model(EntityDescription("A", relationships: [.toOne("b", to: "B")]), EntityDescription("B"))
        let new = try model(
            EntityDescription("A", relationships: [.toOne("b", to: "B", inverse: "a")]),
            EntityDescription("B", relationships: [.toOne("a", to: "A", inverse: "b")]))
        #expect(try remarks(old, to: new) == ["demand b"])
        #expect(try remarks(new, to: old) == [])
        #expect(
            try remarks(nodes(.toOne("s", to: "A")), to: nodes(.toOne("s", to: "A", inverse: "s"))) == [
                "loss s", "demand s",
            ])
        #expect(try remarks(nodes(.toMany("s", to: "A")), to: nodes(.toMany("s", to: "A", inverse: "s"))) == ["loss s"])
        #expect(try remarks(nodes(.toOne("s", to: "A")), to: nodes(.toMany("s", to: "A", inverse: "s"))) == ["loss s"])
        #expect(try remarks(nodes(.toMany("s", to: "A", inverse: "s")), to: nodes(.toMany("s", to: "A"))) == [])
    }
}
