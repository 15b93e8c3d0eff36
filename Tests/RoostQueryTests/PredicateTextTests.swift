import Foundation
import RoostCore
import RoostQuery
import TestSamples
import Testing

private let tenth = FetchRequest.Expression.constant(
    DecimalNumber(utf8: "0.1".utf8).map { .decimal($0.decimal) } ?? .null)
private let secondDay = FetchRequest.Expression.constant(.date(Date(timeIntervalSinceReferenceDate: 86400)))
private func object(_ entity: EntityName, key: Int64) -> FetchRequest.Expression {
    .constant(.objectID(ObjectID(entity, key: key)))
}

@Suite("The text of predicates")
struct PredicateTextTests {
    typealias P = FetchRequest.Predicate

    let model: ManagedObjectModel

    init() throws { model = try everyTypeModel() }

    func parse(_ text: String) throws -> P { try P(text, for: "Thing", model: model) }

    func failure(_ text: String) -> StoreError? {
        do throws(StoreError) {
            _ = try P(text, for: "Thing", model: model)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "comparisons, connectives and brackets are read against a model",
        arguments: [
            ("integer64 = 1", .equal("integer64", to: 1)), ("integer64==1", .equal("integer64", to: 1)),
            ("integer64 != -1", .notEqual("integer64", to: -1)), ("integer64 <> 1", .notEqual("integer64", to: 1)),
            ("integer64 < 1", .less("integer64", than: 1)), ("integer64 <= 1", .lessOrEqual("integer64", to: 1)),
            ("integer64 =< 1", .lessOrEqual("integer64", to: 1)), ("integer64 > 1", .greater("integer64", than: 1)),
            ("integer64 >= 1", .greaterOrEqual("integer64", to: 1)),
            ("integer64 => 1", .greaterOrEqual("integer64", to: 1)),
            ("integer64 IN {1, 2 ,3}", .isIn("integer64", values: [1, 2, 3])),
            ("string in {}", .isIn("string", values: [])),
            ("string BEGINSWITH 'a'", .beginsWith("string", prefix: "a")),
            ("string beginswith \"\"", .beginsWith("string", prefix: "")),
            ("string = nil", .isNull("string")), ("string != NULL", .isNotNull("string")),
            ("TRUEPREDICATE", .constant(true)), ("falsePredicate", .constant(false)),
            ("not boolean = YES", .not(.equal("boolean", to: true))),
            ("!(boolean = no)", .not(.equal("boolean", to: false))),
            (
                "integer64 = 1 OR integer64 = 2 AND boolean = true || string = nil",
                .or([
                    .equal("integer64", to: 1), .and([.equal("integer64", to: 2), .equal("boolean", to: true)]),
                    .isNull("string"),
                ])
            ),
            (
                "(integer64 = 1 OR integer64 = 2) && NOT ((boolean = FALSE))",
                .and([
                    .or([.equal("integer64", to: 1), .equal("integer64", to: 2)]), .not(.equal("boolean", to: false)),
                ])
            ),
            ("(integer64) = (1)", .equal("integer64", to: 1)), ("NOT NOT string = nil", .not(.not(.isNull("string")))),
            ("NOT (string) = ((nil))", .not(.isNull("string"))),
            ("1 = integer64", .comparison(.init(left: .constant(1), operator: .equal, right: .keyPath(["integer64"])))),
            (
                "integer64 = double",
                .comparison(.init(left: .keyPath(["integer64"]), operator: .equal, right: .keyPath(["double"])))
            ),
            ("composite.depth = 1.5", .compare("composite.depth", using: .equal, with: 1.5)),
            ("composite.inner.code = 0x1F", .compare("composite.inner.code", using: .equal, with: 31)),
            ("SELF.integer16 = 1", .equal("integer16", to: 1)), ("#integer16 = 1", .equal("integer16", to: 1)),
            ("#\"integer16\" = 1", .equal("integer16", to: 1)), (" \t\nstring\n=\n'a' ", .equal("string", to: "a")),
        ] as [(String, P)])
    func structure(text: String, expected: P) throws {
        #expect(try parse(text) == expected)
    }

    @Test(
        "a literal becomes a value of the property's type",
        arguments: [
            ("integer64 = 9223372036854775807", "integer64", .int(.max)),
            ("integer64 = -9223372036854775808", "integer64", .int(.min)),
            ("integer64 = 1.5", "integer64", .double(1.5)), ("integer64 = 1e3", "integer64", .double(1000)),
            (
                "decimal = 12345678901234567890.123456789012345678", "decimal",
                DecimalNumber(utf8: "12345678901234567890.123456789012345678".utf8).map { .decimal($0.decimal) }
                    ?? .null
            ),
            ("double = 0.1", "double", .double(0.1)), ("double = -0.0", "double", .double(-0.0)),
            ("float = 4.1", "float", .double(Double(Float(4.1)))), ("float = 4.1000000000", "float", .double(4.1)),
            ("float = 0.100000024", "float", .double(Double(Float(0.100000024)))),
            ("float = -0.000100000005", "float", .double(Double(Float(-0.000100000005)))),
            ("float = 0.1000000241", "float", .double(0.1000000241)),
            ("float = 16777217", "float", .int(16_777_217)), ("boolean = 1", "boolean", .int(1)),
            ("date = '2001-01-02'", "date", .date(Date(timeIntervalSinceReferenceDate: 86400))),
            ("date = '2000-12-31T23:59:59.5Z'", "date", .date(Date(timeIntervalSinceReferenceDate: -0.5))),
            ("date = CAST(1.5, \"NSDate\")", "date", .date(Date(timeIntervalSinceReferenceDate: 1.5))),
            ("integer64 = CAST('5', 'NSNumber')", "integer64", 5), ("string = CAST(5, 'NSString')", "string", "5"),
            ("decimal = CAST(TRUE, 'NSDecimalNumber')", "decimal", .decimal(1)),
            ("float = 1e39", "float", .double(1e39)),
            ("date = CAST('2001-01-01T01:00+01:00', 'NSDate')", "date", .date(Date(timeIntervalSinceReferenceDate: 0))),
            ("binaryData = 'AAE='", "binaryData", .data(Data([0, 1]))),
            ("transformable = ''", "transformable", .data(Data())),
            (
                "uuid = '00000000-0000-0000-0000-000000000000'", "uuid",
                .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
            ),
            ("uri = 'a b'", "uri", .uri("a b")), ("next = 7", "next", .objectID(ObjectID("Thing", key: 7))),
            ("owner = 7", "owner", .objectID(ObjectID("Party", key: 7))),
            ("owner = 'Person/7'", "owner", .objectID(ObjectID("Person", key: 7))),
            ("anyObjectID = 'Tag/p8'", "anyObjectID", .objectID(ObjectID("Tag", key: 8))),
            (#"string = 'it\'s \"\\ \n\t\u00e9\uD83D\uDE00\x41\101'"#, "string", .string("it's \"\\ \n\té😀AA")),
            ("string = \"日本\"", "string", .string("日本")),
        ] as [(String, String, Value)])
    func values(text: String, name: String, expected: Value) throws {
        #expect(try parse(text) == .compare(name, using: .equal, with: expected))
    }

    @Test("SELF is compared by key, or by entity and key")
    func objectItself() throws {
        let expected = P.comparison(
            .init(left: .evaluatedObject, operator: .equal, right: .constant(.objectID(ObjectID("Thing", key: 5)))))
        #expect(try parse("SELF = 5") == expected)
        #expect(try parse("self == 'Thing/5'") == expected)
        #expect(try parse("self == 'Thing/p5'") == expected)
    }

    @Test(
        "a syntax error in a predicate read with a model says what is expected",
        arguments: [
            ("", "column 1: A property or a value is expected, not the end."),
            ("string", "column 7: A comparison"), ("string =", "column 9: A property or a value is expected"),
            ("string = 'a", "column 10: The string that starts here has no closing quote."),
            ("string = 'a' 'b'", "column 14: AND, OR or the end of the predicate is expected, not a string."),
            ("(string = nil", "column 14: AND, OR or ')' is expected, not the end."),
            ("string = nil)", "column 13: AND, OR or the end"),
            ("é = 'é' AND ~", "column 13: A name, a value or an operator is expected"),
            ("integer64 IN {1", "A comma or '}' is expected"),
            ("integer64 IN {1,}", "A property or a value is expected, not '}'."),
            ("integer64 = 1.", "A digit is expected"),
            ("integer64 = 1e", "exponent"), ("integer64 = 12x", "not a letter"), ("integer64 = 0xZ", "base 16"),
            (#"string = '\q'"#, "An escape is expected"), (#"string = '\uD800'"#, "one half of a surrogate pair"),
            (#"string = '\u12'"#, "4 digits in base 16"), ("TRUE AND string = nil", "A comparison"),
            ("string = (string = nil)", "not a condition"), ("string = TRUEPREDICATE", "not a condition"),
            ("AND", "A property or a value is expected, not 'AND'."),
            ("integer64 & 1", "not this character"), ("integer64 ! 1", "A comparison"),
            ("composite. = 1", "The name of a property"),
            ("date = CAST('x', 'NSDate')", "For a cast to NSDate, seconds since"),
            ("date = CAST(1, 'Date')", "NSDecimalNumber"),
            ("# = 1", "The name of a property is expected"),
        ])
    func syntaxErrors(text: String, message: String) throws {
        let error = try #require(failure(text))
        #expect(error.code == .invalidRequest, "\(error)")
        #expect(error.message.contains(message), "\(error)")
        #expect(!error.message.contains("\n"))
    }

    @Test(
        "an error for a wrong name or type says what is right and hides the value",
        arguments: [
            ("strng = 'secret'", .unknownProperty, "did you mean 'string'?"), ("id = 5", .unknownProperty, "SELF = 5"),
            ("composite.deepth = 1", .unknownProperty, "composite.depth"),
            ("scratch = 1", .unknownProperty, "transient"),
            ("integer64 = 'secret'", .invalidValue, "'Thing.integer64' (integer64) is compared with a string"),
            ("string = 77001", .invalidValue, "a string in quotes"), ("date = 77001", .invalidValue, "2024-05-01"),
            ("date = '2023-02-29'", .invalidValue, "'Thing.date'"), ("uuid = 'secret'", .invalidValue, "a UUID"),
            ("binaryData = 'secret!'", .invalidValue, "base64"), ("boolean = 'secret'", .invalidValue, "TRUE or FALSE"),
            ("decimal = 1e200", .invalidValue, "38 digits"), ("double = 1e400", .invalidValue, "a number in range"),
            ("double = 1e-400", .invalidValue, "a number in range"), ("0 = 1e-400", .invalidValue, "outside the range"),
            ("owner = 'Persn/1'", .invalidValue, "its key, or an ID such as \"Party/5\""),
            ("next = 0", .invalidValue, "Thing/5"),
            ("anyObjectID = 5", .invalidValue, "an object or an ID such as \"Thing/5\" is needed"),
            ("composite = 1", .invalidRequest, "composite"),
        ] as [(String, StoreError.Code, String)])
    func typeErrors(text: String, code: StoreError.Code, message: String) throws {
        let error = try #require(failure(text))
        #expect(error.code == code, "\(error)")
        #expect(error.message.contains(message), "\(error)")
        #expect(!error.message.contains("secret") && !error.message.contains("77001"))
    }

    @Test("nesting of brackets and operators has a limit, and length does not")
    func depth() throws {
        func nested(_ count: Int) -> String {
            String(repeating: "(", count: count) + "string = nil" + String(repeating: ")", count: count)
        }
        #expect(try parse(nested(200)) == .isNull("string"))
        #expect(failure(nested(201))?.code == .invalidRequest)
        for opening in ["(", "NOT ", "!", "NOT (", "-", "{", "string IN {", "CAST("] {
            #expect(failure(String(repeating: opening, count: 100_000))?.code != nil)
        }
        let long = Array(repeating: "integer64 = 1", count: 20_000).joined(separator: " OR ")
        guard case .or(let members) = try parse(long) else {
            Issue.record("not a list")
            return
        }
        #expect(members.count == 20_000)
    }

    @Test(
        "a predicate is printed with only the brackets and casts that it needs",
        arguments: [
            (.equal("string", to: "a\"\\\n\u{0}é"), #"string == "a\"\\\n\x00é""#),
            (
                .and([.or([.isNull("string"), .isNotNull("uri")]), .not(.and([.constant(true), .constant(false)]))]),
                "(string == NULL OR uri != NULL) AND NOT (TRUEPREDICATE AND FALSEPREDICATE)"
            ),
            (
                .or([.and([.isNull("string"), .isNull("uri")]), .isNull("date")]),
                "string == NULL AND uri == NULL OR date == NULL"
            ),
            (.equal("date", to: .date(Date(timeIntervalSinceReferenceDate: -0.5))), #"date == CAST(-0.5, "NSDate")"#),
            (.equal("double", to: .double(-.infinity)), #"double == CAST("-Infinity", "NSNumber")"#),
            (.isIn("decimal", values: [.decimal(1.5), 2]), #"decimal IN {1.5, CAST(2, "NSNumber")}"#),
            (
                .equal("owner", to: .objectID(ObjectID("Person", key: 3))),
                #"owner == CAST("Person/3", "NSManagedObjectID")"#
            ),
            (.and([]), "TRUEPREDICATE"), (.or([]), "FALSEPREDICATE"), (.and([.isNull("string")]), "string == NULL"),
        ] as [(P, String)])
    func printing(predicate: P, text: String) throws {
        #expect(try predicate.format(for: "Thing", model: model) == text)
    }

    @Test(
        "a literal takes the type of the value that it is compared with, also through paths and functions",
        arguments: [
            ("next.next.decimal = 0.1", tenth), ("ANY tags.things.decimal = 0.1", tenth), ("decimal + 5 = 0.1", tenth),
            ("tags.things.@sum.decimal > 0.1", tenth), ("decimal BETWEEN {0.1, 1}", tenth), ("-decimal < 0.1", tenth),
            ("SUBQUERY(tags, $t, ALL $t.things.decimal > 0.1).@count > 0", tenth), ("0.1 IN {decimal}", tenth),
            ("TERNARY(boolean = TRUE, decimal, 0.1) = next.decimal", tenth), ("decimal = 0.1 + 5", tenth),
            ("SUBQUERY(tags, $t, TRUEPREDICATE).things.@max.decimal > 0.1", tenth), ("max({decimal, 0.1}) > 5", tenth),
            ("SUBQUERY(tags, $t, TRUEPREDICATE).@min.things.decimal > 0.1", tenth),
            ("next.date > '2001-01-02'", secondDay), ("now() > '2001-01-02'", secondDay),
            ("date - '2001-01-02' > 5", secondDay),
            ("date IN {'2001-01-02'}", secondDay), ("tags.things.date CONTAINS '2001-01-02'", secondDay),
            ("'2001-01-02' IN tags.things.date", secondDay), ("CAST(string, 'NSDate') = '2001-01-02'", secondDay),
            ("(next.tags).things.date CONTAINS '2001-01-02'", secondDay), ("noindex(date) = '2001-01-02'", secondDay),
            ("next.next = 7", object("Thing", key: 7)), ("ANY tags = 7", object("Tag", key: 7)),
            ("SELF IN {7}", object("Thing", key: 7)),
            ("tags CONTAINS 7", object("Tag", key: 7)), ("7 IN tags", object("Tag", key: 7)),
            ("next.owner = 'Person/7'", object("Person", key: 7)),
            ("SUBQUERY(tags, $t, $t = 7)[SIZE] > 0", object("Tag", key: 7)),
            ("owner.things[FIRST] = 'Thing/7'", object("Thing", key: 7)),
            ("string CONTAINS '2001-01-02'", .constant("2001-01-02")), ("next.string LIKE '0.1'", .constant("0.1")),
            ("tags.@count = 7", .constant(7)), ("double + 0.1 > 5", .constant(0.1)), ("integer64 = %d", .constant(9)),
            ("decimal = %f", .constant(9)),
        ] as [(String, FetchRequest.Expression)])
    func meeting(text: String, literal: FetchRequest.Expression) throws {
        let arguments: [any PredicateArgument] = text.contains("%") ? [9] : []
        let predicate = try P(text, arguments: arguments, for: "Thing", model: model)
        #expect(String(reflecting: predicate).contains(String(reflecting: literal)), "\(predicate)")
        let printed = try predicate.format(for: "Thing", model: model)
        #expect(try parse(printed) == predicate, "\(printed)")
    }

    @Test(
        "a wrong name deep in a predicate is refused with its column and the reason",
        arguments: [
            ("ANY tags.thngs.date = NULL", "column 5", "'things'"), ("next.strng = 'a'", "column 1", "'string'"),
            ("SUBQUERY(tags, $t, $t.thngs.@count > 1)[SIZE] > 1", "column 22", "'things'"),
            ("string = 'a' OR string.x = 1", "column 17", "has no 'x'"), ("next.@count > 1", "column 1", "to-many"),
            ("SUBQUERY(tags, $t, nxt = $t)[SIZE] > 1", "column 20", "'next'"),
            ("uppercase(strng) = 'a'", "column 11", "'string'"),
            ("next.integer64 = 'a'", "column 18", "'Thing.integer64' (integer64)"),
        ])
    func farNames(text: String, place: String, message: String) throws {
        let error = try #require(failure(text))
        #expect(error.message.contains(place) && error.message.contains(message), "\(error)")
    }

    @Test("names that are keywords or not words survive printing and reading")
    func oddNames() throws {
        let names = ["first", "in", "two words", "1st", "ünï", "a\"b", "select"]
        let odd = try ManagedObjectModel(entities: [
            EntityDescription("Odd", attributes: names.map { AttributeDescription($0, type: .string) })
        ])
        for name in names {
            let predicate = P.comparison(.init(left: .keyPath([name]), operator: .equal, right: .constant("x")))
            let text = try predicate.format(for: "Odd", model: odd)
            #expect(try P(text, for: "Odd", model: odd) == predicate, "\(text)")
        }
        #expect(throws: StoreError.self) { try P("first = 'x'", for: "Odd", model: odd) }
    }

    @Test("a value of every type survives printing and reading of a predicate", arguments: AttributeType.allCases)
    func exactValues(type: AttributeType) throws {
        for value in limits(of: type) {
            let predicate = P.compare(sampleName(of: type), using: .equal, with: value)
            let text = try predicate.format(for: "Thing", model: model)
            #expect(try parse(text) == predicate, "\(text)")
        }
    }

    @Test("random text is a predicate or an error")
    func readsRandomText() throws {
        var random = SeededGenerator(seed: 5)
        let pieces = [
            "string", "integer64", "=", "!=", "(", ")", "{", "}", "IN", "AND", "OR", "NOT", "'", "\"", "\\", "#", "1",
            ".5",
            "e", "-", "CAST", ",", "SELF", ".", "@", "$", "%", "[", "NULL", "\u{0}", "é", "👩‍👧", "\u{301}", " ", "&&",
            "|", "0x",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0..<12, using: &random)).compactMap { _ in
                pieces.randomElement(using: &random)
            }
            .joined(separator: Bool.random(using: &random) ? " " : "")
            _ = failure(text)
        }
    }
}

@Suite("Dates as text")
struct DateTextTests {
    @Test(
        "a date is read from text exactly",
        arguments: [
            ("2001-01-01", 0), ("2001-01-01T00:00:00Z", 0), ("2001-01-01 00:00", 0), ("1970-01-01", -978_307_200),
            ("2024-02-29T12:30:15.25Z", 730_902_615.25), ("2000-12-31T23:59:59.9Z", -0.1),
            ("0000-01-01", -63_145_526_400),
            ("9999-12-31T23:59:59.999Z", 252_423_993_599.999), ("2001-01-01T01:00:00+01:00", 0),
            ("2000-12-31T19:00:00-05:00", 0), ("2001-01-01T00:00:00.000000", 0), ("1900-03-01", -3_182_198_400),
        ] as [(String, Double)])
    func reading(text: String, seconds: Double) {
        #expect(DateText.seconds(text) == seconds)
    }

    @Test(
        "a text that is not a date is refused",
        arguments: [
            "", "2001", "2001-1-1", "2001-13-01", "2001-00-01", "2023-02-29", "1900-02-29", "2001-01-01T",
            "2001-01-01T24:00",
            "2001-01-01T12:60", "2001-01-01T12:30:60", "2001-01-01T12:30:00.", "2001-01-01T12:30:00x", "2001-01-01Z",
            "2001-01-01T12:30+1", "20010101", "+2001-01-01", "2001-01-01T12:30:00Z ",
        ])
    func refusing(text: String) {
        #expect(DateText.seconds(text) == nil)
    }

    @Test("a printed date is read back bit for bit")
    func wayBack() throws {
        #expect(DateText.text(0) == "2001-01-01T00:00:00Z")
        #expect(DateText.text(-0.25) == "2000-12-31T23:59:59.75Z")
        #expect(DateText.text(730_902_615.25) == "2024-02-29T12:30:15.25Z")
        for none in [.nan, .infinity, 1e13, -1e12, -0.0, 1e-9] as [Double] { #expect(DateText.text(none) == nil) }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let seconds =
                Double.random(in: -63_145_526_400...252_423_993_599, using: &random)
                * (Bool.random(using: &random) ? 1 : 1e-6)
            if let text = DateText.text(seconds) {
                #expect(DateText.seconds(text)?.bitPattern == seconds.bitPattern, "\(seconds): \(text)")
            } else {
                #expect(abs(seconds) < 0.001)
            }
        }
    }
}
