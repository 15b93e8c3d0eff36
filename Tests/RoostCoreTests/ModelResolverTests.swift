import RoostCore
import TestSamples
import Testing

@Suite("Resolved models")
struct ModelResolverTests {
    /// Returns a model with several hierarchies and every way of storing a relationship.
    static func library() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Work",
                attributes: [.string("title"), .integer16("year"), .string("note").transient()],
                relationships: [
                    .toMany("authors", to: "Person", inverse: "works", isOrdered: true),
                    .toOne("shelf", to: "Shelf", inverse: "works"),
                    .toMany("editions", to: "Edition"), .toOne("preface", to: "Work", inverse: "prefaced"),
                    .toOne("prefaced", to: "Work", inverse: "preface"),
                ],
                uniquenessConstraints: [["year", "title"], ["shelf"]]
            ).with {
                $0.isAbstract = true
                $0.fetchIndexes = [FetchIndexDescription("byYear", on: "year")]
            },
            EntityDescription(
                "Book", superentity: "Work",
                attributes: [
                    .string("isbn"),
                    .composite("size", elements: [.double("y"), .composite("x", elements: [.double("z")])]),
                ],
                uniquenessConstraints: [["isbn"]]
            ).with { $0.fetchIndexes = [FetchIndexDescription("byISBN", on: "isbn")] },
            EntityDescription("Audiobook", superentity: "Book", attributes: [.boolean("abridged")]),
            EntityDescription(
                "Person", attributes: [.string("name")],
                relationships: [
                    .toMany("works", to: "Work", inverse: "authors"),
                    .toMany("friends", to: "Person", inverse: "friends"),
                    .toOne("spouse", to: "Person", inverse: "spouse"),
                    .toMany("children", to: "Person", inverse: "parent"),
                    .toOne("parent", to: "Person", inverse: "children"),
                ]),
            EntityDescription(
                "Shelf", relationships: [.toMany("works", to: "Work", inverse: "shelf", isOrdered: true)]),
            EntityDescription("Edition", relationships: [.toOne("publisher", to: "Person")]),
        ])
    }

    private func relationship(_ entity: String, name: String) throws -> ManagedObjectModel.Relationship {
        try #require(try Self.library().relationship(RelationshipName(EntityName(entity), name: name)))
    }

    @Test("a model numbers its entities by name, in whatever order they were declared")
    func numbers() throws {
        let model = try Self.library()
        #expect(model.entities.map(\.name.text) == ["Audiobook", "Book", "Edition", "Person", "Shelf", "Work"])
        #expect(model.entities.map(\.number) == Array(0..<6))
        let shuffled = try ManagedObjectModel(entities: model.entityDescriptions.reversed())
        #expect(shuffled == model)
        #expect(shuffled.relationships.map(\.name) == model.relationships.map(\.name))
        #expect(shuffled.document() == model.document())
    }

    @Test("a model numbers its relationships by declaring entity and name")
    func relationshipNumbers() throws {
        let model = try Self.library()
        #expect(
            model.relationships.map(\.name.description) == [
                "Edition.publisher", "Person.children", "Person.friends", "Person.parent", "Person.spouse",
                "Person.works",
                "Shelf.works", "Work.authors", "Work.editions", "Work.preface", "Work.prefaced", "Work.shelf",
            ])
        #expect(model.relationships.map(\.number) == Array(0..<12))
    }

    @Test("an entity knows its superentity, root, subentities and inherited properties")
    func inheritance() throws {
        let model = try Self.library()
        let (audiobook, work) = (try model.requireEntity("Audiobook"), try model.requireEntity("Work"))
        #expect(audiobook.superentity == 1)
        #expect(audiobook.root == 5)
        #expect(work.selfAndSubentities == [0, 1, 5])
        #expect(work.includes(0) && work.includes(5) && !work.includes(3) && !audiobook.includes(1))
        #expect(audiobook.attributes.map(\.name) == ["abridged", "isbn", "note", "size", "title", "year"])
        #expect(audiobook.relationships.map(\.name.name) == ["authors", "editions", "preface", "prefaced", "shelf"])
        #expect(audiobook.attribute("title")?.type == .string)
        #expect(audiobook.attribute("titlf") == nil)
        #expect(audiobook.relationship("shelf")?.name.entity == "Work")
        #expect(model.roots == [2, 3, 4, 5])
    }

    @Test("a subentity inherits constraints and indexes under their numbers")
    func constraints() throws {
        let model = try Self.library()
        #expect(model.uniquenessConstraints.map(\.attributes) == [["isbn"], ["shelf"], ["year", "title"]])
        #expect(model.uniquenessConstraints.map(\.number) == [0, 1, 2])
        #expect(model.entity("Audiobook")?.uniquenessConstraints.map(\.number) == [1, 2, 0])
        #expect(model.entity("Work")?.uniquenessConstraints.map(\.number) == [1, 2])
        #expect(model.entity("Audiobook")?.fetchIndexes.map(\.declaration.name) == ["byYear", "byISBN"])
        #expect(model.entity("Audiobook")?.fetchIndexes.map(\.number) == [1, 0])
    }

    @Test(
        "each relationship is stored in the way that fits it and its inverse",
        arguments: [
            ("Work", "shelf", .field), ("Shelf", "works", .derived(inverse: 11)), ("Person", "parent", .field),
            ("Person", "children", .derived(inverse: 3)), ("Person", "spouse", .field), ("Work", "preface", .field),
            ("Work", "prefaced", .field), ("Person", "works", .links(of: 5, isFlipped: false)),
            ("Work", "authors", .links(of: 5, isFlipped: true)), ("Person", "friends", .links(of: 2, isFlipped: false)),
            ("Work", "editions", .links(of: 8, isFlipped: false)), ("Edition", "publisher", .field),
        ] as [(String, String, ManagedObjectModel.Relationship.Storage)])
    func storage(_ entity: String, name: String, storage: ManagedObjectModel.Relationship.Storage) throws {
        #expect(try relationship(entity, name: name).storage == storage)
    }

    @Test("one relationship of each linked pair owns the links, and a reflexive relationship owns its own")
    func owners() throws {
        #expect(try Self.library().linkRelationships.map(\.number) == [2, 5, 8])
        #expect(try relationship("Person", name: "friends").isReflexive)
        #expect(try relationship("Person", name: "spouse").isReflexive)
        #expect(try !relationship("Person", name: "works").isReflexive)
        #expect(try relationship("Person", name: "works").inverseIsOrdered)
        #expect(try relationship("Work", name: "authors").isOrdered)
        let link = try relationship("Person", name: "friends").normalized(Link(7, 3, order: 5))
        #expect(link == Link(3, 7))
    }

    @Test("a record has a field for each stored attribute, reference and place in an ordered relationship, no others")
    func layouts() throws {
        let model = try Self.library()
        let fields = try model.requireEntity("Audiobook").layout.fields
        #expect(
            fields.map { "\($0.name):\($0.kind)" } == [
                "preface:polymorphicReference", "prefaced:polymorphicReference", "shelf:reference", "shelf#order:order",
                "size.x.z:double", "size.y:double", "year:integer16", "abridged:boolean", "size:composite",
                "size.x:composite", "isbn:string", "title:string",
            ])
        let shelf = try #require(try model.requireEntity("Audiobook").layout.field("shelf"))
        #expect(shelf.destination == model.entity("Shelf")?.number)
        #expect(shelf.relationship == 11)
        #expect(try model.requireEntity("Shelf").layout.fields.isEmpty)
        for (field, next) in zip(fields, fields.dropFirst()) {
            #expect(next.byteOffset == field.byteOffset + field.kind.width)
        }
    }

    @Test("a reference holds the destination's entity only if several entities are possible")
    func polymorphicReferences() throws {
        let model = try Self.library()
        #expect(model.entity("Person")?.layout.field("spouse")?.kind == .reference)
        #expect(model.entity("Edition")?.layout.field("publisher")?.kind == .reference)
        #expect(model.entity("Book")?.layout.field("preface")?.kind == .polymorphicReference)
    }

    @Test("an inverse may be declared by a superentity of the destination")
    func inheritedInverse() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Author", relationships: [.toMany("books", to: "Book", inverse: "author")]),
            EntityDescription("Novelist", superentity: "Author"),
            EntityDescription("Book", relationships: [.toOne("author", to: "Novelist", inverse: "books")]),
        ])
        let books = try #require(model.relationship(RelationshipName("Author", name: "books")))
        let author = try #require(model.relationship(RelationshipName("Book", name: "author")))
        #expect(books.storage == .derived(inverse: author.number))
        #expect(author.inverse == books.number)
        #expect(author.destination == model.entity("Novelist")?.number)
    }

    @Test("a transient relationship is not stored and is not an inverse")
    func transientRelationships() throws {
        var back = RelationshipDescription.toOne("a", to: "A", inverse: "bs")
        back.isTransient = true
        let model = try ManagedObjectModel(entities: [
            EntityDescription("A", relationships: [.toMany("bs", to: "B", inverse: "a")]),
            EntityDescription("B", relationships: [back]),
        ])
        #expect(model.relationships.map(\.name.description) == ["A.bs"])
        #expect(model.relationships.first?.storage == .links(of: 0, isFlipped: false))
        #expect(model.relationships.first?.inverse == nil)
    }

    @Test("an unknown entity or relationship is refused, with the nearest entity's name")
    func unknownNames() throws {
        let model = try Self.library()
        #expect(
            storeError { _ = try model.requireEntity("Bok") }?.message
                == "The model has no entity 'Bok'; did you mean 'Book'?")
        #expect(
            storeError { _ = try model.requireEntity("Zeppelin") }?.message == "The model has no entity 'Zeppelin'.")
        #expect(
            storeError { _ = try model.requireRelationship(RelationshipName("Book", name: "shelv")) }?.code
                == .unknownProperty)
    }

    @Test("a model of 3000 entities is built")
    func manyEntities() throws {
        let entities = (0..<3000).map { number in
            EntityDescription(
                "E\(number)", superentity: number % 10 == 0 ? nil : "E\(number / 10 * 10)",
                attributes: (0..<5).map { .string("a\(number)_\($0)") },
                relationships: [
                    .toOne("next\(number)", to: "E\((number + 1) % 3000)", inverse: "back\((number + 1) % 3000)"),
                    .toMany(
                        "back\(number)", to: "E\((number + 2999) % 3000)", inverse: "next\((number + 2999) % 3000)"),
                ])
        }
        let model = try ManagedObjectModel(entities: entities)
        #expect(model.relationships.count == 6000)
        #expect(model.relationships.allSatisfy { model.relationships[$0.inverse ?? 0].inverse == $0.number })
    }
}
