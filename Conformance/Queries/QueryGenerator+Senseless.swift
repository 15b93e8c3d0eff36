internal import Foundation
internal import RoostCore

extension QueryGenerator {
    /// Returns a request that every store must refuse with the same code: wrong names, types,
    /// counts or places.
    mutating func senselessRequest() -> FetchRequest {
        var request = FetchRequest("Person", where: senseless())
        // The error may be in a part of the predicate that no object would evaluate.
        switch random.below(4) {
        case 0:
            let scope = Scope(entity: model.entities[0], depth: 0)
            if let entity = model.entity(request.entity) {
                request.predicate = .and([
                    .constant(false), predicate(Scope(entity: entity, depth: 1)), request.predicate ?? .constant(true),
                ])
            }
            _ = scope
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

    private mutating func senseless() -> Predicate {
        func path(_ text: String) -> Expression { .keyPath(text.split(separator: ".").map(String.init)) }
        func compare(
            _ left: Expression, _ comparison: Comparison.Operator, _ right: Expression,
            _ modifier: Comparison.Modifier = .direct
        ) -> Predicate { .comparison(.init(left: left, operator: comparison, right: right, modifier: modifier)) }
        let (one, text): (Expression, Expression) = (.constant(.int(1)), .constant(.string("x")))
        let choices: [Predicate] = [
            compare(path("nothing"), .equal, one), compare(path("boss.nothing"), .equal, one),
            compare(path("name.length"), .equal, one), compare(path("home.nothing"), .equal, text),
            compare(path("age"), .equal, text), compare(path("name"), .less, one),
            compare(path("born"), .equal, one), compare(path("ident"), .equal, text),
            compare(path("boss"), .equal, one), compare(path("boss"), .less, path("boss")),
            compare(path("coded"), .less, path("coded")), compare(path("age"), .contains, text),
            compare(path("name"), .beginsWith, one), compare(path("age"), .like, text),
            compare(path("age"), .matches, text), compare(path("name"), .matches, .constant(.string("[a"))),
            compare(path("name"), .matches, .constant(.string("a)(b"))),
            compare(path("name"), .like, .constant(.string(String(repeating: "a", count: 5000)))),
            compare(path("name"), .matches, .constant(.string(String(repeating: "a", count: 5000)))),
            compare(path("reports.name"), .equal, text), compare(path("reports"), .equal, path("boss")),
            compare(path("reports.age"), .less, one), compare(path("age"), .between, .aggregate([one])),
            compare(path("age"), .between, .aggregate([one, one, one])), compare(path("age"), .between, one),
            compare(path("age"), .isIn, one), compare(path("age"), .isIn, .aggregate([one, text])),
            compare(path("reports.age"), .equal, text, .any), compare(path("reports.nothing"), .equal, text, .any),
            compare(.function(.squareRoot, [text]), .equal, one), compare(.function(.squareRoot, []), .equal, one),
            compare(.function(.squareRoot, [one, one]), .equal, one), compare(.function(.add, [one]), .equal, one),
            compare(.function(.add, [text, one]), .equal, one), compare(.function(.length, [one]), .equal, one),
            compare(.function(.uppercase, [one]), .equal, text),
            compare(.function(.sum, [path("reports.name")]), .equal, one),
            compare(.function(.bitwiseAnd, [text, one]), .equal, one),
            compare(.function(.negate, [path("born")]), .equal, one),
            compare(path("reports.@sum.name"), .equal, one), compare(path("reports.@nothing.age"), .equal, one),
            compare(path("reports.@sum"), .equal, one), compare(path("@count"), .equal, one),
            compare(path("age.@sum"), .equal, one), compare(path("reports.@count.age"), .equal, one),
            compare(.variable("x"), .equal, one), compare(.path(of: .variable("x"), ["age"]), .equal, one),
            compare(.registered("noSuchFunction", [one]), .equal, one),
            compare(.element(of: path("reports"), .first), .equal, path("boss")),
            compare(.element(of: path("name"), .first), .equal, text),
            compare(.subquery(path("name"), variable: "x", .constant(true)), .isIn, path("name")),
            compare(
                .path(
                    of: .subquery(
                        path("reports"), variable: "x", compare(.path(of: .variable("x"), ["nothing"]), .equal, one)),
                    ["@count"]), .equal, one),
            compare(.conditional(.constant(true), one, text), .equal, one),
            compare(path("home"), .equal, text), compare(path("home"), .less, path("home")),
            compare(.constant(.string("x")), .equal, .constant(.int(1))),
            compare(path("name"), .notEqual, .constant(.bool(true))),
            (0..<210).reduce(compare(path("age"), .equal, one)) { inner, _ in .not(inner) },
        ]
        return random.pick(choices)
    }
}
