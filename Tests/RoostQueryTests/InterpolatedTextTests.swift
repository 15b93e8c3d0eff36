import Foundation
import RoostCore
import RoostPredicates
import RoostQuery
import TestSamples
import Testing

@Suite("Interpolated texts")
struct InterpolatedTextTests {
    typealias P = FetchRequest.Predicate
    typealias E = FetchRequest.Expression

    private static let day = Date(timeIntervalSinceReferenceDate: 86400)
    private static let id = UUID()
    private static let object = ObjectID("Person", key: 5)
    private static let nothing: String? = nil
    private static let something: Int? = 3

    private func error(of predicate: P) -> StoreError? {
        #expect(throws: StoreError.self) {
            _ = try RecordFilter(FetchRequest("Thing", where: predicate), model: try everyTypeModel())
        }
    }

    @Test(
        "an interpolated value is compared as it is",
        arguments: [
            ("string == \("it's \"x\" %@ $y")", P.path("string") == "it's \"x\" %@ $y"),
            ("string BEGINSWITH[c] \("a"[...])", P.path("string").beginsWith("a", options: .caseInsensitive)),
            ("integer64 > \(3) AND integer64 < \(UInt8(9))", .path("integer64") > 3 && .path("integer64") < 9),
            ("date >= \(day)", P.path("date") >= day),
            ("uuid = \(id) or data = \(Data([1, 2]))", P.path("uuid") == id || P.path("data") == Data([1, 2])),
            ("owner == \(object)", P.path("owner") == object),
            ("string == \(nothing)", P.path("string").isNull),
            ("integer64 == \(something)", P.path("integer64") == 3),
            ("integer64 IN \([1, 2, 3])", P.path("integer64").isIn([1, 2, 3])),
            ("integer64 IN {\(1), 2}", P.path("integer64").isIn([1, 2])),
            ("integer64 BETWEEN \([1, 5])", P.path("integer64").isBetween(1, and: 5)),
            (
                "decimal == \(Value.decimal(2)) AND boolean == \(true)",
                .path("decimal") == Decimal(2) && .path("boolean") == true
            ),
            (
                "NOT double > -\(1.5)",
                !(P.path("double") > FetchRequest.Operand(.function(.negate, [.constant(.double(1.5))])))
            ),
            ("TRUEPREDICATE", .constant(true)),
        ] as [(P, P)])
    func values(interpolated: P, built: P) { #expect(interpolated == built) }

    @Test(
        "an interpolated key is a property's name or a path of names",
        arguments: [
            ("\(key: "integer64") == 1", P.path("integer64") == 1),
            ("\(key: "owner.name") == \("x")", P.path("owner.name") == "x"),
            ("owner.\(key: "name") == \("x")", P.path("owner.name") == "x"),
            ("\(key: "owner").name == \("x")", P.path("owner.name") == "x"),
            ("\(key: "SELECT") == \(key: "odd name")", P.path("SELECT") == FetchRequest.Operand.path("odd name")),
            ("\(key: "composite.inner.code") == 1", P.path("composite.inner.code") == 1),
        ] as [(P, P)])
    func keys(interpolated: P, built: P) { #expect(interpolated == built) }

    @Test("an expression can be an interpolated literal") func expressions() {
        let name = "double"
        #expect(("integer64 + 1" as E) == .function(.add, [.keyPath(["integer64"]), .constant(.int(1))]))
        #expect(("\(key: name) * \(2)" as E) == .function(.multiply, [.keyPath(["double"]), .constant(.int(2))]))
    }

    @Test(
        "percent signs and text that looks like an interpolation are ordinary characters inside quotes",
        arguments: [
            ("string == '%@'", P.path("string") == "%@"), ("string == \"100 %\"", P.path("string") == "100 %"),
            ("string == '%K %d' AND string != \("%@")", .path("string") == "%K %d" && .path("string") != "%@"),
            ("string == '…'", P.path("string") == "…"),
            (#"string == '\\(…)' AND string == \#("a")"#, .path("string") == #"\(…)"# && .path("string") == "a"),
        ] as [(P, P)])
    func quoted(interpolated: P, built: P) { #expect(interpolated == built) }

    @Test(
        "an interpolation inside quotes or a name is refused with a remedy",
        arguments: [
            ("string == '\("x")'", 12), ("string == \"\("x")\"", 12), ("string == 'a\("x")b'", 13),
            ("string == 'a\\\("x")'", 14), ("string == '\("x")", 12), ("string == '\("x")' AND string == '\("y")'", 12),
            ("string == '\("x") AND string == \("y")", 12), ("#\("x") == 1", 2), ("#'\("x")' == 1", 3),
            ("$\("x") == 1", 2), ("string == 'a' AND string == '\(key: "x")'", 30),
            // A combining character after the interpolation does not join it.
            ("string == '\("x")\u{301}'", 12),
        ] as [(P, Int)])
    func insideQuotes(predicate: P, column: Int) {
        let error = error(of: predicate)
        #expect(error?.code == .invalidRequest)
        #expect(
            error?.message
                == "The predicate cannot be read at column \(column): A value cannot be interpolated inside of quotes or a name. Leave the quotes out: the value is bound."
        )
    }

    @Test(
        "a percent sign outside quotes is refused in an interpolated predicate",
        arguments: [
            ("string == %@", 11), ("%K == 1", 1), ("integer64 == %d AND string == \("x")", 14),
            ("string == \("x") AND string == %@", 30), ("integer64 % 2 == 0", 11), ("integer64 %% 2 == 0", 11),
        ] as [(P, Int)])
    func percentSigns(predicate: P, column: Int) {
        let error = error(of: predicate)
        #expect(error?.code == .invalidRequest)
        #expect(
            error?.message.hasPrefix("The predicate cannot be read at column \(column): Nothing is bound to '%'")
                == true)
    }

    @Test(
        "an interpolation counts as four characters in an error's column",
        arguments: [
            ("\(key: "string") == \("a longer text") integer64 > 1", 14),
            ("string == \("x")abc", 15), ("\("x") \("y")", 6), ("string\("x") == 1", 7), ("", 1), ("string = ", 10),
            ("string == \("x") AND", 19),
        ] as [(P, Int)])
    func columns(predicate: P, column: Int) {
        let error = error(of: predicate)
        #expect(error?.code == .invalidRequest)
        #expect(
            error?.message.hasPrefix("The predicate cannot be read at column \(column): ") == true,
            "\(error?.message ?? "")")
    }

    @Test("an error's message names an interpolation and never shows its value") func messages() {
        let secret = "secret"
        #expect(
            error(of: "string == 'a' \(secret)")?.message
                == "The predicate cannot be read at column 15: AND, OR or the end of the predicate is expected, not '\\(…)'."
        )
        #expect(
            error(of: "\(key: "a..b") == 1")?.message
                == "The predicate cannot be read at column 1: The argument of '\\(key: …)' is not a key path: it is empty, or has an empty part."
        )
        #expect(
            error(of: "string == \(FetchRequest.Operand.path("string"))")?.message
                == "The predicate cannot be read at column 11: '\\(…)' takes a value or a list of values. Interpolate the name of a property as \\(key: …)."
        )
    }

    @Test("a literal throws unsupported or invalidValue as a parsed text does") func unsupported() {
        #expect(error(of: "ANYKEY == \(1)")?.code == .unsupported)
        #expect(error(of: "string == 1e999")?.code == .invalidValue)
    }

    @Test(
        "a request refuses an unknown name in an interpolated predicate",
        arguments: ["strin == \(1)", "owner.\(key: "nam") == \("x")"] as [P])
    func unknownNames(predicate: P) {
        #expect(error(of: predicate)?.code == .unknownProperty)
    }

    @Test(
        "a predicate that contains an unreadable literal throws the literal's error",
        arguments: [
            .constant(false) && "(", .constant(true) || "(", !"(", .and([.constant(true), .or(["(" as P])]),
            P.path("string") == FetchRequest.Operand("+" as E),
            .comparison(.init(left: "1 +", operator: .isIn, right: "{}")),
            .objects("tags") { _ in "(" }.count > 1,
            .comparison(.init(left: .aggregate(["("]), operator: .contains, right: "1")),
            .comparison(.init(left: .conditional("(", "1", "2"), operator: .equal, right: "1")),
        ] as [P])
    func nested(predicate: P) throws {
        let error = error(of: predicate)
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("cannot be read at column") == true)
        #expect(throws: StoreError.self) { try predicate.format() }
        // Substitution keeps the error.
        #expect(throws: StoreError.self) { try predicate.substituting(["x": 1]).format() }
    }

    @Test("printing an unreadable literal throws its error") func printing() throws {
        let model = try everyTypeModel()
        let predicate: P = "string == '\("x")'"
        #expect(throws: StoreError.self) { try predicate.format(for: "Thing", model: model) }
        #expect(throws: StoreError.self) { try ("1 +" as E).format() }
        do throws(StoreError) {
            _ = try predicate.format()
        } catch {
            #expect(error.code == .invalidRequest)
            #expect(error.message.contains("Leave the quotes out"))
        }
    }

    @Test("a variable of an interpolated predicate can be substituted") func variables() throws {
        let predicate: P = "integer64 > $limit AND string == \("x")"
        #expect(try predicate.substituting(["limit": 5]) == (.path("integer64") > 5 && .path("string") == "x"))
    }

    @Test("a predicate literal may nest 200 brackets, but not 100,000") func deep() {
        let text = String(repeating: "(", count: 200) + "TRUEPREDICATE" + String(repeating: ")", count: 200)
        #expect(P(stringLiteral: text) == .constant(true))
        #expect(error(of: P(stringLiteral: String(repeating: "(", count: 100_000))) != nil)
    }
}

@Suite("Assignments")
struct AssignmentsTests {
    typealias E = FetchRequest.Expression

    private func error(of assignments: Assignments) -> StoreError? {
        do throws(StoreError) {
            _ = try assignments.expressions
            return nil
        } catch {
            return error
        }
    }

    @Test("an assignments literal sets properties to expressions and bound values") func text() throws {
        let (name, title) = ("owner.name", "O'Hara, \"x = 1\"")
        let assignments: Assignments =
            "plays = plays + 1, title=\(title), \(key: name) = NULL, at.depth = max({1, 2}), flag = TERNARY(a == b, 1, 2)"
        #expect(
            try assignments.expressions == [
                "plays": "plays + 1", "title": .constant(.string(title)), "owner.name": .constant(.null),
                "at.depth": .function(.maximum, [.aggregate([.constant(1), .constant(2)])]),
                "flag": .conditional(.path("a") == FetchRequest.Operand.path("b"), .constant(1), .constant(2)),
            ])
    }

    @Test("a dictionary, expressions and a format give the same assignments") func dictionary() throws {
        let assignments: Assignments = ["plays": 0, "title": "x", "album": nil]
        let expected: [String: E] = ["plays": .constant(0), "title": .constant("x"), "album": .constant(.null)]
        #expect(try assignments.expressions == expected)
        #expect(
            try Assignments(["plays": 0, "title": .string("x"), "album": nil] as [String: Value]).expressions
                == expected)
        #expect(try Assignments(expressions: expected).expressions == expected)
        #expect(try Assignments(format: "plays = 0, title = %@, %K = NULL", "x", "album").expressions == expected)
    }

    @Test(
        "a malformed assignment is refused with its column",
        arguments: [
            ("", "at column 1: A property, = and a value, as in plays = plays + 1, is expected, not the end."),
            ("plays", "at column 6: '=' after the name of a property is expected, not the end."),
            ("plays > 1", "at column 7: '=' after the name of a property is expected, not '>'."),
            (
                "plays = 1,",
                "at column 11: A property, = and a value, as in plays = plays + 1, is expected, not the end."
            ),
            (
                "plays = 1 title = 2",
                "at column 11: A comma, an operator or the end of the assignments is expected, not 'title'."
            ),
            (
                "plays = a == b",
                "at column 11: A comma, an operator or the end of the assignments is expected, not '=='."
            ),
            ("1 = plays", "at column 1: The name of a property is expected in front of '='."),
            ("title = '\("x")'", "at column 10: A value cannot be interpolated inside of quotes or a name."),
            ("title = %@", "at column 9: Nothing is bound to '%'"),
        ] as [(Assignments, String)])
    func malformed(assignments: Assignments, message: String) {
        let error = error(of: assignments)
        #expect(error?.code == .invalidRequest)
        #expect(
            error?.message.hasPrefix("The assignments cannot be read " + message) == true, "\(error?.message ?? "")")
    }

    @Test(
        "assignments that set a property twice are refused",
        arguments: ["a = 1, a = 2", "a.b = 1, \(key: "a.b") = 2", ["a.b": 1, "a.b": 2]] as [Assignments])
    func refusesRepetition(assignments: Assignments) {
        let error = error(of: assignments)
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.hasSuffix("is set twice.") == true)
    }

    @Test("an unreadable expression in assignments is found before the update") func unreadable() {
        #expect(error(of: Assignments(expressions: ["a": "1 +"]))?.code == .invalidRequest)
    }
}
