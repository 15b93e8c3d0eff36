import RoostCore
import Testing

@testable import RoostConformance

@Suite("Printed code of query failures")
struct QueryCodeTests {
    private func code(_ request: RowRequest, expecting answer: QueryLane.Answer) throws -> String {
        let difference = QueryLane.Difference(subject: "the answer", expected: "\(answer)", actual: "[]")
        return QueryShrinker.Failure(
            store: "memory", world: try QueryWorld(seed: 1, hasConstraints: true), request: request,
            difference: difference, answer: answer
        ).swiftCode
    }

    @Test("printed code expects the keys of plain evaluation")
    func keys() throws {
        let code = try code(RowRequest(FetchRequest("Person")), expecting: .keys([2, 3]))
        #expect(code.hasSuffix("#expect(try store.snapshot().keys(request) == [2, 3])"))
    }

    @Test("printed code reads the rows of a cursor, and expects the rows of plain evaluation")
    func rows() throws {
        let request = RowRequest(FetchRequest("Person"), propertiesToFetch: [.init("age")])
        let code = try code(request, expecting: .rows([[.int(7)], [.null]]))
        #expect(code.contains(".init(\"age\", expression: .keyPath([\"age\"]))"))
        #expect(code.contains("while try cursor.next(into: &batch) {"))
        #expect(code.hasSuffix("#expect(rows == [[.int(7)], [.null]])"))
    }

    @Test("printed code of an invalid request expects an error")
    func refusal() throws {
        let code = try code(
            RowRequest(FetchRequest("Person")), expecting: .refusal(.unknownProperty, "no such property"))
        #expect(code.hasSuffix("#expect(throws: StoreError.self) { try store.snapshot().keys(request) }"))
    }
}
