import Foundation
import RoostCore
import RoostQuery
import Testing

@Suite("The page about predicates")
struct PredicatePageTests {
    let page: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        page = try String(contentsOf: root.appending(path: "docs/predicates.md"), encoding: .utf8)
    }

    @Test("docs/predicates.md names every function, operator, cast and collection operator")
    func complete() {
        for function in FetchRequest.Function.allCases {
            #expect(page.contains("`\(function.rawValue)("), "\(function.rawValue)")
        }
        for type in FetchRequest.CastType.allCases { #expect(page.contains(type.rawValue), "\(type)") }
        for name in FetchRequest.CollectionOperator.allCases { #expect(page.contains(name.rawValue), "\(name)") }
        for operation in FetchRequest.SetOperation.allCases {
            #expect(page.contains(operation.rawValue), "\(operation)")
        }
        for word in [
            "BETWEEN", "IN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "ANY", "SOME", "ALL", "NONE",
            "SUBQUERY",
            "TERNARY", "FUNCTION", "CAST", "TRUEPREDICATE", "SELF", "[FIRST]", "[LAST]", "[SIZE]", "%@", "%K",
        ] { #expect(page.contains(word), "\(word)") }
    }

    @Test("every example of docs/predicates.md is read and printed")
    func examples() throws {
        var count = 0
        for block in page.components(separatedBy: "```predicates\n").dropFirst() {
            for line in block.prefix(upTo: block.firstRange(of: "```")?.lowerBound ?? block.endIndex).split(
                separator: "\n")
            {
                let predicate = try FetchRequest.Predicate(format: String(line))
                #expect(try FetchRequest.Predicate(format: predicate.format()) == predicate, "\(line)")
                count += 1
            }
        }
        #expect(count > 15)
    }
}
