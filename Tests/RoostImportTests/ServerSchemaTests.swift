#if SQLite && PostgreSQL
    import Foundation
    import RoostCore
    import RoostImport
    import RoostMigration
    import Testing

    @Suite(
        "Schemas of imported PostgreSQL databases",
        .enabled(if: ImportServer.parameters != nil, ImportServer.missing))
    struct ServerSchemaTests {
        @Test("an integer primary key becomes the objects' key", arguments: ["smallint", "integer", "bigint"])
        func keys(type: String) throws {
            let imported = try ServerSchema(
                "CREATE TABLE t (id \(type) PRIMARY KEY, x int); INSERT INTO t VALUES (7, 1), (5, 2)"
            ).imported()
            #expect(try imported.objects("t") == [7: ["x": .int(1)], 5: ["x": .int(2)]])
            #expect(imported.remark("t", column: "id") == "is the key of the objects")
        }

        @Test("if a key is below 1, the rows of its table get new keys, which references use")
        func lowKeys() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE p (id bigint PRIMARY KEY, name text); CREATE TABLE c (p_id bigint REFERENCES p, x int);
                INSERT INTO p VALUES (9223372036854775807, 'high'), (0, 'zero'), (-9223372036854775808, 'low');
                INSERT INTO c VALUES (9223372036854775807, 1), (0, 2), (-9223372036854775808, 3), (NULL, 4);
                """
            ).imported()
            #expect(try imported.values("p", of: "name") == [.string("low"), .string("zero"), .string("high")])
            #expect(try imported.values("p", of: "id") == [.int(.min), .int(0), .int(.max)])
            #expect(
                try imported.values("c", of: "p") == [
                    reference("p", key: 3), reference("p", key: 2), reference("p", key: 1), .null,
                ])
        }

        @Test("a primary key of another type becomes a unique attribute, and objects are numbered in the key's order")
        func otherKeys() throws {
            let imported = try ServerSchema(
                "CREATE TABLE t (code text PRIMARY KEY, x int); INSERT INTO t VALUES ('b', 1), ('a', 2)"
            ).imported()
            #expect(try imported.values("t", of: "code") == [.string("a"), .string("b")])
            #expect(try imported.entity("t").declaration.uniquenessConstraints == [["code"]])
        }

        @Test("unique indexes become uniqueness constraints, and other indexes become fetch indexes")
        func indexes() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE t (a int, b int, c text, UNIQUE (b, a) INCLUDE (c)); CREATE UNIQUE INDEX one ON t (c);
                CREATE INDEX two ON t (c DESC, a); CREATE INDEX three ON t USING hash (a);
                """
            ).imported()
            let entity = try imported.entity("t").declaration
            #expect(entity.uniquenessConstraints == [["b", "a"], ["c"]])
            #expect(
                entity.fetchIndexes == [
                    FetchIndexDescription("three", elements: [.init("a")]),
                    FetchIndexDescription("two", elements: [.init("c", isAscending: false), .init("a")]),
                ])
            #expect(imported.report.warnings == [])
        }

        @Test(
            "an index that a model cannot have is left out with a warning",
            arguments: [
                ("CREATE UNIQUE INDEX i ON t (a) WHERE a > 1", "covers only some rows"),
                ("CREATE UNIQUE INDEX i ON t (lower(b))", "has an expression"),
                ("CREATE INDEX i ON t USING gin (j)", "an index of type gin"),
                ("CREATE INDEX i ON t USING brin (a)", "an index of type brin"),
                ("ALTER TABLE t ADD CONSTRAINT i EXCLUDE USING gist (r WITH &&)", "an exclusion constraint"),
                ("CREATE UNIQUE INDEX i ON t (f)", "compares texts with collation folding"),
            ])
        func otherIndexes(statement: String, reason: String) throws {
            let imported = try ServerSchema(
                """
                CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
                CREATE TABLE t (a int, b text, j jsonb, r int4range, f text COLLATE folding); \(statement);
                """
            ).imported()
            #expect(try imported.entity("t").declaration.uniquenessConstraints == [])
            #expect(try imported.entity("t").declaration.fetchIndexes == [])
            #expect(
                imported.report.warnings.contains {
                    $0.hasPrefix("Table 't': Index 'i' is left out") && $0.contains(reason)
                })
        }

        @Test("an import warns once of everything that it leaves out")
        func leftOut() throws {
            let schema = try ServerSchema(
                """
                CREATE TABLE a (id serial PRIMARY KEY, b int GENERATED ALWAYS AS IDENTITY, c int CHECK (c > 0),
                    d int GENERATED ALWAYS AS (c * 2) STORED, e text COLLATE "POSIX");
                COMMENT ON COLUMN a.c IS 'number'; CREATE VIEW v AS SELECT * FROM a; CREATE SEQUENCE s;
                CREATE MATERIALIZED VIEW m AS SELECT 1 AS x; CREATE DOMAIN small AS int CHECK (VALUE < 5);
                CREATE TABLE u (k small UNIQUE NULLS NOT DISTINCT);
                CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
                CREATE PROCEDURE g() LANGUAGE sql AS 'SELECT 1';
                CREATE TRIGGER r BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION f();
                CREATE RULE q AS ON DELETE TO a DO ALSO NOTHING; CREATE POLICY p ON a USING (true);
                """)
            #expect(
                try schema.imported().report.warnings == [
                    "Materialized view 'm' is left out.", "Sequence 's' is left out.", "View 'v' is left out.",
                    "Trigger 'r' of table 'a' is left out.", "Rule 'q' of table 'a' is left out.",
                    "Row-level security policy 'p' of table 'a' is left out.", "Functions are left out: 'f', 'g'.",
                    "Type 'small' is left out.", "Table 'a': CHECK constraints are left out.",
                    "Table 'a': Comments are left out.",
                    "Column 'id' of table 'a': the sequence that numbers new rows is left out.",
                    "Column 'b' of table 'a': the sequence that numbers new rows is left out.",
                    "Column 'd' of table 'a': the expression that computes it is left out.",
                    "Column 'e' of table 'a': collation POSIX is left out.",
                    "Table 'u': Index 'u_k_key' allows one null; the constraint allows many.",
                    "Column 'k' of table 'u': the rules of domain \"\(schema.name)\".small are left out.",
                ])
        }

        @Test("a generated column is imported with its values")
        func generated() throws {
            let imported = try ServerSchema(
                "CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a * 2) STORED); INSERT INTO t VALUES (5)"
            ).imported()
            #expect(try imported.objects("t") == [1: ["a": .int(5), "b": .int(10)]])
        }

        @Test("a partitioned table becomes one entity with the rows of its partitions")
        func partitions() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE log (id int PRIMARY KEY, x text) PARTITION BY RANGE (id);
                CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM (1) TO (10);
                CREATE TABLE log_2 PARTITION OF log FOR VALUES FROM (10) TO (100) PARTITION BY LIST (id);
                CREATE TABLE log_2_1 PARTITION OF log_2 DEFAULT;
                CREATE TABLE free (x text) PARTITION BY LIST (x); CREATE TABLE free_1 PARTITION OF free DEFAULT;
                CREATE TABLE note (log_id int REFERENCES log, y int);
                INSERT INTO log VALUES (50, 'b'), (5, 'a'); INSERT INTO free VALUES ('x'); INSERT INTO note VALUES (50, 1);
                """
            ).imported()
            #expect(imported.model.entities.map(\.name.text) == ["free", "log", "note"])
            #expect(try imported.objects("log") == [5: ["x": .string("a")], 50: ["x": .string("b")]])
            #expect(try imported.values("free", of: "x") == [.string("x")])
            #expect(try imported.values("note", of: "log") == [reference("log", key: 50)])
            #expect(
                imported.report.warnings == [
                    "Table 'free': Its partition is left out; the rows are imported with the table.",
                    "Table 'log': Its 2 partitions are left out; the rows are imported with the table.",
                ])
        }

        @Test("a table and the table that inherits from it are each imported with only their own rows")
        func inheritance() throws {
            let imported = try ServerSchema(
                """
                CREATE TABLE base (id int PRIMARY KEY, x text); CREATE TABLE kid (y text) INHERITS (base);
                INSERT INTO base VALUES (1, 'b'); INSERT INTO kid VALUES (2, 'k', 'y');
                """
            ).imported()
            #expect(try imported.objects("base") == [1: ["x": .string("b")]])
            #expect(try imported.objects("kid") == [1: ["id": .int(2), "x": .string("k"), "y": .string("y")]])
            #expect(imported.report.warnings == ["Table 'kid': Its inheritance from 'base' is left out."])
        }

        @Test("a table with more columns and keys than one statement returns is read whole")
        func manyColumns() throws {
            let names = (1...1500).map { "c\($0)" }
            let keys = (1...70).map { "FOREIGN KEY (c\($0)) REFERENCES p" }
            let schema = try ServerSchema(
                """
                CREATE TABLE p (id smallint PRIMARY KEY); INSERT INTO p SELECT generate_series(1, 300);
                CREATE TABLE t (\(names.map { "\($0) smallint" }.joined(separator: ", ")), \(keys.joined(separator: ", ")));
                INSERT INTO t SELECT \((1...1500).map { "n + \($0 % 200)" }.joined(separator: ", ")) FROM generate_series(1, 90) n;
                """)
            let imported = try schema.imported()
            let objects = try imported.objects("t")
            #expect(objects.count == 90)
            let relationships = try imported.entity("t").relationships.filter { !$0.isToMany }.map(\.name.name)
            #expect(relationships.count == 70)
            for (key, values) in objects where [1, 45, 90].contains(key) {
                #expect(values["c1500"] == .int(key + 1500 % 200))
                #expect(values["c7"] == reference("p", key: key + 7))
                #expect(values["c69"] == reference("p", key: key + 69))
            }
        }
    }
#endif
