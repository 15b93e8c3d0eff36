import Testing

@testable import RoostCore
@testable import RoostQuery

/// A request for rows that is refused, and words of the error's message.
struct RefusedRows: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: StoreError.Code
    let words: String
    let configure: @Sendable (inout RowRequest) -> Void

    init(
        _ description: String, code: StoreError.Code = .invalidRequest, naming words: String,
        configure: @escaping @Sendable (inout RowRequest) -> Void
    ) {
        testDescription = description
        self.code = code
        self.words = words
        self.configure = configure
    }

    /// Expects the error before the first row, with or without groups.
    func expect(isGrouped: Bool) throws {
        let error = try RowSamples.refusal {
            $0.propertiesToGroupBy = isGrouped ? [.keyPath(["album"])] : []
            configure(&$0)
        }
        #expect(error.code == code, "\(error)")
        #expect(error.message.contains(words), "\(error)")
    }
}

@Suite("Refused requests for rows")
struct RefusedRowTests {
    typealias Expression = FetchRequest.Expression
    typealias Property = FetchRequest.FetchedProperty

    static let columns: [RefusedRows] = [
        RefusedRows("an unknown column", code: .unknownProperty, naming: "title") { $0.propertiesToFetch = ["titel"] },
        RefusedRows("a property beside an aggregate", naming: "'title'") {
            $0.propertiesToFetch = [Property("n", expression: RowSamples.function(.count, of: "plays")), "title"]
        },
        RefusedRows("a sum of texts", naming: "sum") {
            $0.propertiesToFetch = [Property("n", expression: RowSamples.function(.sum, of: "title"))]
        },
        RefusedRows("a sum of a sum", naming: "sum(plays)") {
            $0.propertiesToFetch = [
                Property("n", expression: .function(.sum, [RowSamples.function(.sum, of: "plays")]))
            ]
        },
        RefusedRows("two columns of one name", naming: "two columns 'album'") {
            $0.propertiesToFetch = ["album", Property("album", expression: .evaluatedObject)]
        },
        RefusedRows("a column that nests 5000 deep", naming: "200") {
            let deep = RefusedRowTests.nested(.negate, count: 5000)
            $0.propertiesToFetch = [Property("deep", expression: deep)]
        },
        RefusedRows("150 sums of sums", naming: "aggregate") {
            let sums = RefusedRowTests.nested(.sum, count: 150)
            $0.propertiesToFetch = [Property("sums", expression: sums)]
        },
    ]

    static let groups: [RefusedRows] = [
        RefusedRows("an order by what is not grouped", naming: "'title'") { $0.sortDescriptors = [.init("title")] },
        RefusedRows("an order by a reference", naming: "'album'") { $0.sortDescriptors = [.init("album")] },
        RefusedRows("a variable with the name of a key", naming: "the variable '$album' has no value; a variable must")
        {
            $0.propertiesToFetch = [Property("n", expression: .variable("album"))]
        },
        RefusedRows("a condition on what is not grouped", naming: "'title'") {
            $0.havingPredicate = .equal("title", to: "x")
        },
        RefusedRows("groups by an aggregate", naming: "count(title)") {
            $0.propertiesToGroupBy = [RowSamples.function(.count, of: "title")]
        },
    ]

    static let objects: [RefusedRows] = [
        RefusedRows("a condition on groups, but no groups", naming: "groups") { $0.havingPredicate = .constant(true) },
        RefusedRows("a path to many values", naming: "'tracks.title'") {
            $0.entity = "Album"
            $0.propertiesToFetch = ["tracks.title"]
        },
        RefusedRows("a to-many relationship", naming: "'tracks'") {
            $0.entity = "Album"
            $0.propertiesToFetch = ["tracks"]
        },
        RefusedRows("a negative limit", naming: "negative") { $0.fetchLimit = -1 },
        RefusedRows("an unknown entity", code: .unknownEntity, naming: "Trak") { $0.entity = "Trak" },
    ]

    private static func nested(_ function: FetchRequest.Function, count: Int) -> Expression {
        (0..<count).reduce(Expression.keyPath(["plays"])) { inner, _ in .function(function, [inner]) }
    }

    @Test(
        "invalid columns are refused before the first row, and the error names the problem", arguments: columns,
        [false, true])
    func refusesColumns(refused: RefusedRows, isGrouped: Bool) throws {
        try refused.expect(isGrouped: isGrouped)
    }

    @Test("invalid groups are refused before the first row, and the error names the problem", arguments: groups)
    func refusesGroups(refused: RefusedRows) throws {
        try refused.expect(isGrouped: true)
    }

    @Test("an invalid request for rows without groups is refused before the first row", arguments: objects)
    func refusesObjects(refused: RefusedRows) throws {
        try refused.expect(isGrouped: false)
    }

    @Test(
        "a negative offset or limit of rows is refused, with and without groups",
        arguments: [(-1, nil), (nil, -1), (3, -7)] as [(limit: Int?, offset: Int?)], [false, true])
    func negativeWindows(window: (limit: Int?, offset: Int?), isGrouped: Bool) throws {
        for isDistinct in [false, true] {
            try RefusedRows("a negative window", naming: "negative") {
                let column: Property = isGrouped ? "album" : "title"
                $0.propertiesToFetch = [column]
                $0.returnsDistinctResults = isDistinct
                ($0.fetchLimit, $0.fetchOffset) = (window.limit, window.offset)
            }.expect(isGrouped: isGrouped)
        }
    }
}
