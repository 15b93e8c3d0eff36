import Foundation
import RoostPredicates
import TestSamples
import Testing

@testable import RoostCore
@testable import RoostQuery

private typealias Expression = FetchRequest.Expression
private typealias Predicate = FetchRequest.Predicate

private func path(_ names: String...) -> Expression { .keyPath(names) }
private func compare(
    _ left: Expression, by operation: FetchRequest.Comparison.Operator, to right: Expression,
    modifier: FetchRequest.Comparison.Modifier = .direct
) -> Predicate { .comparison(.init(left: left, operator: operation, right: right, modifier: modifier)) }
private func isNull(_ expression: Expression) -> Predicate { compare(expression, by: .equal, to: .constant(.null)) }
private func nested(_ count: Int, around innermost: Predicate, body: (Predicate, Int) -> Predicate) -> Predicate {
    (0..<count).reduce(innermost) { body($0, $1) }
}

@Suite("Checks of predicates")
struct PredicateCheckTests {
    @Test(
        "an invalid predicate is refused before the first record, and the error names the problem",
        arguments: [
            (compare(path("tracks", "length"), by: .greater, to: .constant(1)), .invalidRequest, "ANY or ALL"),
            (
                compare(path("title"), by: .equal, to: .constant("x"), modifier: .any), .invalidRequest,
                "ANY needs many values"
            ),
            (compare(path("title"), by: .equal, to: path("tracks", "name")), .invalidRequest, "right side of =="),
            (
                compare(path("tracks", "name"), by: .equal, to: path("tracks", "name"), modifier: .all),
                .invalidRequest,
                "right side of =="
            ),
            (
                compare(path("tracks", "name"), by: .greater, to: .constant(1), modifier: .any), .invalidRequest,
                "cannot be compared"
            ),
            (compare(path("tracks"), by: .contains, to: .constant("x")), .invalidRequest, "cannot be compared"),
            (compare(path("title"), by: .isIn, to: .aggregate([.constant(1)])), .invalidRequest, "a number constant"),
            (compare(path("price"), by: .isIn, to: .constant(1)), .invalidRequest, "right side of IN"),
            (compare(path("price"), by: .between, to: .constant(1)), .invalidRequest, "BETWEEN"),
            (compare(path("price"), by: .between, to: .aggregate([.constant(1)])), .invalidRequest, "BETWEEN"),
            (
                compare(path("price"), by: .between, to: .aggregate([.constant(1), .constant("x")])), .invalidRequest,
                "BETWEEN"
            ),
            (compare(path("price"), by: .like, to: .constant("x")), .invalidRequest, "'price' (decimal)"),
            (compare(path("price"), by: .less, to: .constant(.decimal(.pi))), .invalidRequest, "38 digits"),
            (
                compare(path("price"), by: .isIn, to: .aggregate([.constant(.decimal(.pi))])), .invalidRequest,
                "38 digits"
            ),
            (compare(path("artist"), by: .less, to: .evaluatedObject), .invalidRequest, "'artist' (object)"),
            (compare(path("title"), by: .matches, to: .constant("(")), .invalidRequest, "regular expression"),
            (
                compare(path("title"), by: .like, to: .constant(.string(String(repeating: "x", count: 4097)))),
                .limitExceeded,
                "4096"
            ),
            (isNull(path("titel")), .unknownProperty, "'title'"),
            (isNull(path("artist", "nam")), .unknownProperty, "'name'"),
            (isNull(path("title", "x")), .invalidRequest, "has no 'x'"),
            (isNull(.variable("x")), .invalidRequest, "'$x'"),
            (isNull(.function(.squareRoot, [])), .invalidRequest, "'sqrt' needs 1 value, not 0"),
            (isNull(.function(.add, [.constant(1)])), .invalidRequest, "'add:to:' needs 2 values, not 1"),
            (isNull(.function(.now, [.constant(1)])), .invalidRequest, "'now'"),
            (
                isNull(.function(.uppercase, [path("price")])), .invalidRequest,
                "'uppercase' cannot be applied to 'price'"
            ),
            (isNull(.function(.squareRoot, [path("title")])), .invalidRequest, "'sqrt'"),
            (isNull(.function(.add, [path("released"), path("released")])), .invalidRequest, "'add:to:'"),
            (isNull(.function(.subtract, [.constant(1), path("released")])), .invalidRequest, "'from:subtract:'"),
            (isNull(.function(.bitwiseAnd, [path("price"), .constant(1)])), .invalidRequest, "'bitwiseAnd:with:'"),
            (isNull(.function(.sum, [path("tracks", "name")])), .invalidRequest, "'sum'"),
            (isNull(.function(.squareRoot, [path("tracks", "length")])), .invalidRequest, "has many values"),
            (isNull(path("tracks", "@sum", "name")), .invalidRequest, "@sum"),
            (isNull(path("tracks", "@total", "length")), .invalidRequest, "@total"),
            (isNull(.path(of: path("title"), ["length"])), .invalidRequest, "needs an object"),
            (isNull(.path(of: path("tracks"), ["@max"])), .invalidRequest, "@max"),
            (isNull(.element(of: path("title"), .first)), .invalidRequest, "needs many values"),
            (isNull(.element(of: path("tracks", "tags"), .first)), .invalidRequest, "needs an order"),
            (
                isNull(.element(of: path("tracks"), .position(.constant("x")))), .invalidRequest,
                "must be a number"
            ),
            (
                isNull(.conditional(.constant(true), .constant(1), .constant("x"))), .invalidRequest, "TERNARY"
            ), (isNull(.subquery(path("title"), variable: "x", .constant(true))), .invalidRequest, "SUBQUERY"),
            (
                compare(.constant(1), by: .isIn, to: .setOperation(.union, .constant(1), path("tracks", "length"))),
                .invalidRequest,
                "UNION"
            ),
            (
                compare(.constant(1), by: .isIn, to: .aggregate([path("price"), path("title")])), .invalidRequest,
                "cannot be compared"
            ),
            (isNull(.aggregate([.constant(1)])), .invalidRequest, "ANY or ALL"),
            (isNull(.registered("test.none", [])), .invalidRequest, "'test.none'"),
        ] as [(FetchRequest.Predicate, StoreError.Code, String)])
    func refusesNonsense(_ predicate: FetchRequest.Predicate, code: StoreError.Code, words: String) throws {
        let library = try Library()
        for negated in [predicate, !predicate, .or([.constant(true), predicate])] {
            let failure = #expect(throws: StoreError.self) {
                try RecordFilter(FetchRequest("Album", where: negated), model: library.model)
            }
            #expect(failure?.code == code)
            #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
        }
    }

    @Test("depth, list length and nested SUBQUERY are accepted up to their limits and refused beyond")
    func limits() throws {
        let library = try Library()
        func code(_ predicate: FetchRequest.Predicate) -> StoreError.Code? {
            do throws(StoreError) {
                _ = try library.keysOfAlbums(predicate)
                return nil
            } catch {
                return error.code
            }
        }
        func negations(_ count: Int) -> Predicate { nested(count, around: .constant(true)) { inner, _ in .not(inner) } }
        #expect(code(negations(199)) == nil)
        #expect(code(negations(200)) == .invalidRequest)
        func sums(_ count: Int) -> Predicate {
            isNull((0..<count).reduce(path("price")) { inner, _ in .function(.add, [inner, .constant(1)]) })
        }
        #expect(code(sums(198)) == nil)
        #expect(code(sums(200)) == .invalidRequest)
        func list(_ count: Int) -> Predicate {
            compare(path("title"), by: .isIn, to: .aggregate((0..<count).map { .constant(.string("\($0)")) }))
        }
        #expect(code(list(100_000)) == nil)
        #expect(code(list(100_001)) == .limitExceeded)
        func subqueries(_ count: Int) -> Predicate {
            nested(count, around: .constant(true)) { inner, index in
                compare(
                    .path(of: .subquery(path("tracks"), variable: "v\(index)", inner), ["@count"]), by: .greater,
                    to: .constant(0))
            }
        }
        #expect(code(subqueries(16)) == nil)
        #expect(code(subqueries(17)) == .limitExceeded)
    }

    @Test("the deepest predicates are checked on a small stack")
    func smallStack() throws {
        let model = try Library().model
        let sum = (0..<197).reduce(path("price")) { inner, _ in .function(.add, [inner, path("price")]) }
        let negations = nested(198, around: isNull(path("price"))) { inner, _ in .not(inner) }
        onSmallStack {
            for predicate in [isNull(sum), negations] {
                #expect((try? RecordFilter(FetchRequest("Album", where: predicate), model: model)) != nil)
            }
        }
    }

    @Test("a predicate tree that is huge because its parts are shared is refused")
    func sharedParts() throws {
        let shared = (0..<98).reduce(path("price")) { inner, _ in .function(.add, [inner, inner]) }
        let failure = #expect(throws: StoreError.self) {
            try RecordFilter(FetchRequest("Album", where: isNull(shared)), model: Library().model)
        }
        #expect(failure?.code == .limitExceeded)
    }

    @Test(
        "a comparison of text with a null constant is not an error",
        arguments: [
            .contains, .beginsWith, .endsWith, .like, .matches, .isIn, .less, .greaterOrEqual,
        ] as [FetchRequest.Comparison.Operator])
    func nullSides(operation: FetchRequest.Comparison.Operator) throws {
        let library = try Library()
        #expect(try library.keys("Album", where: compare(path("title"), by: operation, to: .constant(.null))) == [])
        #expect(
            try library.keys("Album", where: !compare(path("title"), by: operation, to: .constant(.null))) == [1, 2, 3])
        #expect(try library.keys("Album", where: compare(.constant(.null), by: operation, to: path("title"))) == [])
    }
}

extension Library {
    fileprivate func keysOfAlbums(_ predicate: FetchRequest.Predicate) throws(StoreError) -> [Int64] {
        let matcher = try RecordFilter(FetchRequest("Album", where: predicate), model: model).matcher(over: graph)
        var keys: [Int64] = []
        try records.forEachRecord { (record) throws(StoreError) in
            if try matcher.matches(record) { keys.append(record.key) }
        }
        return keys
    }
}
