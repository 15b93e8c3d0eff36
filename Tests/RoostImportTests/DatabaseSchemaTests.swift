import Foundation
import Roost
import RoostCore
import RoostImport
import RoostMigration
import Testing

#if SQLite
    @Suite("Schemas of imported databases")
    struct DatabaseSchemaTests {
        private let directory: ImportDirectory

        init() throws { directory = try ImportDirectory() }

        @Test("an INTEGER PRIMARY KEY becomes the objects' key")
        func keys() throws {
            let imported = try Imported(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (5, 1), (9223372036854775807, 2)",
                in: directory)
            #expect(try imported.objects("t") == [5: ["x": .int(1)], .max: ["x": .int(2)]])
            #expect(imported.remark("t", column: "id") == "is the key of the objects")
        }

        @Test("a table name that a property cannot have becomes the entity's name")
        func reservedNames() throws {
            let imported = try Imported(
                "CREATE TABLE entity (x); INSERT INTO entity VALUES (1)", in: directory)
            #expect(try imported.objects("entity") == [1: ["x": .int(1)]])
        }

        @Test("a primary key other than the rowid becomes an attribute with a uniqueness constraint")
        func otherKeys() throws {
            let imported = try Imported(
                """
                CREATE TABLE t (id INT PRIMARY KEY, x); CREATE TABLE d (id INTEGER PRIMARY KEY DESC, x);
                CREATE TABLE w (id INTEGER PRIMARY KEY, x) WITHOUT ROWID;
                INSERT INTO t VALUES (7, 1); INSERT INTO d VALUES (8, 1); INSERT INTO w VALUES (-1, 1), (9, 2);
                """, in: directory)
            #expect(try imported.objects("t") == [1: ["id": .int(7), "x": .int(1)]])
            #expect(try imported.objects("d") == [1: ["id": .int(8), "x": .int(1)]])
            #expect(
                try imported.objects("w") == [1: ["id": .int(-1), "x": .int(1)], 2: ["id": .int(9), "x": .int(2)]])
            for name in ["t", "d", "w"] {
                #expect(try imported.entity(name).declaration.uniquenessConstraints == [["id"]])
            }
        }

        @Test("unique indexes become uniqueness constraints, and other indexes become fetch indexes")
        func indexes() throws {
            let imported = try Imported(
                """
                CREATE TABLE t (a, b, c, UNIQUE (b, a)); CREATE UNIQUE INDEX one ON t (c); CREATE INDEX two ON t (c DESC, a);
                INSERT INTO t VALUES (1, 1, 1), (1, 2, 2), (NULL, 1, NULL), (NULL, 1, NULL);
                """, in: directory)
            let entity = try imported.entity("t").declaration
            #expect(entity.uniquenessConstraints == [["b", "a"], ["c"]])
            #expect(
                entity.fetchIndexes == [
                    FetchIndexDescription("two", elements: [.init("c", isAscending: false), .init("a")])
                ])
            #expect(imported.report.warnings == [])
        }

        @Test(
            "an index that a model cannot have is left out with a warning",
            arguments: [
                ("CREATE UNIQUE INDEX i ON t (a) WHERE a > 1", "covers only some rows"),
                ("CREATE UNIQUE INDEX i ON t (lower(a))", "has an expression"),
                ("CREATE UNIQUE INDEX i ON t (a COLLATE NOCASE)", "collation NOCASE"),
                ("CREATE INDEX i ON t (a) WHERE a > 1", "covers only some rows"),
                ("CREATE INDEX i ON t (a || b)", "has an expression"),
                ("CREATE UNIQUE INDEX i ON t (mixed)", "do not stay unique"),
                ("CREATE UNIQUE INDEX i ON t (day)", "do not stay unique"),
            ])
        func otherIndexes(statement: String, reason: String) throws {
            let imported = try Imported(
                """
                CREATE TABLE t (a, b, mixed, day DATE); \(statement);
                INSERT INTO t VALUES ('x', 1, 1, '2024-01-01'), ('y', 1, '1', '2024-01-01 00:00:00');
                """, in: directory)
            #expect(try imported.entity("t").declaration.uniquenessConstraints == [])
            #expect(try imported.entity("t").declaration.fetchIndexes == [])
            #expect(
                imported.report.warnings.contains {
                    $0.hasPrefix("Table 't': Index 'i' is left out") && $0.contains(reason)
                })
        }

        @Test("views, triggers, virtual tables and CHECKs are left out with warnings")
        func leftOut() throws {
            let imported = try Imported(
                """
                CREATE TABLE t (a CHECK (a > 0), "check" TEXT); INSERT INTO t VALUES (1, 'x');
                CREATE TABLE u ("check" TEXT DEFAULT 'CHECK' /* CHECK */);
                CREATE VIEW v AS SELECT * FROM t; CREATE VIEW broken AS SELECT * FROM nowhere;
                CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END;
                CREATE VIRTUAL TABLE search USING fts5 (text); INSERT INTO search VALUES ('hello');
                CREATE TABLE search_notes (x); CREATE TABLE k (id INTEGER PRIMARY KEY AUTOINCREMENT); ANALYZE;
                """, in: directory)
            #expect(imported.model.entities.map(\.name.text) == ["k", "search_notes", "t", "u"])
            let warnings = imported.report.warnings
            for text in [
                "View 'v' is left out.", "View 'broken' is left out.", "Trigger 'r' of table 't' is left out.",
                "Virtual table 'search' is left out.", "Table 'search_data' of virtual table 'search' is left out.",
                "Table 't': CHECK constraints are left out.",
            ] { #expect(warnings.contains(text)) }
            #expect(!warnings.contains { $0.contains("'u'") })
        }

        @Test("generated columns are imported with their values")
        func generated() throws {
            let imported = try Imported(
                """
                CREATE TABLE t (a INT, b INT AS (a * 2), c INT AS (a + 1) STORED, d INT); INSERT INTO t (a, d) VALUES (5, 9);
                CREATE INDEX i ON t (d);
                """, in: directory)
            #expect(try imported.objects("t") == [1: ["a": .int(5), "b": .int(10), "c": .int(6), "d": .int(9)]])
            #expect(imported.report.warnings.count { $0.contains("the expression that computes it is left out") } == 2)
        }

        @Test("a generated column with an unknown function is left out")
        func unknownFunction() throws {
            let path = try directory.database("CREATE TABLE t (a INT, b INT, c INT); INSERT INTO t VALUES (1, 2, 3);")
            let database = try TestDatabase(path)
            try database.execute(
                """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a INT, x AS (evil(b) + 1), y AS (nowhere(a)), b INT, c INT)';
                """)
            let imported = try Imported(path)
            #expect(try imported.objects("t") == [1: ["a": .int(1), "b": .int(2), "c": .int(3)]])
            #expect(imported.report.warnings.count { $0.contains("cannot compute its values") } == 2)
        }

        @Test("an import that lacks a program's own collation leaves out the relationships and tables that need it")
        func ownCollations() throws {
            let path = directory.file("own.db")
            let database = try TestDatabase(path)
            database.addCollation("OWN")
            try database.execute(
                """
                CREATE TABLE p (a TEXT COLLATE OWN PRIMARY KEY, n INT); CREATE TABLE c (p_a TEXT REFERENCES p, x INT);
                CREATE TABLE w (a TEXT COLLATE OWN PRIMARY KEY, n INT) WITHOUT ROWID; CREATE INDEX i ON c (p_a COLLATE OWN);
                INSERT INTO p VALUES ('b', 1), ('a', 2); INSERT INTO c VALUES ('a', 3); INSERT INTO w VALUES ('z', 1), ('y', 2);
                """)
            let imported = try Imported(path)
            #expect(try imported.values("p", of: "a") == [.string("b"), .string("a")])
            #expect(try imported.values("c", of: "p_a") == [.string("a")])
            let warnings = imported.report.warnings
            #expect(warnings.contains { $0.hasPrefix("Table 'w' is left out, because SQLite cannot read it") })
            #expect(
                warnings.contains { $0.hasSuffix("because SQLite does not know the collation of that table's key.") })
            #expect(warnings.contains("Column 'a' of table 'p': collation OWN is left out."))
        }

        @Test("names that a model cannot have are changed, and importedFrom keeps the original names")
        func names() throws {
            let imported = try Imported(
                """
                CREATE TABLE "a.b" ("id" INT, "ID " INT, "a.b" INT, "x/y#z" INT, "description" INT, "hash" INT, "select" INT,
                    "größe" INT, "q""uote" INT, "[x]" INT, "cafe\u{301}" INT, "café" INT, "rowid" INT);
                INSERT INTO "a.b" VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
                CREATE TABLE "it's ""x"" y" (a INT); INSERT INTO "it's ""x"" y" VALUES (1);
                CREATE TABLE "" ("" INT); INSERT INTO "" VALUES (14);
                """, in: directory)
            let entity = try imported.entity("a_b")
            #expect(entity.declaration.userInfo["importedFrom"] == "a.b")
            let object = try #require(try imported.objects("a_b")[1])
            #expect(
                object == [
                    "id": .int(1), "ID_2": .int(2), "a_b": .int(3), "x_y_z": .int(4), "description_": .int(5),
                    "hash_": .int(6), "select": .int(7), "größe": .int(8), "q\"uote": .int(9), "[x]": .int(10),
                    "café": .int(11), "café_2": .int(12), "rowid": .int(13),
                ])
            #expect(entity.attribute("café_2")?.userInfo["importedFrom"]?.unicodeScalars.count == 4)
            #expect(try imported.values("it's \"x\" y", of: "a") == [.int(1)])
            #expect(try imported.values("Table3", of: "column1") == [.int(14)])
        }

        @Test("a table whose columns hide every name of the rowid is read in order")
        func hiddenRowID() throws {
            let imported = try Imported(
                """
                CREATE TABLE t (rowid TEXT, _rowid_ TEXT, oid TEXT); INSERT INTO t VALUES ('a', 'b', 'c'), ('d', 'e', 'f');
                CREATE TABLE c (t_id INT REFERENCES t (rowid));
                """, in: directory)
            #expect(try imported.values("t", of: "oid") == [.string("c"), .string("f")])
        }

        @Test("a table of 2000 columns is imported into memory")
        func wide() throws {
            let names = (0..<2000).map { "c\($0) INT" }.joined(separator: ", ")
            let path = try directory.database(
                "CREATE TABLE t (\(names)); INSERT INTO t (c0, c1999) VALUES (1, 2), (3, 4);")
            let content = try DatabaseImport(sqlite: path, model: nil) { () throws(StoreError) in }
            let store = try StoreRegistry.standard.type(named: "memory").create(
                StoreLocation(type: "memory", path: ""), model: content.model, options: StoreOptions())
            _ = try MigrationManager(registry: .standard).make(.store(store), of: content, named: "wide")
            let snapshot = try store.snapshot()
            var batch = RecordBatch(model: content.model)
            #expect(try snapshot.records(of: "t", after: nil).next(into: &batch))
            #expect(batch.values(at: 1) == ["c0": .int(3), "c1999": .int(4)])
        }

        @Test("tables without rows and tables with only a key column are imported")
        func empty() throws {
            let imported = try Imported(
                """
                CREATE TABLE none (a TEXT, b INT); CREATE TABLE ids (id INTEGER PRIMARY KEY);
                INSERT INTO ids VALUES (3), (4);
                """, in: directory)
            #expect(try imported.objects("none") == [:])
            #expect(try imported.objects("ids") == [3: [:], 4: [:]])
        }

        @Test("the plan of an import has the property of each column")
        func plan() throws {
            let imported = try Imported(
                """
                CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT); CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INT REFERENCES a);
                CREATE TABLE ab (a_id INT REFERENCES a, b_id INT REFERENCES b); INSERT INTO a VALUES (1, 'x'), (2, 'y');
                """, in: directory)
            let plan = imported.content.plan
            let lines = plan.tables.flatMap { table in
                table.columns.map {
                    "\(table.name) \(table.entity ?? "-") \(table.rows): \($0.name) \($0.property ?? "-") \($0.type ?? "-")"
                }
            }
            #expect(
                lines == [
                    "a a 2: id - -", "a a 2: x x string", "b b 0: id - -", "b b 0: a_id a to a",
                    "ab - 0: a_id b.aByAb to many a", "ab - 0: b_id a.bByAb to many b",
                ])
        }
    }
#endif
