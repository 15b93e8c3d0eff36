import Foundation
import RoostCore
import RoostFiles
import RoostMemory
import RoostPredicates
import RoostSQLite
import Testing

/// Texts that look like SQL, a pattern or an end of text, as values and as names.
@Suite("Hostile texts in SQL")
struct InjectionTests {
    typealias Comparison = FetchRequest.Comparison

    static let texts: [String] = {
        let seeds = [
            "'", "''", "\"", "\"\"", "`", "[", "]", ";", "--", "/*", "*/", "%", "_", "%%", "?", "?1", ":a", "@a", "$a",
            "\\",
            "\\\\", "\\'", "*", "NULL", "null", "TRUE", "0", "1=1", "x'00'", "X'41'", "t0", "t0._id", "_id", "rowid",
            "roost_matches",
            "' OR '1'='1", "' OR 1=1 --", "'; DROP TABLE \"Note\"; --", "\"; DELETE FROM _roost_metadata; --",
            "') UNION SELECT * FROM sqlite_master --", "1; ATTACH DATABASE 'x' AS y", "a' COLLATE NOCASE", "[a]", "{a}",
            "(a)", "a,b",
            "’", "‘", "“", "＇", "ʼ", "\u{2028}", "\u{200B}", "\u{202E}abc", "\u{FEFF}", "\u{1}", "\u{7F}", "\u{85}",
            "\u{FFFD}",
            "\u{10FFFF}", "é", "e\u{301}", "İ", "ß", "ﬁ", "", " ", "\t", "\n", "\r\n", "a b", "A B",
            "999999999999999999999", "1e309",
            "-0", "NaN", "NaN:7FF8000000000001", "Infinity", "json_each", "[1,2]", "{\"a\":1}", "\\u0000", "%s%n",
            "$(x)", "../..",
            "<script>", "&amp;", "^a$", "(a+)+", "(?i)a", "\\E", "\\Q", "[^]", "\\d", "\\w+",
        ]
        var texts: [String] = []
        for (index, seed) in (seeds + seeds.map { "a" + $0 + "b" } + seeds.map { $0 + $0 } + seeds.map { $0 + "'" })
            .enumerated()
        where texts.count < 300 {
            texts.append(texts.contains(seed) ? "\(seed)\(index)" : seed)
        }
        return texts
    }()

    @Test("hostile texts find the same objects in SQL as in memory, with each operator")
    func findsHostileTexts() throws {
        #expect(Self.texts.count == 300 && Set(Self.texts.map { Array($0.utf8) }).count == 300)
        let directory = try TemporaryDirectory()
        let model = try Models.note()
        let plain = try MemoryStoreType().create(
            StoreLocation(type: "memory", path: UUID().uuidString), model: model, options: StoreOptions())
        let sql = try SQLiteStoreType().create(directory.location("a"), model: model, options: StoreOptions())
        var changes = ChangeSet(model: model)
        for (index, text) in Self.texts.enumerated() {
            try changes.insert(ObjectID("Note", key: Int64(index + 1)), values: ["text": .string(text)])
        }
        _ = try plain.commit(changes)
        _ = try sql.commit(changes)
        let (expected, found) = (try plain.snapshot(), try sql.snapshot())
        let options: [Comparison.Options] = [
            [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive], .localized,
        ]
        for (index, text) in Self.texts.enumerated() {
            for (number, operation) in Comparison.Operator.allCases.enumerated() {
                var right = FetchRequest.Expression.constant(.string(text))
                if operation == .between { right = .aggregate([.constant("a"), right]) }
                if operation == .isIn, index % 2 == 0 { right = .aggregate([right, .constant("a")]) }
                let request = FetchRequest(
                    "Note",
                    where: .comparison(
                        .init(
                            left: .keyPath(["text"]), operator: operation, right: right,
                            options: options[(index + number) % options.count]))
                )
                do {
                    let keys = try plain.collect(expected.fetch(request)).map(\.id.key)
                    let others = try sql.collect(found.fetch(request)).map(\.id.key)
                    #expect(others == keys, "\(operation) \(text.debugDescription)")
                    if operation == .equal, (index + number) % options.count == 0 {
                        #expect(keys == [Int64(index + 1)])
                    }
                } catch let error as StoreError where error.code == .invalidRequest && operation == .matches {
                    // Both stores refuse an invalid regular expression.
                    #expect(code { _ = try found.fetch(request) } == .invalidRequest)
                }
            }
        }
        expected.close()
        found.close()
        #expect(try sql.findings() == [])
        try plain.close()
        try sql.close()
    }

    @Test("hostile texts work as names of entities, attributes, relationships and variables")
    func acceptsHostileNames() throws {
        let directory = try TemporaryDirectory()
        let names = Self.nameTexts
        var parent = EntityDescription(
            "x'\"; DROP--", attributes: names.map { AttributeDescription($0, type: .string) },
            relationships: [.toMany("to'\"many", to: "y\"`]", inverse: "to\"one")])
        parent.fetchIndexes = [FetchIndexDescription("'\";--", on: names[0])]
        let child = EntityDescription(
            "y\"`]", attributes: [AttributeDescription("na'me", type: .string)],
            relationships: [.toOne("to\"one", to: "x'\"; DROP--", inverse: "to'\"many")])
        let model = try ManagedObjectModel(entities: [parent, child])
        let plain = try MemoryStoreType().create(
            StoreLocation(type: "memory", path: UUID().uuidString), model: model, options: StoreOptions())
        let sql = try SQLiteStoreType().create(directory.location("a"), model: model, options: StoreOptions())
        var changes = ChangeSet(model: model)
        for key in Int64(1)...5 {
            var values: [String: Value] = [:]
            for (index, name) in names.enumerated() where (index + Int(key)) % 3 != 0 {
                values[name] = .string(name + "\(key % 2)")
            }
            try changes.insert(ObjectID("x'\"; DROP--", key: key), values: values)
            try changes.insert(
                ObjectID("y\"`]", key: key),
                values: ["na'me": .string("n\(key)"), "to\"one": .objectID(ObjectID("x'\"; DROP--", key: 1 + key / 2))])
        }
        _ = try plain.commit(changes)
        _ = try sql.commit(changes)
        for name in names {
            for request in Self.requests(name) {
                #expect(try sql.keys(request) == plain.keys(request), "\(name.debugDescription)")
            }
        }
        #expect(try sql.findings() == [])
        try plain.close()
        try sql.close()
    }

    /// Texts that a model accepts as names; in a key path, `@` would begin an operator.
    private static let nameTexts = texts.filter { text in
        !text.isEmpty && !text.contains(".") && !text.hasPrefix("@") && !text.contains("#") && !text.contains("/")
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            && text.utf8.elementsEqual(text.precomposedStringWithCanonicalMapping.utf8)
    }.prefix(60)

    /// Returns requests with `name` as the name of an attribute, in a path and as a variable.
    private static func requests(_ name: String) -> [FetchRequest] {
        [
            FetchRequest("x'\"; DROP--", where: .equal(name, to: .string(name + "1")), sortedBy: [.init(name)]),
            FetchRequest(
                "x'\"; DROP--",
                where: .comparison(
                    .init(left: .keyPath([name]), operator: .contains, right: .constant(.string(name))))),
            FetchRequest(
                "y\"`]",
                where: .comparison(
                    .init(
                        left: .keyPath(["to\"one", name]), operator: .notEqual,
                        right: .constant(.string(name + "0")))),
                sortedBy: [.init("to\"one.\(name)", ascending: false)]),
            FetchRequest(
                "x'\"; DROP--",
                where: .comparison(
                    .init(
                        left: .path(
                            of: .subquery(
                                .keyPath(["to'\"many"]), variable: name,
                                .comparison(
                                    .init(
                                        left: .path(of: .variable(name), ["na'me"]), operator: .greater,
                                        right: .constant("n2")))),
                            ["@count"]), operator: .greater, right: .constant(0)))),
        ]
    }
}
