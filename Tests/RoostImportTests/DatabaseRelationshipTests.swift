import Foundation
import RoostCore
import RoostImport
import RoostMigration
import Testing

#if SQLite
    @Suite("Foreign keys of imported databases")
    struct DatabaseRelationshipTests {
        private let directory: ImportDirectory

        init() throws { directory = try ImportDirectory() }

        @Test("a foreign key becomes a to-one relationship with an inverse")
        func toOne() throws {
            let imported = try Imported(
                """
                CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT NOT NULL, artist_id INTEGER REFERENCES artist);
                INSERT INTO artist VALUES (3, 'Miles'), (9, 'Nina');
                INSERT INTO album VALUES (1, 'Blue', 9), (2, 'Kind', 3), (5, 'None', NULL);
                """, in: directory)
            #expect(
                try imported.values("album", of: "artist") == [
                    reference("artist", key: 9), reference("artist", key: 3), .null,
                ])
            #expect(try imported.entity("artist").relationship("album")?.storage != nil)
            let album = try imported.entity("album")
            #expect(album.attributes.map(\.name) == ["title"])
            #expect(album.relationship("artist")?.declaration.userInfo["importedFrom"] == "artist_id")
            #expect(album.relationship("artist")?.declaration.inverseName == "album")
        }

        @Test("ON DELETE becomes the delete rule of the inverse")
        func deleteRules() throws {
            let imported = try Imported(
                """
                CREATE TABLE p (id INTEGER PRIMARY KEY);
                CREATE TABLE a (p_id INTEGER REFERENCES p ON DELETE CASCADE, x);
                CREATE TABLE b (p_id INTEGER REFERENCES p ON DELETE RESTRICT, x);
                CREATE TABLE c (p_id INTEGER REFERENCES p ON DELETE SET NULL, x);
                CREATE TABLE d (p_id INTEGER REFERENCES p, x);
                """, in: directory)
            let rules = try imported.entity("p").relationships.map(\.declaration.deleteRule)
            #expect(rules == [.cascade, .deny, .nullify, .nullify])
            #expect(try imported.entity("a").relationship("p")?.declaration.deleteRule == .nullify)
        }

        @Test("a foreign key with NOT NULL becomes a mandatory relationship")
        func mandatory() throws {
            let imported = try Imported(
                """
                CREATE TABLE p (id INTEGER PRIMARY KEY);
                CREATE TABLE c (p_id INTEGER NOT NULL REFERENCES p, name TEXT);
                INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 'x');
                """, in: directory)
            #expect(try imported.entity("c").relationship("p")?.declaration.isOptional == false)
        }

        @Test("a foreign key to a missing row becomes null with a warning")
        func dangling() throws {
            let imported = try Imported(
                """
                CREATE TABLE p (id INTEGER PRIMARY KEY);
                CREATE TABLE c (id INTEGER PRIMARY KEY, p_id INTEGER NOT NULL REFERENCES p);
                INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1), (2, 7), (3, 8);
                """, in: directory)
            #expect(try imported.values("c", of: "p") == [reference("p", key: 1), .null, .null])
            #expect(try imported.entity("c").relationship("p")?.declaration.isOptional == true)
            let warning = try #require(imported.report.warnings.first)
            #expect(
                warning.hasPrefix(
                    "Column 'p_id' of table 'c': 2 rows refer to a row of 'p' that does not exist, such as row 2"))
            #expect(imported.report.warnings.count == 1)
        }

        @Test("a foreign key of several columns becomes one relationship")
        func composite() throws {
            let imported = try Imported(
                """
                CREATE TABLE shelf (room TEXT, number INT, label TEXT, PRIMARY KEY (room, number)) WITHOUT ROWID;
                CREATE TABLE book (title TEXT, room TEXT, n INT, FOREIGN KEY (room, n) REFERENCES shelf (room, number));
                INSERT INTO shelf VALUES ('b', 1, 'B1'), ('a', 2, 'A2'), ('a', 10, 'A10');
                INSERT INTO book VALUES ('x', 'a', 10), ('y', 'b', 1), ('z', NULL, NULL);
                """, in: directory)
            let labels = try imported.objects("shelf").mapValues { $0["label"] }
            #expect(labels == [1: .string("A2"), 2: .string("A10"), 3: .string("B1")])
            #expect(
                try imported.values("book", of: "shelf") == [
                    reference("shelf", key: 2), reference("shelf", key: 3), .null,
                ])
            #expect(try imported.entity("shelf").declaration.uniquenessConstraints == [["room", "number"]])
            #expect(try imported.entity("book").attributes.map(\.name) == ["title"])
            #expect(imported.report.warnings == [])
        }

        @Test("the columns of a partly null foreign key stay attributes")
        func incomplete() throws {
            let imported = try Imported(
                """
                CREATE TABLE p (a INT, b INT, PRIMARY KEY (a, b));
                CREATE TABLE c (a INT, b INT, FOREIGN KEY (a, b) REFERENCES p);
                INSERT INTO p VALUES (1, 1); INSERT INTO c VALUES (1, 1), (5, NULL);
                """, in: directory)
            #expect(try imported.values("c", of: "a") == [.int(1), .int(5)])
            #expect(try imported.values("c", of: "p") == [reference("p", key: 1), .null])
            #expect(imported.report.warnings.count == 1)
        }

        @Test("foreign keys are compared with the parent column's collation and type")
        func comparison() throws {
            let imported = try Imported(
                """
                CREATE TABLE p (code TEXT COLLATE NOCASE PRIMARY KEY, n INT);
                CREATE TABLE c (x, code REFERENCES p);
                INSERT INTO p VALUES ('Abc', 1), ('7', 2); INSERT INTO c VALUES (1, 'aBC'), (2, 7), (3, '07');
                """, in: directory)
            #expect(try imported.values("c", of: "code") == [reference("p", key: 1), reference("p", key: 2), .null])
            #expect(imported.report.warnings.contains { $0.hasPrefix("Column 'code' of table 'c': 1 row refers") })
            #expect(imported.report.warnings.contains("Column 'code' of table 'p': collation NOCASE is left out."))
        }

        @Test("an import keeps references within a table, and between two tables that refer to each other")
        func cycles() throws {
            let imported = try Imported(
                """
                CREATE TABLE node (id INTEGER PRIMARY KEY, parent_id INT REFERENCES node, tree_id INT REFERENCES tree);
                CREATE TABLE tree (id INTEGER PRIMARY KEY, root_id INT REFERENCES node);
                INSERT INTO node VALUES (1, NULL, 1), (2, 1, 1), (3, 3, NULL); INSERT INTO tree VALUES (1, 1);
                """, in: directory)
            #expect(
                try imported.values("node", of: "parent") == [
                    .null, reference("node", key: 1), reference("node", key: 3),
                ])
            #expect(
                try imported.values("node", of: "tree") == [
                    reference("tree", key: 1), reference("tree", key: 1), .null,
                ])
            #expect(try imported.values("tree", of: "root") == [reference("node", key: 1)])
            #expect(
                try imported.entity("node").relationships.map(\.name.name) == ["node", "parent", "tree", "treeByRoot"])
        }

        @Test(
            "a foreign key that cannot be resolved stays an attribute, and a remark has the reason",
            arguments: [
                ("missing (id)", "no such table is imported"), ("p (absent)", "that table has no column 'absent'"),
                ("p (name)", "the columns that it refers to are not unique"), ("q", "that table's key has 2 columns"),
                ("v (id)", "no such table is imported"),
            ])
        func broken(reference: String, reason: String) throws {
            let imported = try Imported(
                """
                CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE q (a, b, PRIMARY KEY (a, b));
                CREATE VIEW v AS SELECT id FROM p;
                CREATE TABLE c (p_id INTEGER REFERENCES \(reference));
                INSERT INTO c VALUES (1), (99);
                """, in: directory)
            #expect(try imported.values("c", of: "p_id") == [.int(1), .int(99)])
            #expect(imported.remark("c", column: "p_id")?.hasSuffix(reason) == true)
            #expect(imported.report.warnings.contains { $0.contains(reason) })
        }

        @Test("if a rowid is below 1, the rows of its table get new keys, which references use")
        func lowRowIDs() throws {
            let imported = try Imported(
                """
                CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE c (p_id INTEGER REFERENCES p (id), x INT);
                INSERT INTO p VALUES (-9223372036854775808, 'low'), (0, 'zero'), (9223372036854775807, 'high');
                INSERT INTO c VALUES (9223372036854775807, 1), (0, 2), (-9223372036854775808, 3), (5, 4);
                """, in: directory)
            #expect(try imported.values("p", of: "name") == [.string("low"), .string("zero"), .string("high")])
            #expect(try imported.values("p", of: "id") == [.int(.min), .int(0), .int(.max)])
            #expect(
                try imported.values("c", of: "p") == [
                    reference("p", key: 3), reference("p", key: 2), reference("p", key: 1), .null,
                ])
        }

        // MARK: Join tables

        @Test("a join table becomes a many-to-many relationship with each pair once")
        func manyToMany() throws {
            let imported = try Imported(
                """
                CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT); CREATE TABLE tag (name TEXT PRIMARY KEY);
                CREATE TABLE post_tag (id INTEGER PRIMARY KEY, post_id INT REFERENCES post, tag_name REFERENCES tag);
                INSERT INTO post VALUES (10, 'a'), (20, 'b'); INSERT INTO tag VALUES ('x'), ('y');
                INSERT INTO post_tag (post_id, tag_name) VALUES (10, 'y'), (20, 'x'), (20, 'y'), (10, 'y'), (10, 'z'), (NULL, 'x');
                """, in: directory)
            #expect(imported.model.entities.map(\.name.text) == ["post", "tag"])
            #expect(try imported.pairs("post", of: "tag") == [[10, 2], [20, 1], [20, 2]])
            #expect(try imported.pairs("tag", of: "post") == [[2, 10], [1, 20], [2, 20]])
            let warnings = imported.report.warnings
            #expect(warnings.contains { $0.hasPrefix("Table 'post_tag': 1 row") && $0.contains("repeat") })
            #expect(
                warnings.contains {
                    $0.hasPrefix("Column 'tag_name' of table 'post_tag': 1 row refers to a row of 'tag'")
                })
            #expect(warnings.contains("Column 'id' of table 'post_tag': left out."))
            #expect(warnings.contains { $0.contains("'post_id'") && $0.contains("no value") })
        }

        @Test("a join table that joins a table with itself keeps the direction of each pair")
        func selfJoin() throws {
            let imported = try Imported(
                """
                CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE follows (follower_id INT REFERENCES person, followed_id INT REFERENCES person,
                    PRIMARY KEY (follower_id, followed_id)) WITHOUT ROWID;
                INSERT INTO person VALUES (1, 'a'), (2, 'b'), (3, 'c'); INSERT INTO follows VALUES (1, 2), (1, 3), (3, 3);
                """, in: directory)
            #expect(try imported.pairs("person", of: "followed") == [[1, 2], [1, 3], [3, 3]])
            #expect(try imported.pairs("person", of: "follower") == [[2, 1], [3, 1], [3, 3]])
            #expect(imported.report.warnings == [])
        }

        @Test("a join table becomes an entity if it has another column or another table refers to it")
        func impureJoin() throws {
            let imported = try Imported(
                """
                CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY);
                CREATE TABLE dated (a_id INT REFERENCES a, b_id INT REFERENCES b, day TEXT);
                CREATE TABLE named (id INTEGER PRIMARY KEY, a_id INT REFERENCES a, b_id INT REFERENCES b);
                CREATE TABLE note (named_id INT REFERENCES named, text TEXT);
                """, in: directory)
            #expect(imported.model.entities.map(\.name.text) == ["a", "b", "dated", "named", "note"])
        }

        @Test("a unique foreign key becomes a constraint on the relationship")
        func oneToOne() throws {
            let imported = try Imported(
                """
                CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE profile (user_id INTEGER PRIMARY KEY REFERENCES user, text TEXT);
                CREATE TABLE badge (code TEXT, user_id INT UNIQUE REFERENCES user);
                INSERT INTO user VALUES (4, 'a'); INSERT INTO profile VALUES (4, 'p'); INSERT INTO badge VALUES ('x', 4);
                """, in: directory)
            #expect(try imported.objects("profile") == [4: ["text": .string("p"), "user": reference("user", key: 4)]])
            #expect(try imported.entity("badge").declaration.uniquenessConstraints == [["user"]])
        }
    }
#endif
