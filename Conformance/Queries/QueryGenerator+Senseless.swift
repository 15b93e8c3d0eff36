internal import Foundation
internal import RoostCore

extension QueryGenerator {
    /// Returns a request that every store must refuse with the same code.
    ///
    /// For example, it has an unknown name or a wrong type, or exceeds a limit.
    mutating func senselessRequest() -> FetchRequest {
        var request = FetchRequest("Person", where: senseless())
        // The error may be in a part of the predicate that evaluation would not reach.
        switch random.below(4) {
        case 0:
            if let entity = model.entity(request.entity) {
                request.predicate = .and([
                    .constant(false), predicate(Scope(entity: entity, depth: 1)), request.predicate ?? .constant(true),
                ])
            }
        case 1: request.predicate = request.predicate.map { .not(.or([.constant(true), $0])) }
        case 2:
            request.predicate = request.predicate.map {
                .comparison(
                    .init(
                        left: .conditional($0, .constant(.int(1)), .constant(.int(2))), operator: .equal,
                        right: .constant(.int(1))))
            }
        default: break
        }
        if random.oneIn(12) {
            request = FetchRequest(
                "Person", sortedBy: [.init(random.pick(["reports", "tags.label", "nothing", "boss", "coded"]))])
        }
        return request
    }

    private mutating func senseless() -> Predicate { random.pick(Self.senselessPaths + Self.senselessCalls) }

    private static let one = Expression.constant(.int(1))
    private static let text = Expression.constant(.string("x"))

    private static func path(_ text: String) -> Expression { .keyPath(text.split(separator: ".").map(String.init)) }

    private static func compare(
        _ left: Expression, comparison: Comparison.Operator, right: Expression,
        modifier: Comparison.Modifier = .direct
    ) -> Predicate { .comparison(.init(left: left, operator: comparison, right: right, modifier: modifier)) }

    /// Comparisons with wrong properties, types or lists, and with invalid or too long patterns.
    private static let senselessPaths: [Predicate] = [
        compare(path("nothing"), comparison: .equal, right: one),
        compare(path("boss.nothing"), comparison: .equal, right: one),
        compare(path("name.length"), comparison: .equal, right: one),
        compare(path("home.nothing"), comparison: .equal, right: text),
        compare(path("age"), comparison: .equal, right: text), compare(path("name"), comparison: .less, right: one),
        compare(path("born"), comparison: .equal, right: one),
        compare(path("ident"), comparison: .equal, right: text),
        compare(path("boss"), comparison: .equal, right: one),
        compare(path("boss"), comparison: .less, right: path("boss")),
        compare(path("coded"), comparison: .less, right: path("coded")),
        compare(path("age"), comparison: .contains, right: text),
        compare(path("name"), comparison: .beginsWith, right: one),
        compare(path("age"), comparison: .like, right: text),
        compare(path("age"), comparison: .matches, right: text),
        compare(path("name"), comparison: .matches, right: .constant(.string("[a"))),
        compare(path("name"), comparison: .matches, right: .constant(.string("a)(b"))),
        compare(path("name"), comparison: .like, right: .constant(.string(String(repeating: "a", count: 5000)))),
        compare(path("name"), comparison: .matches, right: .constant(.string(String(repeating: "a", count: 5000)))),
        compare(path("reports.name"), comparison: .equal, right: text),
        compare(path("reports"), comparison: .equal, right: path("boss")),
        compare(path("reports.age"), comparison: .less, right: one),
        compare(path("age"), comparison: .between, right: .aggregate([one])),
        compare(path("age"), comparison: .between, right: .aggregate([one, one, one])),
        compare(path("age"), comparison: .between, right: one),
        compare(path("age"), comparison: .isIn, right: one),
        compare(path("age"), comparison: .isIn, right: .aggregate([one, text])),
        compare(path("reports.age"), comparison: .equal, right: text, modifier: .any),
        compare(path("reports.nothing"), comparison: .equal, right: text, modifier: .any),
    ]

    /// Calls with wrong arguments, other invalid expressions, and a predicate nested too deep.
    private static let senselessCalls: [Predicate] = [
        compare(.function(.squareRoot, [text]), comparison: .equal, right: one),
        compare(.function(.squareRoot, []), comparison: .equal, right: one),
        compare(.function(.squareRoot, [one, one]), comparison: .equal, right: one),
        compare(.function(.add, [one]), comparison: .equal, right: one),
        compare(.function(.add, [text, one]), comparison: .equal, right: one),
        compare(.function(.length, [one]), comparison: .equal, right: one),
        compare(.function(.uppercase, [one]), comparison: .equal, right: text),
        compare(.function(.sum, [path("reports.name")]), comparison: .equal, right: one),
        compare(.function(.bitwiseAnd, [text, one]), comparison: .equal, right: one),
        compare(.function(.negate, [path("born")]), comparison: .equal, right: one),
        compare(path("reports.@sum.name"), comparison: .equal, right: one),
        compare(path("reports.@nothing.age"), comparison: .equal, right: one),
        compare(path("reports.@sum"), comparison: .equal, right: one),
        compare(path("@count"), comparison: .equal, right: one),
        compare(path("age.@sum"), comparison: .equal, right: one),
        compare(path("reports.@count.age"), comparison: .equal, right: one),
        compare(.variable("x"), comparison: .equal, right: one),
        compare(.path(of: .variable("x"), ["age"]), comparison: .equal, right: one),
        compare(.registered("noSuchFunction", [one]), comparison: .equal, right: one),
        compare(.element(of: path("reports"), .first), comparison: .equal, right: path("boss")),
        compare(.element(of: path("name"), .first), comparison: .equal, right: text),
        compare(.subquery(path("name"), variable: "x", .constant(true)), comparison: .isIn, right: path("name")),
        compare(
            .path(
                of: .subquery(
                    path("reports"), variable: "x",
                    compare(.path(of: .variable("x"), ["nothing"]), comparison: .equal, right: one)),
                ["@count"]), comparison: .equal, right: one),
        compare(.conditional(.constant(true), one, text), comparison: .equal, right: one),
        compare(path("home"), comparison: .equal, right: text),
        compare(path("home"), comparison: .less, right: path("home")),
        compare(.constant(.string("x")), comparison: .equal, right: .constant(.int(1))),
        compare(path("name"), comparison: .notEqual, right: .constant(.bool(true))),
        (0..<210).reduce(compare(path("age"), comparison: .equal, right: one)) { inner, _ in .not(inner) },
    ]
}
