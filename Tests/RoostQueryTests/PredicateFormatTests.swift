import Foundation
import RoostCore
import RoostPredicates
import RoostQuery
import TestSamples
import Testing

@Suite("The text of predicates without a model")
struct PredicateFormatTests {
    typealias P = FetchRequest.Predicate
    typealias E = FetchRequest.Expression

    func failure(_ text: String, _ arguments: any PredicateArgument...) -> StoreError? {
        do throws(StoreError) {
            _ = try P(format: text, arguments: arguments)
            return nil
        } catch {
            return error
        }
    }

    static func comparison(
        _ left: E, by comparison: FetchRequest.Comparison.Operator, to right: E,
        modifier: FetchRequest.Comparison.Modifier = .direct, options: FetchRequest.Comparison.Options = []
    ) -> P { .comparison(.init(left: left, operator: comparison, right: right, modifier: modifier, options: options)) }

    static let a = E.keyPath(["a"])
    static let one = E.constant(1)
    static let two = E.constant(2)
    static let text = E.constant("x")

    static let trees: [(String, P)] = [
        (
            "a CONTAINS[cd] 'x'",
            comparison(
                a, by: .contains, to: text, modifier: .direct, options: [.caseInsensitive, .diacriticInsensitive])
        ),
        ("a endswith[ C ] 'x'", comparison(a, by: .endsWith, to: text, modifier: .direct, options: [.caseInsensitive])),
        ("a ==[cdnl] 'x'", comparison(a, by: .equal, to: text, modifier: .direct, options: .init(rawValue: 15))),
        ("a LIKE 'x'", comparison(a, by: .like, to: text)), ("a MATCHES 'x'", comparison(a, by: .matches, to: text)),
        ("a BETWEEN {1, 2}", comparison(a, by: .between, to: .aggregate([one, two]))),
        ("ANY a.b > 1", comparison(.keyPath(["a", "b"]), by: .greater, to: one, modifier: .any)),
        ("some a > 1", comparison(a, by: .greater, to: one, modifier: .any)),
        ("ALL a > 1", comparison(a, by: .greater, to: one, modifier: .all)),
        ("NONE a > 1", .not(comparison(a, by: .greater, to: one, modifier: .any))),
        (
            "NOT ANY a > 1 AND ALL a < 2",
            .and([
                .not(comparison(a, by: .greater, to: one, modifier: .any)),
                comparison(a, by: .less, to: two, modifier: .all),
            ])
        ),
        ("a IN b.c", comparison(a, by: .isIn, to: .keyPath(["b", "c"]))),
        (
            "a + 1 * 2 ** 2 - 1 = 2",
            comparison(
                .function(
                    .subtract,
                    [.function(.add, [a, .function(.multiply, [one, .function(.power, [two, two])])]), one]),
                by: .equal, to: two)
        ),
        (
            "(a + 1) / 2 = -1",
            comparison(.function(.divide, [.function(.add, [a, one]), two]), by: .equal, to: .constant(-1))
        ),
        ("-a = -(1)", comparison(.function(.negate, [a]), by: .equal, to: .function(.negate, [one]))),
        ("- 1 = --1", comparison(.constant(-1), by: .equal, to: .function(.negate, [.constant(-1)]))),
        (
            "uppercase(a) = LOWERCASE:(a)",
            comparison(.function(.uppercase, [a]), by: .equal, to: .function(.lowercase, [a]))
        ),
        ("add:to:(a, 1) = 2", comparison(.function(.add, [a, one]), by: .equal, to: two)),
        ("modulus:by:(a, 2) = 1", comparison(.function(.modulus, [a, two]), by: .equal, to: one)),
        (
            "length(a) > 1 AND now() > a",
            .and([
                comparison(.function(.length, [a]), by: .greater, to: one),
                comparison(.function(.now, []), by: .greater, to: a),
            ])
        ),
        (
            "sum({1, 2}) = max(1, a)",
            comparison(.function(.sum, [.aggregate([one, two])]), by: .equal, to: .function(.maximum, [one, a]))
        ),
        ("noindex:(a) = 1", comparison(.function(.noIndex, [a]), by: .equal, to: one)),
        ("CAST(a, 'NSString') = 'x'", comparison(.cast(a, .string), by: .equal, to: text)),
        ("CAST((1), 'NSString') = CAST(1, 'NSNumber')", comparison(.cast(one, .string), by: .equal, to: one)),
        (
            "TERNARY(a = 1, 1, 2) = 2",
            comparison(.conditional(comparison(a, by: .equal, to: one), one, two), by: .equal, to: two)
        ),
        (
            "FUNCTION(a, 'name', 1, 2) = 2", comparison(.registered("name", [a, one, two]), by: .equal, to: two)
        ),
        (
            "SUBQUERY(a, $x, $x.b = 1 AND SELF = $x).@count > 1",
            comparison(
                .path(
                    of: .subquery(
                        a, variable: "x",
                        .and([
                            comparison(.path(of: .variable("x"), ["b"]), by: .equal, to: one),
                            comparison(.evaluatedObject, by: .equal, to: .variable("x")),
                        ])), ["@count"]), by: .greater, to: one)
        ),
        ("a.@count = a.@sum.b", comparison(.keyPath(["a", "@count"]), by: .equal, to: .keyPath(["a", "@sum", "b"]))),
        (
            "a[FIRST].b = a[last]",
            comparison(.path(of: .element(of: a, .first), ["b"]), by: .equal, to: .element(of: a, .last))
        ),
        (
            "a[size] = a[1 + 1]",
            comparison(.element(of: a, .size), by: .equal, to: .element(of: a, .position(.function(.add, [one, one]))))
        ),
        (
            "a UNION b MINUS (c INTERSECT d) CONTAINS 1",
            comparison(
                .setOperation(
                    .minus, .setOperation(.union, a, .keyPath(["b"])),
                    .setOperation(.intersect, .keyPath(["c"]), .keyPath(["d"]))), by: .contains, to: one)
        ),
        ("(a).b = (SELF).b", comparison(.path(of: a, ["b"]), by: .equal, to: .path(of: .evaluatedObject, ["b"]))),
        ("((a)) = ((1 + 1))", comparison(a, by: .equal, to: .function(.add, [one, one]))),
        ("((a = 1))", comparison(a, by: .equal, to: one)),
        ("$a = $b.c", comparison(.variable("a"), by: .equal, to: .path(of: .variable("b"), ["c"]))),
        (
            "a = 0b101 OR a = 0o17 OR a = 0xfF",
            .or([5, 15, 255].map { comparison(a, by: .equal, to: .constant(.int($0))) })
        ),
        ("sum = 1 AND length = 2", .and([.equal("sum", to: 1), .equal("length", to: 2)])),
        ("a = '%@ $x'", .equal("a", to: "%@ $x")),
    ]

    @Test("every form of the predicate language is read and printed", arguments: trees)
    func structure(text: String, expected: P) throws {
        let predicate = try P(format: text)
        #expect(predicate == expected)
        #expect(try P(format: predicate.format()) == expected)
    }

    @Test(
        "a number in a predicate is read as an integer, a double or a decimal",
        arguments: [
            ("1", .int(1)), ("-9223372036854775808", .int(.min)), ("1.0", .double(1)), ("1e3", .double(1000)),
            ("0.10", .double(0.1)), ("1E+2", .double(100)), ("-0.0", .double(-0.0)), ("1e300", .double(1e300)),
            (
                "9223372036854775808",
                DecimalNumber(utf8: "9223372036854775808".utf8).map { .decimal($0.decimal) } ?? .null
            ),
            (
                "12345678901234567.5",
                DecimalNumber(utf8: "12345678901234567.5".utf8).map { .decimal($0.decimal) } ?? .null
            ),
            ("3.14159265358979323846264338327950288419716939937510582097", .double(.pi)),
        ] as [(String, Value)])
    func numbers(text: String, value: Value) throws {
        #expect(try E(format: text) == .constant(value))
    }

    @Test(
        "arguments of a predicate's format replace its placeholders from left to right",
        arguments: [
            ("%K = %@", ["b.c", "%K"], "b.c == \"%K\""),
            ("a = %d AND b = %lld", [1, Int64.max], "a == 1 AND b == 9223372036854775807"),
            ("a IN %@", [[1, 2]], "a IN {1, 2}"), ("a BETWEEN %@", [[1.5, 2]], "a BETWEEN {1.5, 2.0}"),
            ("a = %f OR a = %g", [1.5, 2], "a == 1.5 OR a == 2"),
            ("a = %s AND b = %c", ["x", "y"], "a == \"x\" AND b == \"y\""),
            ("a = %@", [nil as String?], "a == NULL"), ("x.%K.y = %@", ["first", true], "x.#first.y == TRUE"),
            ("$x.%K = 1", ["b"], "$x.b == 1"), ("%K.@count = 1", ["b"], "b.@count == 1"),
            ("SELF IN %@", [[ObjectID("A", key: 1)]], "SELF IN {CAST(\"A/1\", \"NSManagedObjectID\")}"),
            ("a = %u", [UInt64.max], "a == 18446744073709551615"), ("a = %x", [16], "a == 16"),
            ("ANY %K LIKE[c] %@", ["b", "x*"], "ANY b LIKE[c] \"x*\""), ("a = '%@'", [], "a == \"%@\""),
        ] as [(String, [any PredicateArgument], String)])
    func arguments(text: String, arguments: [any PredicateArgument], expected: String) throws {
        #expect(try P(format: text, arguments: arguments).format() == expected)
    }

    @Test(
        "a predicate's format with too few, too many or unsuitable arguments is refused",
        arguments: [
            ("a = %@", [], "column 5: The argument for '%@' is missing"),
            ("a = 1", [1], "predicate has fewer placeholders (0) than there are arguments (1)"),
            ("a = %d", ["secret"], "column 5: Argument 1 does not fit '%d', which takes a whole number"),
            ("%K = 1", [5], "takes a key path as a string"), ("%K = 1", ["a..b"], "not a key path"),
            ("%K = 1", [""], "not a key path"),
            ("a = %f", ["secret"], "takes a number"), ("a = %s", [1], "takes a string"),
            ("a = %c", ["secret"], "one character"),
            ("a = %d", [1.5], "whole number"), ("a = %", [], "column 5: After '%'"), ("a = %y", [], "After '%'"),
            ("a = %%", [], "modulus:by:"), ("a %@ 1", ["="], "A comparison"), ("a = %ldx", [1], "After '%'"),
            ("%lK = 1", ["a"], "After '%'"), ("a = %hs", ["b"], "After '%'"),
            ("FUNCTION('a', '\u{0}unreadable', 'b') = 1", [], "The name of a function"),
        ] as [(String, [any PredicateArgument], String)])
    func wrongArguments(text: String, arguments: [any PredicateArgument], message: String) throws {
        let error = #expect(throws: StoreError.self) { try P(format: text, arguments: arguments) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("secret") == false)
    }

    @Test(
        "a syntax error in a predicate read without a model says what is expected",
        arguments: [
            ("a CONTANS 'x'", "Did you mean CONTAINS?"), ("a = 1 ADN b = 2", "Did you mean AND?"),
            ("a CONTAINS[x] 'x'", "column 12: One or more of the options"), ("a CONTAINS[c 'x'", "']'"),
            ("upercase(a) = 'x'", "column 1: The function 'upercase' is unknown; did you mean 'uppercase'?"),
            ("modulus:of:(a, 1) = 1", "did you mean 'modulus:by:'"), ("frobnicate(a) = 1", "FUNCTION(value"),
            ("uppercase(a, a) = 'x'", "'uppercase' takes 1 argument, not 2"),
            ("sum() = 1", "'sum' takes at least 1 argument, not 0"),
            ("modulus:by:(a) = 1", "'modulus:by:' takes 2 arguments, not 1"),
            ("a.@cuont > 1", "column 3: The collection operator '@cuont' is unknown. Did you mean @count?"),
            ("ANY a", "column 6: A comparison"), ("ANY (a = 1)", "not a condition"), ("a[FIRST = 1", "']'"),
            ("TERNARY(a, 1, 2) = 1", "A comparison"), ("SUBQUERY(a, x, a = 1)[SIZE] = 1", "A variable such as $x"),
            ("SUBQUERY(a, $x, 1)[SIZE] = 1", "A comparison"), ("CAST(a, 'Text') = 1", "NSString"),
            ("CAST('x', 'NSUUID') = a", "For a cast to NSUUID, a UUID as a string"), ("first = 1", "Write #first"),
            ("a = 1 = 2", "AND, OR or the end"), ("a = 1 + (b = 2)", "not a condition"),
            ("(a = 1) + 1 = 2", "not a condition"),
            ("NOT a", "A comparison"), ("$ = 1", "The name of a variable"), ("a.# = 1", "The name of a property"),
            ("add:to:a = 1", "The function 'add:to:a' is unknown"), ("add:to: = 1", "'(' after the name"),
            ("a BETWEEN 1 AND 2", "A comparison"), ("uppercase(a = 1) = 'x'", "A comma or ')'"),
            ("{1, 2", "A comma or '}'"),
            ("FUNCTION(a, b) = 1", "The name of a function as a string"), ("a..b = 1", "The name of a property"),
        ])
    func syntaxErrors(text: String, message: String) throws {
        let error = try #require(failure(text))
        #expect(error.code == .invalidRequest, "\(error)")
        #expect(error.message.contains(message), "\(error)")
    }

    @Test(
        "syntax of Core Data that Roost does not support is refused with a reason",
        arguments: [
            ("FETCH(a, b, YES) = 1", "cannot contain FETCH"), ("ANYKEY = 1", "name the properties"),
            ("a UTI-EQUALS 'x'", "file types"), ("a UTI-CONFORMS-TO 'x'", "file types"), ("$a := 1", "changes nothing"),
            ("random() = 1", "each call would return"), ("randomn:(5) = 1", "each call would return"),
            ("distanceToLocation:fromLocation:(a, b) < 1", "locations"),
        ])
    func unsupported(text: String, message: String) throws {
        let error = try #require(failure(text))
        #expect(error.code == .unsupported, "\(error)")
        #expect(error.message.contains(message), "\(error)")
    }

    @Test("random predicates and expressions survive printing and reading", arguments: 0..<8 as Range<UInt64>)
    func inverse(seed: UInt64) throws {
        var trees = PredicateTrees(seed: seed)
        for round in 0..<500 {
            let predicate = trees.predicate(round % 6)
            let text = try predicate.format()
            let again = try P(format: text)
            #expect(again == predicate, "seed \(seed), round \(round): \(text)")
            #expect(try again.format() == text, "seed \(seed), round \(round)")
            let expression = trees.expression(round % 6)
            let expressionText = try expression.format()
            #expect(try E(format: expressionText) == expression, "seed \(seed), round \(round): \(expressionText)")
        }
    }

    @Test("a truncated or changed predicate text is read or refused, and never traps")
    func damaged() throws {
        let others = ["(", ")", "'", "[", "%", "$", "@", "#", ":", "\\", ".", " ", "{", "1", "x", "é"]
        var turn = 0
        for (text, _) in Self.trees {
            for index in text.indices {
                _ = failure(String(text[..<index]))
                turn += 1
                _ = failure(text.replacingCharacters(in: index...index, with: others[turn % others.count]))
            }
        }
    }

    @Test(
        "deep nesting is read and printed, or refused, also on a small stack",
        arguments: [
            ("(", "a = 1", ")"), ("NOT ", "a = 1", ""), ("!(", "a = 1", ")"), ("-", "a = 1", ""),
            ("uppercase(", "a", ") = 1"),
            ("a IN {", "1", "}"), ("{", "1", "} = 1"), ("SUBQUERY(a, $x, ", "a = 1", ")[SIZE] = 1"),
            ("a[", "1", "] = 1"),
            ("TERNARY(a = 1, 1, ", "1", ") = 1"), ("TERNARY(", "a = 1", ", 1, 2) = 1"),
            ("CAST(", "a", ", 'NSString') = 1"),
            ("FUNCTION(a, 'f', ", "1", ") = 1"), ("a = 1 OR b = 2 AND c > 1 + 2 * 3 ** -(", "1", ")"),
            ("1 + (", "1", ") = 1"),
            ("(", "a", ").b = 1"), ("ANY ", "a = 1", ""), ("a = 1 AND (", "b = 1", ")"), ("noindex:(", "a", ") = 1"),
        ])
    func depth(opening: String, core: String, closing: String) throws {
        @Sendable func nested(_ count: Int) -> String {
            String(repeating: opening, count: count) + core + String(repeating: closing, count: count)
        }
        onSmallStack {
            for count in [10, 30, 60, 100, 150, 190, 198, 199, 200] {
                guard let predicate = try? P(format: nested(count)) else { continue }
                guard let text = try? predicate.format() else {
                    Issue.record("not printed: \(opening) × \(count)")
                    continue
                }
                #expect((try? P(format: text)) == predicate)
            }
            for count in [201, 1000, 20_000] { #expect(failure(nested(count)) != nil) }
        }
    }

    @Test("a chain of operators counts as nesting; a list of values or conditions does not")
    func chains() throws {
        @Sendable func chain(_ link: String, count: Int) -> String { String(repeating: link, count: count) }
        onSmallStack {
            #expect(failure("a" + chain(" + 1", count: 150) + " = 1") == nil)
            for link in [" + 1", " * a", " ** 2", " UNION b", "[0]"] {
                #expect(failure("a" + chain(link, count: 20_000) + " = 1")?.code == .invalidRequest, "\(link)")
            }
            #expect(failure("(a)" + chain(".b", count: 20_000) + " = 1") == nil)
            #expect(failure("a = 1" + chain(" AND a = 1", count: 20_000)) == nil)
            #expect(failure("a = 1" + chain(" OR a = 1", count: 20_000)) == nil)
            #expect(failure("a IN {1" + chain(", 1", count: 99_999) + "}") == nil)
            #expect(failure("a IN {1" + chain(", 1", count: 100_000) + "}")?.code == .limitExceeded)
            #expect(failure("a = '" + chain("x", count: 1 << 20) + "'")?.code == .limitExceeded)
        }
    }

    @Test("a property can be named uti, and a minus can follow the name")
    func uti() throws {
        #expect(try P(format: "uti-5 = 1", arguments: []) == P(format: "uti - 5 = 1", arguments: []))
        #expect(try P(format: "uti = 1", arguments: []) == .equal("uti", to: 1))
        #expect(failure("type UTI-EQUALS 'x'") != nil)
    }

    @Test("SUBQUERY nests sixteen levels deep, and no deeper")
    func subqueries() throws {
        @Sendable func nested(_ count: Int) -> String {
            String(repeating: "SUBQUERY(a, $x, ", count: count) + "a = 1"
                + String(repeating: ").@count > 1", count: count)
        }
        #expect(failure(nested(16)) == nil)
        #expect(failure(nested(17))?.code == .limitExceeded)
    }

    @Test("a predicate that nests too deep cannot be printed")
    func deepTrees() throws {
        var predicate = P.isNull("a")
        for _ in 0..<1000 { predicate = .not(predicate) }
        #expect(throws: StoreError.self) { try predicate.format() }
    }
}

/// Runs a body on a thread with the half megabyte of stack that secondary threads have on some
/// platforms.
func onSmallStack(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        body()
        done.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    done.wait()
}
