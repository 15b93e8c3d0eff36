internal import Foundation
internal import RoostCore
internal import RoostQuery

extension ConformanceCheck {
    /// The semantics of predicates: null, text, numbers, dates.
    static let queries: [ConformanceCheck] = [
        onRows(
            "primer", behavior: "The examples of the predicate language give the documented results.",
            rows: ["Rob", "rob", "Röb", "Robert", "Albert"].map { ["str": .string($0)] },
            table: [
                (#"str LIKE "Rob""#, [1]), (#"str LIKE[cd] "Rob""#, [1, 2, 3]), (#"str CONTAINS "Rob""#, [1, 4]),
                (#"str BEGINSWITH "R""#, [1, 3, 4]), (#"str ENDSWITH "bert""#, [4, 5]),
                (#"str LIKE "??bert*""#, [4, 5]), (#"str MATCHES ".*bert.*""#, [4, 5]),
                (#"str LIKE "Rob*" AND str = "Robert""#, [4]), (#"str LIKE "Zoe""#, []),
            ]
        ) { snapshot, entity in
            let none = FetchRequest(
                entity, where: try .init(#"str LIKE "Zoe""#, for: entity, model: snapshot.model), limit: 1)
            try expectEqual(try snapshot.keys(none), [], "the first of no matches")
            try expectRefused(#"str MATCHES "??bert*""#, code: .invalidRequest, entity: entity, snapshot: snapshot)
        },
        onRows(
            "null",
            behavior: "Null equals only null, and an order comparison with null is false. NOT inverts every result.",
            rows: [["str": "x", "i64": 1], ["i64": 2], ["str": "y"], ["str": ""]],
            table: [
                ("str == nil", [2]), ("str != nil", [1, 3, 4]), ("nil == str", [2]), (#"str == "x""#, [1]),
                (#"str != "x""#, [2, 3, 4]), (#"NOT str == "x""#, [2, 3, 4]), (#"NOT str != "x""#, [1]),
                (#"str < "y""#, [1, 4]), (#"NOT str < "y""#, [2, 3]), (#"str <= "x""#, [1, 4]),
                (#"str > """#, [1, 3]), (#"NOT str > """#, [2, 4]), (#"str >= """#, [1, 3, 4]),
                (#"str BETWEEN {"a", "x"}"#, [1]), (#"NOT str BETWEEN {"", "z"}"#, [2]),
                (#"str BETWEEN {nil, "z"}"#, []), (#"str BETWEEN {"a", nil}"#, []), (#"str BEGINSWITH """#, [1, 3, 4]),
                (#"NOT str BEGINSWITH "x""#, [2, 3, 4]), (#"str ENDSWITH """#, [1, 3, 4]),
                (#"str CONTAINS """#, [1, 3, 4]), (#"NOT str CONTAINS """#, [2]), (#"str LIKE "*""#, [1, 3, 4]),
                (#"NOT str LIKE "*""#, [2]), (#"str MATCHES ".*""#, [1, 3, 4]), (#"NOT str MATCHES ".*""#, [2]),
                (#"str IN {"x", "q"}"#, [1]), (#"NOT str IN {"x", "q"}"#, [2, 3, 4]), (#"str IN {nil, "y"}"#, [2, 3]),
                ("str IN {}", []), ("NOT str IN {}", [1, 2, 3, 4]), ("str < nil", []), ("NOT str < nil", [1, 2, 3, 4]),
                ("nil >= str", []), ("str == str", [1, 2, 3, 4]), ("str != str", []), ("str <= str", [1, 3, 4]),
                ("nil == nil", [1, 2, 3, 4]), ("nil != nil", []), ("nil IN {nil}", [1, 2, 3, 4]),
                ("i64 + 1 == nil", [3, 4]), ("i64 + 1 != 2", [2, 3, 4]), ("-i64 < 0", [1, 2]),
                ("length(str) == nil", [2]), ("uppercase(str) != \"X\"", [2, 3, 4]), ("length(str) == 0", [4]),
                ("str == \"x\" OR i64 != 2", [1, 3, 4]), ("NOT (str == \"x\" AND i64 == 1)", [2, 3, 4]),
            ]),
        onRows(
            "precedence", behavior: "NOT binds tightest, then AND, then OR. Parentheses change that.",
            rows: (0..<8).map { ["i64": .int($0 & 1), "i32": .int($0 >> 1 & 1), "i16": .int($0 >> 2)] },
            table: [
                ("i64 == 1 OR i32 == 1 AND i16 == 1", [2, 4, 6, 7, 8]),
                ("i16 == 1 AND i32 == 1 OR i64 == 1", [2, 4, 6, 7, 8]),
                ("(i64 == 1 OR i32 == 1) AND i16 == 1", [6, 7, 8]),
                ("NOT i64 == 1 AND i32 == 1", [3, 7]), ("NOT (i64 == 1 AND i32 == 1)", [1, 2, 3, 5, 6, 7]),
                ("! i64 == 1 && i32 == 1 || i16 == 1", [3, 5, 6, 7, 8]), ("NOT NOT i64 == 1", [2, 4, 6, 8]),
                ("TRUEPREDICATE", [1, 2, 3, 4, 5, 6, 7, 8]),
                ("FALSEPREDICATE OR i16 == 0 AND TRUEPREDICATE", [1, 2, 3, 4]),
            ]),
        onRows(
            "between",
            behavior: "BETWEEN includes both bounds, and is false if the first is greater than the second.",
            rows: [1, 2, 3, 4].map { ["i64": .int($0), "dbl": .double(Double($0) / 2), "str": .string("\($0)")] },
            table: [
                ("i64 BETWEEN {2, 3}", [2, 3]), ("i64 BETWEEN {3, 2}", []), ("i64 BETWEEN {2, 2}", [2]),
                ("NOT i64 BETWEEN {2, 3}", [1, 4]), ("i64 BETWEEN {1.5, 3.5}", [2, 3]), ("2 BETWEEN {i64, 3}", [1, 2]),
                ("dbl BETWEEN {1, 1.5}", [2, 3]), (#"str BETWEEN {"2", "30"}"#, [2, 3]),
                ("dbl BETWEEN {i64 / 2, i64}", [1, 2, 3, 4]), ("i64 BETWEEN {dbl + 1.5, 9}", [3, 4]),
            ]),
        onRows(
            "strings.folding",
            behavior: "[c] folds case and [d] folds diacritics on both sides, by the rules of Unicode.",
            rows: [
                "Straße", "STRASSE", "strasse", "İ", "I", "i", "ı", "é", "e\u{301}", "É", "e", "ſ", "S", "ﬁ", "FI", "Σ",
                "σ", "ς", "Å", "\u{212B}", "a\u{30A}", "ñandú", "NANDU", "ё", "Е", "ẞ", "ss",
            ].map { ["str": .string($0)] },
            table: [
                (#"str ==[c] "STRASSE""#, [1, 2, 3]), (#"str ==[cd] "straße""#, [1, 2, 3]),
                (#"str ==[d] "STRASSE""#, [2]),
                (#"str ==[c] "i""#, [5, 6]), (#"str ==[cd] "i""#, [4, 5, 6]), (#"str ==[d] "I""#, [4, 5]),
                (#"str ==[c] "İ""#, [4]), (#"str ==[cd] "ı""#, [7]), (#"str ==[c] "É""#, [8, 10]),
                (#"str ==[d] "é""#, [8, 9, 11]), (#"str ==[cd] "é""#, [8, 9, 10, 11]), (#"str == "é""#, [8]),
                (#"str ==[c] "s""#, [12, 13]), (#"str ==[c] "fi""#, [14, 15]), (#"str ==[c] "ς""#, [16, 17, 18]),
                (#"str ==[cd] "A""#, [19, 20, 21]), (#"str ==[c] "å""#, [19, 20]), (#"str ==[cd] "ÑANDÚ""#, [22, 23]),
                (#"str ==[cd] "е""#, [24, 25]), (#"str ==[c] "SS""#, [26, 27]), (#"str CONTAINS[c] "ASS""#, [1, 2, 3]),
                (#"str CONTAINS[cd] "ndu""#, [22, 23]), (#"str BEGINSWITH[c] "STRAS""#, [1, 2, 3]),
                (#"str ENDSWITH[c] "SSE""#, [1, 2, 3]), (#"str LIKE[c] "stra?se""#, [1, 2, 3]),
                (#"str IN[c] {"ß", "Fi"}"#, [14, 15, 26, 27]), (#""x" IN[c] {"X"} AND str == "ı""#, [7]),
                (#"str !=[cd] "e" AND str CONTAINS "e""#, [1, 3]), (#"str BETWEEN[c] {"ST", "SU"}"#, [1, 2, 3]),
                (#"canonical(str) == "nandu""#, [22, 23]), (#"uppercase(str) == "STRASSE""#, [1, 2, 3]),
                (#"str ==[n] "é""#, [8]),
            ]),
        onRows(
            "strings.code-points",
            behavior: "Text compares by code point, without normalization or locale, and does not end at U+0000.",
            rows: [
                "", "a", "a\u{0}", "a\u{0}b", "ab", "é", "e\u{301}", "z", "Z", "\u{FFFF}", "\u{10000}", "👍🏽", "👍",
                "\u{202E}abc", "abc",
            ].map { ["str": .string($0)] },
            table: [
                (#"str == "a""#, [2]), (#"str BEGINSWITH "a""#, [2, 3, 4, 5, 15]), (#"str ENDSWITH "b""#, [4, 5]),
                (#"str CONTAINS "\u0000""#, [3, 4]), (#"str > "a" AND str < "ab""#, [3, 4]),
                (#"str CONTAINS "e""#, [7]),
                (#"str == "e\u0301""#, [7]), (#"str < "a""#, [1, 9]), (#"str > "\uFFFF""#, [11, 12, 13]),
                (#"str CONTAINS "👍""#, [12, 13]), (#"length(str) == 1"#, [2, 6, 8, 9, 10, 11, 13]),
                (#"length(str) == 2"#, [3, 5, 7, 12]), (#"str LIKE "?""#, [2, 6, 8, 9, 10, 11, 13]),
                (#"str LIKE "??""#, [3, 5, 7, 12]), (#"str CONTAINS "abc""#, [14, 15]), (#""ab" IN str"#, [5, 14, 15]),
                (#"str IN "xabx""#, [1, 2, 5]), (#"str IN "a\u0000b""#, [1, 2, 3, 4]),
            ]
        ) { snapshot, entity in
            try expectEqual(
                try snapshot.keys(FetchRequest(entity, sortedBy: [.init("str")])),
                [1, 9, 2, 3, 4, 5, 15, 7, 8, 6, 14, 10, 11, 13, 12], "the order by code point")
        },
        onRows(
            "strings.like",
            behavior:
                "LIKE matches the whole text: * matches any run, ? one code point, and \\ makes the next character literal.",
            rows: ["", "a", "ab", "aab", "a*b", "a?b", "a\\b", "%", "_", "a%b", "\n", "a\nb", "aXbXc", "\\"].map {
                ["str": .string($0)]
            },
            table: [
                (#"str LIKE """#, [1]), (#"str LIKE "*""#, Array(1...14)),
                (#"str LIKE "a*b""#, [3, 4, 5, 6, 7, 10, 12]),
                (#"str LIKE "a?b""#, [4, 5, 6, 7, 10, 12]), (#"str LIKE "a\\*b""#, [5]), (#"str LIKE "a\\?b""#, [6]),
                (#"str LIKE "a\\\\b""#, [7]), (#"str LIKE "%""#, [8]), (#"str LIKE "_""#, [9]),
                (#"str LIKE "a%b""#, [10]),
                (#"str LIKE "?""#, [2, 8, 9, 11, 14]), (#"str LIKE "\\""#, [14]), (#"str LIKE "*X*X*""#, [13]),
                (#"str LIKE "a*X*b*""#, [13]), (#"str LIKE "**""#, Array(1...14)), (#"str LIKE[c] "AXB*""#, [13]),
                (#"str LIKE "\\a""#, [2]), (#"str LIKE "b*""#, []), (#"str LIKE "*b""#, [3, 4, 5, 6, 7, 10, 12]),
            ]),
        onRows(
            "strings.matches", behavior: "MATCHES compares the whole text with a regular expression.",
            rows: ["", "a", "ab", "abc", "AB", "a\nb", "ab\n", "röb", "rob"].map { ["str": .string($0)] },
            table: [
                (#"str MATCHES "a""#, [2]), (#"str MATCHES "a.*""#, [2, 3, 4]), (#"str MATCHES ".b""#, [3]),
                (#"str MATCHES "a|ab""#, [2, 3]), (#"str MATCHES[c] "ab""#, [3, 5]),
                (#"str MATCHES "(?s).*b""#, [3, 6, 8, 9]), (#"str MATCHES "ab\\s""#, [7]),
                (#"str MATCHES[d] "rob""#, [8, 9]),
                (#"str MATCHES[cd] "RÖB""#, [8, 9]), (#"str MATCHES "[a-c]{2,3}""#, [3, 4]),
                (#"str MATCHES "^a$""#, [2]),
            ]),
        onRows(
            "strings.localized",
            behavior:
                "[l] uses the localized standard order: digits compare as numbers, and case and diacritics decide last.",
            rows: ["file2", "file10", "File10", "file010", "é1", "e2", "E1", "e1", "z", "Ä", "a"].map {
                ["str": .string($0)]
            },
            table: [
                (#"str <[l] "file10""#, [1, 3, 4, 5, 6, 7, 8, 10, 11]), (#"str >=[l] "file10""#, [2, 9]),
                (#"str <[l] "e2""#, [5, 7, 8, 10, 11]), (#"str BETWEEN[l] {"file2", "file9"}"#, [1]),
                (#"str ==[l] "e1""#, [8]), (#"str !=[l] "e1" AND str <[l] "b""#, [10, 11]),
                (#"str BEGINSWITH[l] "File""#, [3]),
            ]
        ) { snapshot, entity in
            try expectEqual(
                try snapshot.keys(FetchRequest(entity, sortedBy: [.init("str", options: .localized)])),
                [11, 10, 7, 8, 5, 6, 1, 4, 3, 2, 9], "the localized standard order")
            try expectEqual(
                try snapshot.keys(
                    FetchRequest(
                        entity,
                        sortedBy: [.init("str", ascending: false, options: [.caseInsensitive, .diacriticInsensitive])])),
                [9, 1, 2, 3, 4, 6, 5, 7, 8, 10, 11], "the folded order, falling; ties by key")
        },
        onRows(
            "numbers",
            behavior:
                "Numbers of different types compare exactly by value. Booleans compare as 0 and 1, and NaN does not equal any value.",
            rows: [
                ["i64": 9_007_199_254_740_993, "dbl": 9_007_199_254_740_992, "dec": .decimal(1), "flag": true],
                ["i64": 1, "dbl": 1, "dec": decimal("1.5"), "flag": false],
                ["i64": 0, "dbl": .double(-0.0), "dec": decimal("0.1"), "flag": true],
                ["i64": .int(.max), "dbl": .double(0x1p63), "dec": decimal("9223372036854775807")],
                ["i64": 5, "dbl": .double(.nan), "dec": decimal("NaN"), "flag": true],
            ],
            table: [
                ("i64 == dbl", [2, 3]), ("i64 > dbl", [1]), ("i64 < dbl", [4]), ("i64 == 9007199254740992", []),
                ("i64 == 9007199254740993.0", [1]), ("dbl == 9007199254740993", []), ("dbl == 0", [3]),
                ("dbl >= 0", [1, 2, 3, 4]),
                ("dbl == dbl", [1, 2, 3, 4]), ("dbl != dbl", [5]), ("dec == i64", [4]), ("dec == 1.5", [2]),
                ("dec == 0.1", [3]), ("dec != dec", [5]), ("dec < 1", [3]), ("flag == 1", [1, 3, 5]),
                ("flag == TRUE", [1, 3, 5]),
                ("flag == i64", []), ("flag < 1", [2]), ("flag + 1 == 2", [1, 3, 5]), ("i64 IN {1.0, 5}", [2, 5]),
                ("dbl IN {1, 0}", [2, 3]), ("NOT dbl >= 0", [5]),
            ]),
        onRows(
            "arithmetic",
            behavior:
                "Integer arithmetic is exact, division does not truncate, and an expression without a result is null.",
            rows: [
                ["i64": 7, "i32": 2, "dbl": 0.5, "dec": .decimal(2)],
                ["i64": .int(.max), "i32": -3, "dbl": .double(.infinity), "dec": .decimal(0)],
                ["i64": -7, "i32": 0, "dbl": -1.5, "dec": .decimal(-1)], ["i32": 1],
            ],
            table: [
                ("i64 / i32 == 3.5", [1]), ("7 / 2 == 3.5", [1, 2, 3, 4]), ("i64 + i32 == 9", [1]),
                ("i64 - i32 == 5", [1]),
                ("i64 * i32 == 14", [1]), ("i64 + 1 > i64", [1, 2, 3]), ("i64 + 1 == 9223372036854775808", [2]),
                ("i64 * 2 == 18446744073709551614", [2]), ("i64 / 0 == nil", [4]), ("i64 / 0 > 1e308", [1, 2]),
                ("i64 / 0 < 0", [3]), ("dec / 0 == nil", [1, 2, 3, 4]), ("modulus:by:(i64, 2) == 1", [1, 2]),
                ("modulus:by:(i64, 2) == -1", [3]), ("modulus:by:(i64, 0) == nil", [1, 2, 3, 4]),
                ("i32 ** 3 == -27", [2]),
                ("2 ** i32 == 4", [1]), ("2 ** -1 == 0.5", [1, 2, 3, 4]), ("abs(i64) == 7", [1, 3]),
                ("-i32 == 3", [2]), ("floor(dbl) == -2", [3]), ("ceiling(dbl) == -1", [3]), ("trunc(dbl) == -1", [3]),
                ("sqrt(i32 + 7) == 3", [1]), ("dec + 1 == 3", [1]), ("dec * 0.5 == 1", [1]),
                ("i64 + nil == nil", [1, 2, 3, 4]),
                // Results that are too small or too large for decimals are floating-point numbers.
                (#"CAST("1e-100", "NSDecimalNumber") * CAST("1e-100", "NSDecimalNumber") * dec > 0"#, [1]),
                (#"CAST("1e100", "NSDecimalNumber") * CAST("1e100", "NSDecimalNumber") * dec < 0"#, [3]),
                // 38 digits, rounded half away from zero.
                (
                    #"CAST("2", "NSDecimalNumber") / 3 == CAST("0.66666666666666666666666666666666666667", "NSDecimalNumber")"#,
                    [1, 2, 3, 4]
                ),
                (
                    #"CAST("1e40", "NSDecimalNumber") + 12345 == CAST("10000000000000000000000000000000000012e3", "NSDecimalNumber")"#,
                    [1, 2, 3, 4]
                ),
                ("bitwiseAnd:with:(i64, 3) == 3", [1, 2]), ("leftshift:by:(i32, 2) == 8", [1]),
                ("onesComplement(i32) == 2", [2]),
                ("i64 - 2 - 3 == 2", [1]), ("2 + 3 * i32 == 8", [1]), ("(2 + 3) * i32 == 10", [1]),
                ("2 * i32 ** 2 == 8", [1]),
                ("noindex(i64) == 7", [1]), ("TERNARY(i32 > 0, 1, 2) == 1", [1, 4]),
                ("average({i64, i32}) == 4.5", [1]),
                ("sum({i64, i32}) == 9", [1]), ("max({i64, i32, nil}) == 7", [1]), ("min({i64, i32}) == 0", []),
                ("count({i64, i32}) == 2", [1, 2, 3, 4]), ("median({i64, i32, 3}) == 3", [1, 2]),
                ("mode({i32, 1, 2}) == 2", [1]),
                ("stddev({1, 3}) == i32 - 1", [1]), ("log(100) == i32", [1]), ("ln(1) == i32", [3]),
                ("exp(0) == i32", [4]),
            ]),
        onRows(
            "dates",
            behavior: "Seconds can be added to and subtracted from dates. The difference of two dates is in seconds.",
            rows: [0, 86400, -1].map { ["day": .date(Date(timeIntervalSinceReferenceDate: $0)), "dbl": 60] } + [
                ["dbl": 60]
            ],
            table: [
                (#"day == CAST("2001-01-01", "NSDate")"#, [1]), (#"day - CAST(0, "NSDate") == 86400"#, [2]),
                (#"day + dbl == CAST(60, "NSDate")"#, [1]), (#"day - 86400 == CAST(0, "NSDate")"#, [2]),
                ("day < now()", [1, 2, 3]),
                ("now() == now()", [1, 2, 3, 4]), ("day + dbl == nil", [4]),
                (#"CAST(day, "NSString") BEGINSWITH "2001-01-02""#, [2]),
            ]),
        onRows(
            "casts", behavior: "CAST converts values at run time. A value that does not fit becomes null.",
            rows: [
                ["str": "12"], ["str": "1.5"], ["str": "x"], ["str": ""], [:], ["i64": 12],
                ["ident": .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))],
            ],
            table: [
                (#"CAST(str, "NSNumber") == 12"#, [1]), (#"CAST(str, "NSNumber") == 1.5"#, [2]),
                (#"CAST(str, "NSNumber") == nil"#, [3, 4, 5, 6, 7]), (#"CAST(i64, "NSString") == "12""#, [6]),
                (#"CAST(ident, "NSString") == "00000000-0000-0000-0000-000000000001""#, [7]),
                (#"CAST(str, "NSDecimalNumber") > 1"#, [1, 2]),
            ]),
        ConformanceCheck(
            "queries.random", "Random requests give the same answer as a plain evaluation, with and without indexes."
        ) { bench in
            do {
                _ = try QueryCampaign.run(on: [bench.fixture], seed: 20_260_601, caseCount: 200, casesPerWorld: 100)
            } catch let failure as QueryFailure {
                throw Mismatch(expected: "the plain answer", actual: "\(failure)")
            }
        },
    ]

    private static func decimal(_ text: String) -> Value {
        .decimal(DecimalNumber(utf8: text.utf8)?.decimal ?? .nan)
    }

    /// Creates a check that predicates match the expected objects of `Everything` and `Indexed`.
    ///
    /// The objects have the keys 1, 2, 3 and so on.
    private static func onRows(
        _ name: String, behavior: String, rows: [[String: Value]], table: [(String, [Int64])],
        also: @escaping @Sendable (any StoreSnapshot, EntityName) throws -> Void = { _, _ in }
    ) -> ConformanceCheck {
        ConformanceCheck("queries.\(name)", behavior) { bench in
            let store = try bench.create()
            let entities: [EntityName] = ["Everything", "Indexed"]
            try store.change { changes in
                for entity in entities {
                    for (index, row) in rows.enumerated() {
                        try changes.insert(ObjectID(entity, key: Int64(index + 1)), values: row)
                    }
                }
            }
            try store.view { snapshot in
                for entity in entities {
                    for (text, keys) in table { try expectKeys(text, keys: keys, entity: entity, snapshot: snapshot) }
                    try also(snapshot, entity)
                }
            }
        }
    }

    /// Fails unless a predicate matches exactly these objects, its negation matches the others, and
    /// the count agrees.
    static func expectKeys(
        _ text: String, keys: [Int64], entity: EntityName, snapshot: any StoreSnapshot
    ) throws {
        let predicate = try FetchRequest.Predicate(text, for: entity, model: snapshot.model)
        try expectKeys(predicate, keys: keys, entity: entity, snapshot: snapshot, named: text)
    }

    static func expectKeys(
        _ predicate: FetchRequest.Predicate, keys: [Int64], entity: EntityName, snapshot: any StoreSnapshot,
        named text: String
    ) throws {
        let request = FetchRequest(entity, where: predicate)
        try expectEqual(try snapshot.keys(request), keys, "\(entity) where \(text)")
        try expectEqual(try snapshot.count(request), keys.count, "the count of \(entity) where \(text)")
        let all = try snapshot.keys(FetchRequest(entity))
        try expectEqual(
            try snapshot.keys(FetchRequest(entity, where: .not(predicate))), all.filter { !keys.contains($0) },
            "\(entity) where NOT (\(text))")
    }

    /// Fails unless fetches and counts refuse a predicate with this code.
    static func expectRefused(
        _ text: String, code: StoreError.Code, entity: EntityName, snapshot: any StoreSnapshot
    ) throws {
        try expectError(code, in: "\(entity) where \(text)") {
            let predicate = try FetchRequest.Predicate(format: text)
            _ = try snapshot.keys(FetchRequest(entity, where: predicate))
        }
        try expectError(code, in: "the count of \(entity) where \(text)") {
            let predicate = try FetchRequest.Predicate(format: text)
            _ = try snapshot.count(FetchRequest(entity, where: predicate))
        }
    }
}
