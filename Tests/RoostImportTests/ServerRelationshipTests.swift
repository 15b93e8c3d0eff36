#if SQLite && PostgreSQL
    import Foundation
    import RoostCore
    import RoostImport
    import RoostMigration
    import Testing

    @Suite(
        "Foreign keys of imported PostgreSQL databases",
        .enabled(if: ImportServer.parameters != nil, ImportServer.missing))
    struct ServerRelationshipTests {
        @Test("a foreign key becomes a to-one relationship with an inverse and a delete rule")
        func toOne() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE artist (id int PRIMARY KEY, name text);
                CREATE TABLE album (id int PRIMARY KEY, title text, artist_id int REFERENCES artist ON DELETE CASCADE,
                    second_id int NOT NULL REFERENCES artist ON DELETE RESTRICT);
                INSERT INTO artist VALUES (3, 'Miles'), (9, 'Nina'); INSERT INTO album VALUES (1, 'a', 9, 3), (2, 'b', NULL, 9);
                """
            ).imported()
            #expect(try imported.values("album", of: "artist") == [reference("artist", key: 9), .null])
            #expect(
                try imported.values("album", of: "second") == [
                    reference("artist", key: 3), reference("artist", key: 9),
                ])
            let album = try imported.entity("album")
            #expect(album.attributes.map(\.name) == ["title"])
            #expect(album.relationship("artist")?.declaration.isOptional == true)
            #expect(album.relationship("second")?.declaration.isOptional == false)
            let rules = try imported.entity("artist").relationships.map(\.declaration.deleteRule)
            #expect(rules == [.cascade, .deny])
            #expect(imported.report.warnings == [])
        }

        @Test("a foreign key to its own table becomes a relationship of the entity with itself")
        func tree() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE person (id int PRIMARY KEY, boss_id int REFERENCES person);
                INSERT INTO person VALUES (1, 1), (2, 1), (3, 2), (4, NULL);
                """
            ).imported()
            #expect(
                try imported.values("person", of: "boss") == [
                    reference("person", key: 1), reference("person", key: 1), reference("person", key: 2), .null,
                ])
        }

        @Test("a foreign key of several columns becomes one relationship")
        func compound() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE shelf (room text, number int, label text, PRIMARY KEY (room, number));
                CREATE TABLE book (title text PRIMARY KEY, n int, room text, FOREIGN KEY (room, n) REFERENCES shelf);
                INSERT INTO shelf VALUES ('b', 1, 'B1'), ('a', 2, 'A2'), ('a', 10, 'A10');
                INSERT INTO book VALUES ('x', 10, 'a'), ('y', 1, 'b'), ('z', NULL, NULL);
                """
            ).imported()
            #expect(try imported.values("shelf", of: "label") == [.string("A2"), .string("A10"), .string("B1")])
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
            let imported = try ServerSchema(
                """
                CREATE TABLE p (a int, b int, PRIMARY KEY (a, b)); INSERT INTO p VALUES (1, 1);
                CREATE TABLE c (id int PRIMARY KEY, a int, b int, FOREIGN KEY (a, b) REFERENCES p);
                INSERT INTO c VALUES (1, 1, 1), (2, 5, NULL);
                """
            ).imported()
            #expect(try imported.values("c", of: "a") == [.int(1), .int(5)])
            #expect(try imported.values("c", of: "p") == [reference("p", key: 1), .null])
            #expect(imported.report.warnings.count == 1)
        }

        @Test("a foreign key to unique columns finds rows of a table without a primary key")
        func uniqueParent() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE p (code text UNIQUE, x int); CREATE TABLE c (x int, code text REFERENCES p (code));
                INSERT INTO p VALUES ('b', 1), ('a', 2), (NULL, 3); INSERT INTO c VALUES (1, 'a'), (2, 'b');
                """
            ).imported()
            #expect(try imported.values("p", of: "code") == [.string("b"), .string("a"), .null])
            #expect(
                try imported.values("c", of: "code") == [reference("p", key: 2), reference("p", key: 1)])
        }

        @Test("a foreign key is resolved with its own comparison operator")
        func operators() throws {
            let schema = try ServerSchema(
                """
                CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
                CREATE TABLE p (code text COLLATE folding PRIMARY KEY, n bigint UNIQUE, f char(5) UNIQUE);
                CREATE TABLE c (x int, code text COLLATE folding REFERENCES p, n smallint REFERENCES p (n), f char(8) REFERENCES p (f));
                INSERT INTO p VALUES ('Abc', 5, 'q'); INSERT INTO c VALUES (1, 'aBC', 5, 'q');
                """)
            let imported = try schema.imported()
            let row = try #require(try imported.objects("c")[1])
            for (name, value) in row where name != "x" { #expect(value == reference("p", key: 1), "\(name)") }
            #expect(row.count == 4)
            #expect(imported.report.warnings.contains { $0.contains("the spelling of its values is not kept") })
        }

        @Test(
            "a foreign key of an extension's type is resolved with the operators of that type",
            .enabled(if: ImportServer.hasTextWithoutCase, "the server has no extension citext"))
        func extensionOperators() throws {
            let schema = try ServerSchema(
                """
                CREATE EXTENSION IF NOT EXISTS citext SCHEMA public;
                CREATE TABLE p (code citext PRIMARY KEY); CREATE TABLE c (x int, code citext REFERENCES p);
                INSERT INTO p VALUES ('b'), ('Abc'); INSERT INTO c VALUES (1, 'aBC'), (2, 'B');
                """)
            let imported = try schema.imported()
            #expect(try imported.values("p", of: "code") == [.string("Abc"), .string("b")])
            #expect(try imported.values("c", of: "code") == [reference("p", key: 1), reference("p", key: 2)])
            #expect(
                imported.report.warnings == [
                    "Table 'p': The primary key is left out: it compares texts without case.",
                    "Column 'code' of table 'c': the spelling of its values is not kept where table 'p' spells them differently.",
                    "Column 'code' of table 'c': texts are compared with their case, unlike in type public.citext.",
                    "Column 'code' of table 'p': texts are compared with their case, unlike in type public.citext.",
                ])
        }

        @Test("a foreign key to a missing row becomes null with a warning")
        func dangling() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE p (id int PRIMARY KEY); INSERT INTO p VALUES (1);
                CREATE TABLE c (id int PRIMARY KEY, p_id int NOT NULL); INSERT INTO c VALUES (1, 1), (2, 7), (3, 8);
                ALTER TABLE c ADD FOREIGN KEY (p_id) REFERENCES p NOT VALID;
                """
            ).imported()
            #expect(try imported.values("c", of: "p") == [reference("p", key: 1), .null, .null])
            #expect(try imported.entity("c").relationship("p")?.declaration.isOptional == true)
            let warning = try #require(imported.report.warnings.first)
            #expect(
                warning.hasPrefix(
                    "Column 'p_id' of table 'c': 2 rows refer to a row of 'p' that does not exist, such as row 2"))
        }

        @Test("a foreign key to another schema is not a relationship")
        func otherSchema() throws {
            let other = try ServerSchema("CREATE TABLE p (id int PRIMARY KEY); INSERT INTO p VALUES (1)")
            let name = try other.session.quoted(other.name)
            let schema = try ServerSchema(
                "CREATE TABLE c (p_id int REFERENCES \(name).p); INSERT INTO c VALUES (1)")
            let imported = try schema.imported()
            #expect(try imported.values("c", of: "p_id") == [.int(1)])
            #expect(
                imported.report.warnings == [
                    "Column 'p_id' of table 'c': the foreign key to '\(other.name).p' is not a relationship, because no such table is imported."
                ])
            try schema.execute("DROP TABLE c")
        }

        @Test("a join table becomes a many-to-many relationship with each pair once")
        func manyToMany() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE post (id int PRIMARY KEY, title text); CREATE TABLE tag (name text PRIMARY KEY);
                CREATE TABLE post_tag (id serial PRIMARY KEY, post_id int REFERENCES post, tag_name text REFERENCES tag);
                INSERT INTO post VALUES (10, 'a'), (20, 'b'); INSERT INTO tag VALUES ('y'), ('x');
                INSERT INTO post_tag (post_id, tag_name) VALUES (10, 'y'), (20, 'x'), (20, 'y'), (10, 'y'), (NULL, 'x');
                """
            ).imported()
            #expect(imported.model.entities.map(\.name.text) == ["post", "tag"])
            #expect(try imported.pairs("post", of: "tag") == [[10, 2], [20, 1], [20, 2]])
            #expect(try imported.pairs("tag", of: "post") == [[2, 10], [1, 20], [2, 20]])
            let warnings = imported.report.warnings
            #expect(warnings.contains { $0.hasPrefix("Table 'post_tag': 1 row repeats a pair") })
            #expect(warnings.contains("Column 'id' of table 'post_tag': left out."))
            #expect(warnings.contains { $0.contains("'post_id'") && $0.contains("no value") })
        }

        @Test("a join table that joins a table with itself keeps the direction of each pair")
        func selfJoin() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE person (id int PRIMARY KEY, name text);
                CREATE TABLE follows (follower_id int REFERENCES person, followed_id int REFERENCES person,
                    PRIMARY KEY (follower_id, followed_id));
                INSERT INTO person VALUES (1, 'a'), (2, 'b'), (3, 'c'); INSERT INTO follows VALUES (1, 2), (1, 3), (3, 3);
                """
            ).imported()
            #expect(try imported.pairs("person", of: "followed") == [[1, 2], [1, 3], [3, 3]])
            #expect(try imported.pairs("person", of: "follower") == [[2, 1], [3, 1], [3, 3]])
            #expect(imported.report.warnings == [])
        }
    }
#endif
