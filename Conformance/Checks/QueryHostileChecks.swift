internal import Foundation
internal import RoostCore
internal import RoostQuery

extension ConformanceCheck {
    /// Requests that are invalid, too large or hostile.
    static let hostileQueries: [ConformanceCheck] = [
        onOneRow(
            "refused",
            behavior:
                "Meaningless requests fail with `invalidRequest` or `unknownProperty` before the first record, even if no object would be compared."
        ) { snapshot in
            let table: [(String, StoreError.Code)] = [
                ("nothing == 1", .unknownProperty), ("parent.nothing == 1", .unknownProperty),
                ("ANY friends.nothing == 1", .unknownProperty), (#"name == 1"#, .invalidRequest),
                ("name CONTAINS 1", .invalidRequest), ("parent < parent", .invalidRequest),
                (#"parent == "x""#, .invalidRequest), (#"friends.name == "a""#, .invalidRequest),
                (#"friends == parent"#, .invalidRequest), ("name BETWEEN {1, 2}", .invalidRequest),
                (#"name BETWEEN {"a"}"#, .invalidRequest), (#"name IN {"a", 1}"#, .invalidRequest),
                ("sqrt(name) == 1", .invalidRequest), ("length(parent) == 1", .invalidRequest),
                ("friends.@sum.name == 1", .invalidRequest), ("friends.@nothing.name == 1", .invalidRequest),
                ("$x.name == \"a\"", .invalidRequest), ("name == $x", .invalidRequest),
                (#"FUNCTION(name, "noSuchFunction") == 1"#, .invalidRequest), (#"name MATCHES "[a""#, .invalidRequest),
                ("SUBQUERY(friends, $f, $f.nothing == 1).@count > 0", .unknownProperty),
                ("TERNARY(TRUEPREDICATE, 1, \"a\") == 1", .invalidRequest), ("name.x == 1", .invalidRequest),
            ]
            for (text, code) in table {
                for text in [text, "FALSEPREDICATE AND \(text)", "NOT (TRUEPREDICATE OR \(text))"] {
                    try expectRefused(text, code: code, entity: "Node", snapshot: snapshot)
                }
            }
            // Meaningless expression trees, which no parser has checked.
            typealias E = FetchRequest.Expression
            let (one, name): (E, E) = (.constant(1), .keyPath(["name"]))
            let trees: [FetchRequest.Comparison] = [
                .init(left: name, operator: .equal, right: one),
                .init(left: .function(.squareRoot, []), operator: .equal, right: one),
                .init(left: .function(.squareRoot, [one, one]), operator: .equal, right: one),
                .init(left: .function(.add, [one]), operator: .equal, right: one),
                .init(left: .function(.length, [one]), operator: .equal, right: one),
                .init(left: name, operator: .between, right: one), .init(left: one, operator: .isIn, right: one),
                .init(left: .keyPath(["friends", "name"]), operator: .less, right: name),
                .init(left: .variable("x"), operator: .equal, right: one),
                .init(left: .element(of: .keyPath(["friends"]), .first), operator: .equal, right: .keyPath(["parent"])),
                .init(left: .element(of: name, .first), operator: .equal, right: name),
                .init(left: .registered("noSuchFunction", [one]), operator: .equal, right: one),
                .init(left: .subquery(name, variable: "x", .constant(true)), operator: .isIn, right: name),
            ]
            for tree in trees {
                try expectError(.invalidRequest, in: "\(tree)") {
                    _ = try snapshot.keys(FetchRequest("Node", where: .comparison(tree)))
                }
            }
        },
        onOneRow("nesting", behavior: "Predicates of any kind nest 90 levels deep. 300 levels are refused.") {
            snapshot in
            typealias P = FetchRequest.Predicate
            func nested(_ depth: Int, _ wrap: (P) -> P) -> P {
                (1..<depth).reduce(.equal("name", to: "a")) { inner, _ in wrap(inner) }
            }
            let wraps: [(P) -> P] = [
                { .not(.not($0)) }, { .and([$0, .constant(true)]) }, { .or([.constant(false), $0]) },
            ]
            for wrap in wraps {
                try expectEqual(
                    try snapshot.keys(FetchRequest("Node", where: nested(90, wrap))), [1], "nested 90 levels")
                try expectError(.invalidRequest, in: "nested 300 levels") {
                    _ = try snapshot.keys(FetchRequest("Node", where: nested(300, wrap)))
                }
            }
            let sum = (0..<300).reduce(FetchRequest.Expression.constant(1)) { inner, _ in
                .function(.add, [inner, .constant(1)])
            }
            try expectError(.invalidRequest, in: "300 additions inside each other") {
                _ = try snapshot.keys(
                    FetchRequest("Node", where: .comparison(.init(left: sum, operator: .equal, right: sum))))
            }
            for bracket in ["(", "NOT ", "{", "-", "abs("] {
                try expectError(.invalidRequest, in: "5000 times \(bracket)") {
                    _ = try P(String(repeating: bracket, count: 5000) + "1", for: "Node", model: snapshot.model)
                }
            }
            let subquery = (0..<20).reduce(FetchRequest.Expression.keyPath(["friends"])) { inner, number in
                .subquery(
                    .keyPath(["friends"]), variable: "v\(number)",
                    .comparison(.init(left: .path(of: inner, ["@count"]), operator: .greater, right: .constant(0))))
            }
            try expectError(.limitExceeded, in: "SUBQUERY inside SUBQUERY, 20 times") {
                _ = try snapshot.keys(
                    FetchRequest(
                        "Node",
                        where: .comparison(
                            .init(left: .path(of: subquery, ["@count"]), operator: .greater, right: .constant(0)))))
            }
        },
        onOneRow("long-lists", behavior: "Lists of up to 100 000 values are searched. Longer lists are refused.") {
            snapshot in
            func list(_ count: Int64, _ make: (Int64) -> Value) -> FetchRequest.Expression {
                .aggregate((0..<count).map { .constant(make($0)) })
            }
            let table: [(FetchRequest.Expression, FetchRequest.Expression, [Int64])] = [
                (.keyPath(["i64"]), list(10_000) { .int($0 - 5000) }, [1, 2]),
                (.keyPath(["i64"]), list(10_000) { .int($0 + 500) }, []),
                (.keyPath(["i64"]), list(10_000) { .double(Double($0) / 2) }, [1, 2]),
                (.keyPath(["str"]), list(10_000) { .string($0 == 9_999 ? "'" : "'\($0)") }, [1]),
                (.keyPath(["str"]), list(10_000) { $0 == 7 ? .null : .string("\($0)") }, [3]),
                (.evaluatedObject, list(10_000) { .objectID(ObjectID("Indexed", key: $0 + 2)) }, [2, 3]),
                (.function(.add, [.keyPath(["i64"]), .constant(1)]), list(100_000) { .int($0 + 2) }, [1, 2]),
            ]
            for (left, list, keys) in table {
                let request = FetchRequest(
                    "Indexed", where: .comparison(.init(left: left, operator: .isIn, right: list)))
                try expectEqual(try snapshot.keys(request), keys, "\(left) IN a long list")
            }
            try expectError(.limitExceeded, in: "a list of 100 001 values") {
                let list = list(100_001) { .int($0) }
                _ = try snapshot.keys(
                    FetchRequest(
                        "Indexed", where: .comparison(.init(left: .keyPath(["i64"]), operator: .isIn, right: list))))
            }
        },
        onOneRow(
            "patterns",
            behavior: "Patterns have at most 4096 bytes. A match that would take too long fails with `timedOut`."
        ) {
            snapshot in
            func request(_ comparison: FetchRequest.Comparison.Operator, pattern: String) -> FetchRequest {
                FetchRequest("Indexed", where: .compare("str", using: comparison, with: .string(pattern)))
            }
            let long = String(repeating: "a", count: 4096)
            for comparison in [FetchRequest.Comparison.Operator.like, .matches] {
                try expectEqual(try snapshot.keys(request(comparison, pattern: long)), [], "a pattern of 4096 bytes")
                try expectError(.limitExceeded, in: "a pattern of 4097 bytes") {
                    _ = try snapshot.keys(request(comparison, pattern: long + "a"))
                }
            }
            // With backtracking, matching 1001 asterisks would never end.
            let stars = String(repeating: "*a", count: 1000) + "*b"
            try expectEqual(try snapshot.keys(request(.like, pattern: stars)), [], "many stars")
            try expectError(.timedOut, in: "a regular expression that backtracks for ever") {
                _ = try snapshot.keys(request(.matches, pattern: "(a+)+$"))
            }
            try expectError(.limitExceeded, in: "a predicate of more than a mebibyte of text") {
                let text = #"str == "\#(String(repeating: "x", count: 1 << 20))""#
                _ = try FetchRequest.Predicate(text, for: "Indexed", model: snapshot.model)
            }
        },
        ConformanceCheck(
            "queries.hostile.injection",
            "Every operator treats 300 texts that contain database syntax as plain text."
        ) {
            bench in
            let texts = injections
            try expect(texts.count >= 300, "300 texts", otherwise: "\(texts.count)")
            let store = try bench.create()
            var objects: [(id: ObjectID, values: [String: Value])] = []
            try store.change { changes in
                for (index, text) in texts.enumerated() where index % 12 == 0 {
                    let values: [String: Value] = ["str": .string(text), "link": .uri(text)]
                    objects.append((ObjectID("Indexed", key: Int64(objects.count + 1)), values))
                    try changes.insert(ObjectID("Indexed", key: Int64(objects.count)), values: values)
                }
            }
            let graph = PlainFetch(try PlainGraph(model: store.model, list: objects))
            try store.view { snapshot in
                for (index, text) in texts.enumerated() {
                    for comparison in FetchRequest.Comparison.Operator.allCases {
                        let right: FetchRequest.Expression =
                            switch comparison {
                            case .isIn: .aggregate([.constant(.string(text)), .constant(.string("x" + text))])
                            case .between: .aggregate([.constant(.string(text)), .constant(.string(text + "z"))])
                            case .matches: .constant(.string(NSRegularExpression.escapedPattern(for: text)))
                            default: .constant(.string(text))
                            }
                        let options: FetchRequest.Comparison.Options =
                            index % 3 == 0 ? [.caseInsensitive, .diacriticInsensitive] : []
                        let request = FetchRequest(
                            "Indexed",
                            where: .comparison(
                                .init(left: .keyPath(["str"]), operator: comparison, right: right, options: options))
                        )
                        try expectEqual(
                            try snapshot.keys(request), try graph.keys(request),
                            "\(comparison) with \(text.debugDescription)")
                    }
                    // None of the texts is a known name.
                    for name in [[text], ["owner", text], ["place", text]] {
                        try expectError(.unknownProperty, .invalidRequest, in: "the property \(name)") {
                            _ = try snapshot.keys(
                                FetchRequest(
                                    "Indexed",
                                    where: .comparison(
                                        .init(left: .keyPath(name), operator: .equal, right: .constant(.null)))))
                        }
                    }
                    try expectError(.unknownProperty, .invalidRequest, in: "an order by \(text.debugDescription)") {
                        _ = try snapshot.keys(FetchRequest("Indexed", sortedBy: [.init(text)]))
                    }
                }
                try expectEqual(
                    try snapshot.keys(FetchRequest("Indexed")), objects.map(\.id.key), "the objects afterwards")
            }
        },
    ]

    /// Texts that try to break out of strings: fragments, alone and combined.
    static let injections: [String] = {
        let pieces = [
            "'", "\"", "`", "\\", ";", "--", "/*", "*/", "%", "_", "?", "?1", ":a", "@a", "$a", "' OR '1'='1",
            "\" OR \"1\"=\"1",
            "'; DROP TABLE Indexed; --", "') OR 1=1 --", "' UNION SELECT * FROM sqlite_master --", "\u{0}",
            "a\u{0}' OR 1=1", "\u{2019}",
            "\u{FF07}", "\u{2BC}", "\n", "\r\n", "\u{1B}[31m", "\u{202E}", "[a-z]*", "GLOB *", "LIKE '%'", "NULL",
            "nil", "TRUEPREDICATE",
            "%@", "%K", "$x", "SELF", "ANY x", "{1, 2}", "#in", "CAST(1, \"NSDate\")", "FUNCTION(1, \"x\")", "%00",
            "%27", "&#39;", "0x27",
            "char(39)", "||", "' || 'x", "ZTABLE.*", "abs(1)", "😈'", "e\u{301}'", "ß\"", "\u{FFFF}", "\u{10FFFF}'",
        ]
        return pieces + pieces.map { $0 + "x" } + pieces.map { "x" + $0 } + pieces.map { $0 + $0 }
            + pieces.map { "a'\($0)'b" }
            + zip(pieces, pieces.reversed()).map { $0 + " " + $1 }
    }()

    /// Creates a check on a node, and on three objects of `Indexed`, two of them with text.
    private static func onOneRow(
        _ name: String, behavior: String, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("queries.hostile.\(name)", behavior) { bench in
            let store = try bench.create()
            try store.change { changes in
                try changes.insert(ObjectID("Node", key: 1), values: ["name": "a"])
                try changes.insert(ObjectID("Indexed", key: 1), values: ["i64": 1, "str": "'"])
                try changes.insert(
                    ObjectID("Indexed", key: 2),
                    values: ["i64": 2, "str": .string(String(repeating: "a", count: 4000) + "!")])
                try changes.insert(ObjectID("Indexed", key: 3), values: [:])
            }
            try store.view { try body($0) }
        }
    }
}
