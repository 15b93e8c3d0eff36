import Roost
import RoostConformance
import RoostMigration
import Testing

/// One pass and three passes require the same mandatory values of objects without a policy.
@Suite("Mandatory values with and without policies")
struct MandatoryRelationshipTests {
    private typealias Object = Scenario.Object

    /// A library of books and authors; for three passes, tags have a policy.
    private struct Library {
        var path = MigrationPath.onePass
        var author = RelationshipDescription.toOne("writer", to: "Person", inverse: "works")
        var works = RelationshipDescription.toMany("works", to: "Book", inverse: "writer")
        var newAuthor = RelationshipDescription.toOne("author", to: "Person", inverse: "books", isOptional: false)
        var newBooks = RelationshipDescription(
            "books", destination: "Person", inverse: "author", maxCount: nil)
        var title = AttributeDescription("title", type: .string)
        var newTitle = AttributeDescription("title", type: .string)
        /// The source objects, from which the predicates `people` and `books` select.
        var objects: [Object] = [
            Object("Book", key: 1, values: ["title": "one", "writer": .objectID(ObjectID("Person", key: 1))]),
            Object("Book", key: 2, values: ["title": "two", "writer": .objectID(ObjectID("Person", key: 1))]),
            Object("Book", key: 3, values: ["title": "three"]), Object("Person", key: 1, values: ["name": "Ann"]),
            Object("Person", key: 2, values: ["name": "Bob"]), Object("Tag", key: 1, values: [:]),
        ]
        var people: FetchRequest.Predicate?
        var books: FetchRequest.Predicate?
        var saysAuthor = true
        var saysBooks = true
        var policies: [String: String] = [:]
        var code: [String: @Sendable () -> EntityMigrationPolicy] = [:]

        init(_ path: MigrationPath) { self.path = path }

        private var newModel: ManagedObjectModel {
            get throws {
                var books = newBooks
                books.destinationEntityName = "Book"
                return try ManagedObjectModel(entities: [
                    EntityDescription("Book", attributes: [newTitle], relationships: [newAuthor]),
                    EntityDescription("Person", attributes: [.string("name")], relationships: [books]),
                    EntityDescription("Tag"),
                ])
            }
        }

        private var mapping: MappingModel {
            let author = PropertyMapping("author", expression: .relatedInstances(ofSourceRelationship: "writer"))
            let books = PropertyMapping("books", expression: .relatedInstances(ofSourceRelationship: "works"))
            var book = EntityMapping(
                "B", type: .transform, from: "Book", to: "Book",
                attributes: [PropertyMapping("title", expression: .source("title"))]
            ).with {
                $0.relationshipMappings = saysAuthor ? [author] : []
                $0.policyName = policies["Book"]
            }
            book.sourcePredicate = self.books
            book.type = policies["Book"] == nil ? .transform : .custom
            var person = EntityMapping(
                "P", type: .transform, from: "Person", to: "Person",
                attributes: [PropertyMapping("name", expression: .source("name"))]
            ).with { $0.relationshipMappings = saysBooks ? [books] : [] }
            person.sourcePredicate = people
            let tag = EntityMapping(
                "T", type: path == .onePass ? .transform : .custom, from: "Tag", to: "Tag"
            ).with { $0.policyName = path == .onePass ? nil : policies["Tag"] ?? "Standard" }
            return MappingModel([book, person, tag])
        }

        private var options: MigrationOptions {
            var policies = code
            policies["Standard"] = { EntityMigrationPolicy() }
            return MigrationOptions(mapping: mapping, policies: policies, allowsLoss: true)
        }

        private func source() throws -> any PersistentStore {
            try Scenario.store(
                "memory", at: "",
                model: try ManagedObjectModel(entities: [
                    EntityDescription("Book", attributes: [title], relationships: [author]),
                    EntityDescription("Person", attributes: [.string("name")], relationships: [works]),
                    EntityDescription("Tag"),
                ]), objects: objects)
        }

        func migrate() throws -> (store: any PersistentStore, report: MigrationReport) {
            let model = try newModel
            let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
            let report = try MigrationManager(registry: .standard).migrate(
                from: .store(try source()), to: .store(store), model: model, options: options)
            #expect(report.path == path)
            // Only empty mandatory values break a rule.
            #expect(try checkStore(store).filter { !["mandatory", "minimumCount"].contains($0.kind) } == [])
            return (store, report)
        }

        func plan() throws -> MigrationPlan {
            try MigrationManager(registry: .standard).planMigration(
                from: .store(try source()), to: .location(StoreLocation(type: "memory", path: "")), model: try newModel,
                options: options)
        }

        func refusal() throws -> String {
            let error = try #require(throws: StoreError.self) { _ = try migrate() }
            #expect(error.code == .migrationFailed)
            return error.message
        }
    }

    private static let paths: [MigrationPath] = [.onePass, .threePasses]

    @Test("a mandatory relationship that the mapping does not mention stays empty and is counted", arguments: paths)
    func unsaid(path: MigrationPath) throws {
        let library = Self.silentLibrary(path)
        let (store, report) = try library.migrate()
        #expect(try Scenario.objects("Book", in: store).map { $0.values["author"] } == [nil, nil, nil])
        let warnings = report.warnings.filter { $0.contains("mandatory") }
        #expect(warnings.count == 2, "\(warnings)")
        #expect(warnings.contains { $0.contains("'Book.author' is empty in 3 objects") }, "\(warnings)")
        #expect(warnings.contains { $0.contains("'Person.books' is empty in 2 objects") }, "\(warnings)")
        let plan = try library.plan()
        #expect(plan.path == path && plan.refusals == [])
        #expect(plan.warnings.filter { $0.contains("mandatory") } == warnings)
    }

    @Test("an unmentioned mandatory relationship of an entity without objects gives no warning", arguments: paths)
    func unsaidWithoutObjects(path: MigrationPath) throws {
        var library = Self.silentLibrary(path)
        library.objects = []
        #expect(try library.migrate().report.warnings == [])
        #expect(try library.plan().warnings.allSatisfy { !$0.contains("mandatory") })
    }

    /// Returns a library whose mapping mentions neither end of its mandatory relationship.
    private static func silentLibrary(_ path: MigrationPath) -> Library {
        var library = Library(path)
        (library.saysAuthor, library.saysBooks) = (false, false)
        (library.newBooks.minCount, library.newBooks.isOptional) = (1, false)
        return library
    }

    @Test("empty mandatory relationships that only the inverse's mapping sets are counted", arguments: paths)
    func saidFromTheOtherEnd(path: MigrationPath) throws {
        var library = Library(path)
        library.saysAuthor = false
        let (store, report) = try library.migrate()
        #expect(
            try Scenario.objects("Book", in: store).map { $0.values["author"] }
                == [.objectID(ObjectID("Person", key: 1)), .objectID(ObjectID("Person", key: 1)), nil])
        #expect(report.warnings.count == 1 && report.warnings[0].contains("'Book.author' is empty in 1 objects"))
    }

    @Test("a relationship that becomes mandatory requires a destination of each object", arguments: paths)
    func becomesMandatory(path: MigrationPath) throws {
        let refusal = try Library(path).refusal()
        #expect(refusal.contains("'Book.author' is mandatory in the new model, and Book/p3 has no value"))
    }

    @Test("an attribute that becomes mandatory requires a value in each object", arguments: paths)
    func attributeBecomesMandatory(path: MigrationPath) throws {
        var library = Library(path)
        library.newAuthor.isOptional = true
        library.newTitle.isOptional = false
        library.objects[1].values["title"] = nil
        #expect(try library.refusal().contains("'Book.title' is mandatory in the new model, and Book/p2 has no value"))
        library.objects[1].values["title"] = "two"
        #expect(try library.migrate().report.warnings == [])
    }

    @Test("each object must meet the narrower limits of a to-many relationship", arguments: paths)
    func becomesNarrower(path: MigrationPath) throws {
        var library = Library(path)
        library.newAuthor.isOptional = true
        (library.newBooks.minCount, library.newBooks.isOptional) = (1, false)
        #expect(try library.refusal().contains("but Person/p2 has another number"))
        (library.newBooks.minCount, library.newBooks.maxCount, library.newBooks.isOptional) = (0, 1, true)
        library.newBooks = RelationshipDescription(
            "books", destination: "Book", inverse: "author", minCount: 2, maxCount: 3)
        #expect(try library.migrate().report.objects == 6)
        library.newBooks.minCount = 3
        #expect(try library.refusal().contains("but Person/p1 has another number"))
    }

    @Test("a mandatory value that was already missing in the source may stay missing", arguments: paths)
    func lackedBefore(path: MigrationPath) throws {
        var library = Library(path)
        library.author.isOptional = false
        (library.title.isOptional, library.newTitle.isOptional) = (false, false)
        library.objects[1].values["title"] = nil
        (library.works.minCount, library.works.isOptional) = (3, false)
        (library.newBooks.minCount, library.newBooks.isOptional) = (3, false)
        let (store, report) = try library.migrate()
        let books = try Scenario.objects("Book", in: store)
        #expect(books.map { $0.values["title"] } == ["one", nil, "three"])
        #expect(books[2].values["author"] == nil)
        #expect(report.warnings == [])
    }

    @Test("a migration refuses to drop an object that a mandatory relationship refers to", arguments: paths)
    func leftOut(path: MigrationPath) throws {
        var library = Library(path)
        library.author.isOptional = false
        library.people = .equal("name", to: "Bob")
        let message = try library.refusal()
        #expect(message.contains("'Book.author'") && message.contains("Book/p1"), "\(message)")
    }

    @Test("a migration refuses to drop objects below a minimum that both models have", arguments: paths)
    func droppedBelowMinimum(path: MigrationPath) throws {
        var library = Library(path)
        library.newAuthor.isOptional = true
        (library.works.minCount, library.newBooks.minCount) = (2, 2)
        #expect(try library.migrate().report.objects == 6)
        library.books = .equal("title", to: "one")
        #expect(try library.refusal().contains("but Person/p1 has another number"))
    }

    /// Returns a library whose books and tags can have policies.
    private static func library(
        booksBy book: String? = nil, tagsBy tag: (@Sendable () -> EntityMigrationPolicy)? = nil
    ) -> Library {
        var library = Library(.threePasses)
        (library.saysAuthor, library.saysBooks) = (false, false)
        if let book { library.policies["Book"] = book }
        if let tag {
            library.policies["Tag"] = "Inserting"
            library.code["Inserting"] = tag
        }
        return library
    }

    @Test("an object that a policy makes needs its mandatory relationships")
    func madeByPolicy() throws {
        let refusal = try Self.library(booksBy: "Standard").refusal()
        #expect(refusal.contains("'Book.author' is mandatory in the new model, and Book/p1"))
    }

    @Test("an object that a policy inserts without a source needs its mandatory relationships")
    func insertedByPolicy() throws {
        let library = Self.library(tagsBy: {
            ClosurePolicy { $0.onBegin = { session in _ = try session.insert("Book") } }
        })
        #expect(try library.refusal().contains("'Book.author' is mandatory in the new model, and Book/p4"))
    }

    /// Only the mapping of `Person` sets the relationship, through the inverse `books`.
    @Test("a policy may not empty a mandatory relationship of another mapping's objects")
    func emptiedByPolicy() throws {
        var library = Self.library(tagsBy: {
            ClosurePolicy {
                $0.onEndRelating = { session in
                    try session.destinationObjects(FetchRequest("Book")).first?.setObject(nil, for: "author")
                }
            }
        })
        library.saysBooks = true
        library.objects[2].values["writer"] = .objectID(ObjectID("Person", key: 2))
        #expect(try library.refusal().contains("'Book.author' is mandatory in the new model, and Book/p1"))
        library.code["Inserting"] = { EntityMigrationPolicy() }
        #expect(try library.migrate().report.warnings == [])
    }

    @Test("an empty mandatory relationship is refused, but only counted if the mapping omits it", arguments: paths)
    func excused(path: MigrationPath) throws {
        func model(_ works: RelationshipDescription, inverse writer: String) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("Book", relationships: [.toOne(writer, to: "Person", inverse: works.name)]),
                EntityDescription("Person", attributes: [.string("name")], relationships: [works]),
                EntityDescription("Editor", superentity: "Person"), EntityDescription("Tag"),
            ])
        }
        let old = try model(.toMany("works", to: "Book", inverse: "writer"), inverse: "writer")
        let new = try model(
            RelationshipDescription(
                "books", destination: "Book", inverse: "author", minCount: 1, maxCount: nil
            ).with { $0.isOptional = false },
            inverse: "author")
        let books = PropertyMapping("books", expression: .relatedInstances(ofSourceRelationship: "works"))
        let mapping = MappingModel([
            EntityMapping(
                "B", type: .transform, from: "Book", to: "Book"
            ).with {
                $0.relationshipMappings = [
                    PropertyMapping("author", expression: .relatedInstances(ofSourceRelationship: "writer"))
                ]
            },
            EntityMapping("P", type: .transform, from: "Person", to: "Person").with {
                $0.relationshipMappings = [books]
            },
            EntityMapping("E", type: .transform, from: "Editor", to: "Editor"),
            EntityMapping(
                "T", type: path == .onePass ? .transform : .custom, from: "Tag", to: "Tag"
            ).with { $0.policyName = path == .onePass ? nil : "Standard" },
        ])
        func migrate(_ objects: [Object]) throws -> MigrationReport {
            let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: new)
            return try MigrationManager(registry: .standard).migrate(
                from: .store(try Scenario.store("memory", at: "", model: old, objects: objects)), to: .store(store),
                model: new,
                options: MigrationOptions(
                    mapping: mapping, policies: ["Standard": { EntityMigrationPolicy() }]))
        }
        let objects = [
            Object("Book", key: 1, values: ["writer": .objectID(ObjectID("Person", key: 1))]),
            Object("Person", key: 1, values: [:]),
            Object("Editor", key: 2, values: [:]),
        ]
        let report = try migrate(objects)
        #expect(report.path == path)
        #expect(report.warnings.count == 1 && report.warnings[0].contains("'Editor.books' is empty in 1 objects"))
        let error = try #require(throws: StoreError.self) {
            _ = try migrate(objects + [Object("Person", key: 3, values: [:])])
        }
        #expect(error.message.contains("but Person/p3 has another number"))
    }
}
