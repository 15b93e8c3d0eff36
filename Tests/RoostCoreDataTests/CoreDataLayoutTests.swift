import RoostCore

#if SQLite
    import Foundation
    @testable import RoostCoreData
    import Testing

    @Suite("The layout of Core Data stores")
    struct CoreDataLayoutTests {
        static let row = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"

        static func object(
            _ name: String, superentity: String? = nil, attributes: [AttributeDescription] = [],
            relationships: [RelationshipDescription] = []
        ) -> EntityDescription {
            EntityDescription(name, superentity: superentity, attributes: attributes, relationships: relationships)
        }

        @Test("like-named properties of subentities are read from the right columns of their shared table")
        func inheritance() throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription("Base", attributes: [AttributeDescription("id", type: .integer64)]).with {
                    $0.isAbstract = true
                },
                Self.object(
                    "Film", superentity: "Base",
                    attributes: [
                        AttributeDescription("title", type: .string), AttributeDescription("length", type: .double),
                    ]),
                Self.object(
                    "Book", superentity: "Base",
                    attributes: [
                        AttributeDescription("title", type: .string), AttributeDescription("length", type: .integer32),
                    ]),
                Self.object("Comic", superentity: "Book", attributes: [AttributeDescription("hue", type: .string)]),
            ])
            // Only the rows show that films have their titles in `ZTITLE`. The entity numbers are
            // Book (2), Comic (3), Film (4).
            let files = try AppleStore(
                ["Base", "Book < Base", "Comic < Book", "Film < Base"],
                sql: """
                    CREATE TABLE ZBASE (\(Self.row), ZID INTEGER, ZLENGTH INTEGER, ZLENGTH1 FLOAT, ZTITLE VARCHAR, ZTITLE1 VARCHAR, ZHUE VARCHAR);
                    INSERT INTO ZBASE VALUES (1, 2, 1, 10, 300, NULL, NULL, 'book', NULL), (2, 4, 7, 20, NULL, 1.5, 'film', NULL, NULL),
                    (42, 3, 2, 30, 40, NULL, NULL, 'comic', 'red');
                    UPDATE Z_PRIMARYKEY SET Z_MAX = 40 WHERE Z_ENT = 1;
                    """)
            let opened = try files.opened(model)
            let snapshot = try opened.snapshot()
            #expect(
                try snapshot.objects("Base") == [
                    1: ["id": .int(10), "title": "book", "length": .int(300)],
                    2: ["id": .int(20), "title": "film", "length": .double(1.5)],
                    42: ["id": .int(30), "title": "comic", "length": .int(40), "hue": "red"],
                ])
            #expect(try snapshot.objects("Book").keys.sorted() == [1, 42])
            #expect(try snapshot.lastKey(of: "Comic") == 42)
            let cursor = try snapshot.records(with: [
                ObjectID("Film", key: 2), ObjectID("Film", key: 1), ObjectID("Base", key: 42), ObjectID("Base", key: 9),
            ])
            var batch = RecordBatch(model: model)
            #expect(try cursor.next(into: &batch))
            #expect(
                (0..<batch.count).map { batch.id(at: $0) } == [ObjectID("Film", key: 2), ObjectID("Comic", key: 42)])
            #expect(batch.version(at: 0) == 7)
            let after = try snapshot.records(of: "Base", after: ObjectID("Film", key: 2))
            #expect(try after.next(into: &batch) && batch.count == 1 && batch.key(at: 0) == 42)
        }

        @Test("like-named properties get columns in the order of the entity numbers if no row has a value in them")
        func orderDecides() throws {
            let model = try ManagedObjectModel(entities: [
                Self.object("A"),
                Self.object("C", superentity: "A", attributes: [AttributeDescription("t", type: .string)]),
                Self.object("B", superentity: "A", attributes: [AttributeDescription("t", type: .string)]),
            ])
            let files = try AppleStore(
                ["A", "B < A", "C < A"],
                sql:
                    "CREATE TABLE ZA (\(Self.row), ZT VARCHAR, ZT1 VARCHAR); INSERT INTO ZA VALUES (1, 2, 1, NULL, NULL);"
            )
            let opened = try files.opened(model)
            let root = try #require(opened.store.schema.roots[0])
            #expect(root.expressions == ["r.\"ZT\"", "r.\"ZT1\""])
            #expect(root.entities[2]?.readings.first?.column == 3 && root.entities[3]?.readings.first?.column == 4)
        }

        @Test("a reference has its destination row's entity, and a dangling one is null and reported")
        func references() throws {
            let model = try ManagedObjectModel(entities: [
                Self.object("Pet", relationships: [.toOne("owner", to: "Party", inverse: "pets")]),
                Self.object("Party", relationships: [.toMany("pets", to: "Pet", inverse: "owner")]),
                Self.object("Person", superentity: "Party"),
            ])
            let files = try AppleStore(
                ["Party", "Person < Party", "Pet"],
                sql: """
                    CREATE TABLE ZPARTY (\(Self.row)); CREATE TABLE ZPET (\(Self.row), ZOWNER INTEGER, Z1_OWNER INTEGER);
                    INSERT INTO ZPARTY VALUES (5, 1, 1), (6, 2, 1); INSERT INTO ZPET VALUES (1, 3, 1, 6, 2), (2, 3, 1, 5, 1), (3, 3, 1, 99, 1), (4, 3, 1, NULL, NULL), (7, 3, 1, 6, 2);
                    """)
            let opened = try files.opened(model)
            let snapshot = try opened.snapshot()
            #expect(
                try snapshot.objects("Pet") == [
                    1: ["owner": .objectID(ObjectID("Person", key: 6))],
                    2: ["owner": .objectID(ObjectID("Party", key: 5))],
                    3: [:], 4: [:],
                    7: ["owner": .objectID(ObjectID("Person", key: 6))],
                ])
            #expect(try snapshot.targets("pets", of: 6, in: "Party") == [1, 7])
            let findings = try opened.integrityFindings()
            #expect(
                findings.map(\.message) == [
                    "1 references of 'Pet.owner' refer to objects that do not exist; they are read as null."
                ])
        }

        @Test("an ordered one-to-many relationship of a Core Data store keeps its order")
        func orderedToMany() throws {
            let model = try ManagedObjectModel(entities: [
                Self.object("Album", relationships: [.toMany("songs", to: "Song", inverse: "album", isOrdered: true)]),
                Self.object("Song", relationships: [.toOne("album", to: "Album", inverse: "songs")]),
            ])
            let files = try AppleStore(
                ["Album", "Song"],
                sql: """
                    CREATE TABLE ZALBUM (\(Self.row)); CREATE TABLE ZSONG (\(Self.row), ZALBUM INTEGER, Z_FOK_ALBUM INTEGER);
                    INSERT INTO ZALBUM VALUES (1, 1, 1); INSERT INTO ZSONG VALUES (1, 2, 1, 1, 3072), (2, 2, 1, 1, 1024), (3, 2, 1, 1, 2048);
                    """)
            let snapshot = try files.opened(model).snapshot()
            #expect(try snapshot.targets("songs", of: 1, in: "Album") == [2, 3, 1])
            let cursor = try snapshot.records(of: "Song", after: nil)
            var batch = RecordBatch(model: model)
            #expect(try cursor.next(into: &batch))
            #expect(try batch.value(RecordLayout.orderFieldName(of: "album"), at: 0) == .int(3072))
        }

        @Test(
            "a to-many relationship without inverse is read as links from the destination's column",
            arguments: [false, true])
        func withoutInverse(isOrdered: Bool) throws {
            let model = try ManagedObjectModel(entities: [
                Self.object("Box", relationships: [.toMany("items", to: "Item", isOrdered: isOrdered)]),
                Self.object("Item"),
            ])
            let files = try AppleStore(
                ["Box", "Item"],
                sql: """
                    CREATE TABLE ZBOX (\(Self.row)); CREATE TABLE ZITEM (\(Self.row), Z1ITEMS INTEGER, Z_FOK_1ITEMS INTEGER);
                    INSERT INTO ZBOX VALUES (1, 1, 1), (2, 1, 1); INSERT INTO ZITEM VALUES (1, 2, 1, 2, 20), (2, 2, 1, 1, 5), (3, 2, 1, NULL, NULL), (4, 2, 1, 2, 10);
                    """)
            let snapshot = try files.opened(model).snapshot()
            #expect(
                try snapshot.allLinks("items", of: "Box")
                    == (isOrdered
                        ? [Link(1, 2, order: 5), Link(2, 4, order: 10), Link(2, 1, order: 20)]
                        : [Link(1, 2), Link(2, 1), Link(2, 4)]))
            #expect(try snapshot.targets("items", of: 2, in: "Box") == (isOrdered ? [4, 1] : [1, 4]))
        }

        @Test(
            "a join table is found under the name of either relationship, whichever digits surround the name",
            arguments: [
                ("Z_1TAGS", "Z_1POSTS", "Z_2TAGS"), ("Z_2POSTS", "Z_1POSTS", "Z_2TAGS"),
                ("Z_1TAGS1", "Z_1POSTS2", "Z_2TAGS1"), ("Z_8TAGS", "Z_8POSTS", "Z_9TAGS"),
            ])
        func joinTables(table: String, source: String, target: String) throws {
            let model = try ManagedObjectModel(entities: [
                Self.object("Post", relationships: [.toMany("tags", to: "Tag", inverse: "posts")]),
                Self.object("Tag", relationships: [.toMany("posts", to: "Post", inverse: "tags")]),
            ])
            let files = try AppleStore(
                ["Post", "Tag"],
                sql: """
                    CREATE TABLE ZPOST (\(Self.row)); CREATE TABLE ZTAG (\(Self.row)); CREATE TABLE \(table) (\(source) INTEGER, \(target) INTEGER, PRIMARY KEY (\(source), \(target)));
                    INSERT INTO ZPOST VALUES (1, 1, 1), (2, 1, 1); INSERT INTO ZTAG VALUES (7, 2, 1), (8, 2, 1);
                    INSERT INTO \(table) VALUES (1, 8), (1, 7), (2, 7), (2, 99);
                    """)
            let opened = try files.opened(model)
            let snapshot = try opened.snapshot()
            #expect(try snapshot.allLinks("tags", of: "Post") == [Link(1, 7), Link(1, 8), Link(2, 7), Link(2, 99)])
            #expect(try snapshot.allLinks("posts", of: "Tag") == [Link(7, 1), Link(7, 2), Link(8, 1), Link(99, 2)])
            #expect(try snapshot.targets("posts", of: 7, in: "Tag") == [1, 2])
            let rest = try snapshot.links(of: RelationshipName("Post", name: "tags"), after: Link(1, 7))
            var batch = LinkBatch(relationship: 0)
            #expect(try rest.next(into: &batch) && batch.links.first == Link(1, 8) && batch.count == 3)
            #expect(
                try opened.integrityFindings().contains {
                    $0.message.hasPrefix("1 links of ") && $0.message.hasSuffix("an end that does not exist.")
                })
        }

        @Test("a Core Data store returns no links from an object that is missing or belongs to another hierarchy")
        func linksOfOthers() throws {
            let model = try ManagedObjectModel(entities: [
                Self.object(
                    "Post",
                    relationships: [
                        .toMany("tags", to: "Tag", inverse: "posts"), .toMany("notes", to: "Note", inverse: "post"),
                    ]),
                Self.object("Tag", relationships: [.toMany("posts", to: "Post", inverse: "tags")]),
                Self.object("Note", relationships: [.toOne("post", to: "Post", inverse: "notes")]),
            ])
            let files = try AppleStore(
                ["Note", "Post", "Tag"],
                sql: """
                    CREATE TABLE ZNOTE (\(Self.row), ZPOST INTEGER); CREATE TABLE ZPOST (\(Self.row)); CREATE TABLE ZTAG (\(Self.row));
                    CREATE TABLE Z_2TAGS (Z_2POSTS INTEGER, Z_3TAGS INTEGER, PRIMARY KEY (Z_2POSTS, Z_3TAGS));
                    INSERT INTO ZPOST VALUES (1, 2, 1); INSERT INTO ZTAG VALUES (1, 3, 1), (7, 3, 1);
                    INSERT INTO ZNOTE VALUES (4, 1, 1, 1), (5, 1, 1, 9); INSERT INTO Z_2TAGS VALUES (1, 7), (9, 7);
                    """)
            let snapshot = try files.opened(model).snapshot()
            func count(_ name: String, from id: ObjectID) throws -> Int {
                let cursor = try snapshot.links(of: RelationshipName("Post", name: name), from: id)
                var batch = LinkBatch(relationship: 0)
                return try cursor.next(into: &batch) ? batch.count : 0
            }
            for name in ["tags", "notes"] {
                #expect(try count(name, from: ObjectID("Post", key: 1)) == 1, "\(name)")
                #expect(try count(name, from: ObjectID("Post", key: 9)) == 0, "\(name)")
                #expect(try count(name, from: ObjectID("Tag", key: 1)) == 0, "\(name)")
            }
        }

        @Test("a many-to-many relationship between objects of one entity keeps both orders")
        func orderedManyToMany() throws {
            let model = try ManagedObjectModel(entities: [
                Self.object(
                    "Node",
                    relationships: [
                        .toMany("favorites", to: "Node", inverse: "fans", isOrdered: true),
                        .toMany("fans", to: "Node", inverse: "favorites", isOrdered: true),
                    ])
            ])
            // The columns Z_1FAVORITES and Z_1FANS hold the favorites and fans, Z_FOK_… their
            // orders.
            let files = try AppleStore(
                ["Node"],
                sql: """
                    CREATE TABLE ZNODE (\(Self.row)); INSERT INTO ZNODE VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1);
                    CREATE TABLE Z_1FAVORITES (Z_1FANS INTEGER, Z_1FAVORITES INTEGER, Z_FOK_1FANS INTEGER, Z_FOK_1FAVORITES INTEGER);
                    INSERT INTO Z_1FAVORITES VALUES (1, 2, 100, 20), (1, 3, 200, 10), (2, 3, 50, 30);
                    """)
            let snapshot = try files.opened(model).snapshot()
            #expect(try snapshot.targets("favorites", of: 1, in: "Node") == [3, 2])
            #expect(try snapshot.targets("fans", of: 3, in: "Node") == [2, 1])
            #expect(
                try snapshot.allLinks("favorites", of: "Node") == [
                    Link(1, 3, order: 10, inverseOrder: 200), Link(1, 2, order: 20, inverseOrder: 100),
                    Link(2, 3, order: 30, inverseOrder: 50),
                ])
        }

        @Test(
            "a self-inverse relationship gives each pair once, whether stored once or twice",
            arguments: [false, true])
        func reflexive(isDoubled: Bool) throws {
            let model = try ManagedObjectModel(entities: [
                Self.object(
                    "Card", relationships: [.toMany("related", to: "Card", inverse: "related", isOrdered: true)])
            ])
            let files = try AppleStore(
                ["Card"],
                sql: """
                    CREATE TABLE ZCARD (\(Self.row)); INSERT INTO ZCARD VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1);
                    CREATE TABLE Z_1RELATED (Z_1RELATED INTEGER, REFLEXIVE INTEGER, Z_FOK_1RELATED INTEGER, FOK_REFLEXIVE INTEGER, PRIMARY KEY (Z_1RELATED, REFLEXIVE));
                    INSERT INTO Z_1RELATED VALUES (2, 1, 7, 4), (3, 1, 6, 5);
                    \(isDoubled ? "INSERT INTO Z_1RELATED VALUES (1, 2, 4, 7), (1, 3, 5, 6);" : "")
                    """)
            let snapshot = try files.opened(model).snapshot()
            // Among the objects related to 1, object 2 has place 7 and object 3 has place 6.
            #expect(
                try snapshot.allLinks("related", of: "Card") == [
                    Link(1, 3, order: 6, inverseOrder: 5), Link(1, 2, order: 7, inverseOrder: 4),
                ])
            #expect(try snapshot.targets("related", of: 1, in: "Card") == [3, 2])
            #expect(try snapshot.targets("related", of: 2, in: "Card") == [1])
            #expect(try snapshot.computeTally().digest.linkCount == 2)
        }

        @Test("an entity that was renamed in place is found under its old name")
        func renamed() throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Auto", attributes: [AttributeDescription("n", type: .integer16)]
                ).with { $0.renamingIdentifier = "Car" }
            ])
            let files = try AppleStore(
                ["Car"], sql: "CREATE TABLE ZAUTO (\(Self.row), ZN INTEGER); INSERT INTO ZAUTO VALUES (1, 1, 1, 4);")
            #expect(try files.opened(model).snapshot().objects("Auto") == [1: ["n": .int(4)]])
        }

        @Test("history tables, cloud tables and rows of other hierarchies are not read")
        func foreignTables() throws {
            let model = try ManagedObjectModel(entities: [Self.object("Item")])
            let files = try AppleStore(
                ["Item"],
                sql: """
                    CREATE TABLE ZITEM (\(Self.row)); INSERT INTO ZITEM VALUES (1, 1, 1), (2, 9, 1), (3, 1, NULL);
                    INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 3), (16002, 'TRANSACTION', 0, 3), (17001, 'NSCKEvent', 0, 1);
                    CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER); CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY);
                    INSERT INTO ACHANGE VALUES (1, 16001);
                    """)
            let opened = try files.opened(model)
            #expect(try opened.snapshot().objects("Item").keys.sorted() == [1, 3])
            #expect(try opened.integrityFindings().map(\.severity) == [.warning])
        }
    }
#endif
