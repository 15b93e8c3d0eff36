import Foundation
import RoostCore
import RoostSQL
import RoostSQLite
import Testing

/// A dialect with only the required members.
private struct LeastDialect: SQLDialect {
    var maximumIdentifierByteCount: Int { 63 }
    var maximumColumnCount: Int { 1600 }
    var maximumParameterCount: Int { 65_535 }

    func quote(_ identifier: String) -> String { "\"" + identifier.replacing("\"", with: "\"\"") + "\"" }
    func parameter(_ position: Int) -> String { "$\(position)" }

    var integerType: String { "bigint" }
    var textType: String { "text" }
    var blobType: String { "bytea" }
    var floatingType: String { "double precision" }
}

@Suite("SQL dialects")
struct DialectTests {
    /// Words of SQLite that some other database lacks, or reads in another way.
    private static let words = [
        "pragma", "sqlite", "rowid", "or replace", "or fail", "typeof", #"\bglob\b"#, "json_each", "on conflict",
        #"\bstrict\b"#, #" is not \\\("#, #"\?[0-9\\]"#, #"\bx'"#,
    ]

    @Test("no string in the sources of the SQL engine is specific to SQLite")
    func hasNoSQLiteWords() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Engines/RoostSQL")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 30)
        for file in files {
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            for line in lines {
                for text in line.matches(of: /"([^"\\]|\\.)*"/) {
                    for word in Self.words {
                        let found = text.output.0.lowercased().range(of: word, options: .regularExpression)
                        #expect(found == nil, "\(file.lastPathComponent): \(text.output.0)")
                    }
                }
            }
        }
    }

    @Test("a schema uses the types, parameters and name limits of its dialect")
    func followsDialect() throws {
        let schema = try SQLSchema(try Models.music(), dialect: LeastDialect())
        for item in schema.items {
            #expect(item.name.utf8.count <= 63)
            #expect(!item.sql.contains("?"))
            #expect(item.sql.hasPrefix("CREATE "))
            for word in ["INTEGER", "ANY", "BLOB", "STRICT", "WHERE"] {
                #expect(!item.sql.contains(word), "\(item.sql)")
            }
        }
        let unique = schema.indexes.filter { $0.sql.hasPrefix("CREATE UNIQUE") }
        // The constraint of a subentity needs a partial index, which this dialect lacks.
        #expect(unique.map(\.name) == ["Person_name_unique"])
    }

    @Test("a schema of SQLite has a partial index for a subentity's constraint")
    func usesPartialIndexes() throws {
        let schema = try SQLSchema(try Models.music(), dialect: SQLiteDialect())
        #expect(schema.indexes.count { $0.sql.hasPrefix("CREATE UNIQUE") } > 1)
        #expect(schema.indexes.contains { $0.sql.contains(" WHERE _entity IN (") })
    }
}
