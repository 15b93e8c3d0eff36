import Foundation
import Testing

@testable import RoostCore
@testable import RoostQuery

@Suite("Rows of objects")
struct RowTests {
    typealias Property = FetchRequest.FetchedProperty

    @Test("a row request without columns returns every attribute")
    func everyAttribute() throws {
        var request = RowRequest(FetchRequest("Single"))
        let cursor = try RowSamples.library().rows(request)
        #expect(cursor.columns == ["any", "day", "isLive", "plays", "price", "seconds", "title", "side"])
        var batch = RowBatch()
        #expect(try cursor.next(into: &batch) && batch.count == 1)
        #expect(
            batch.values(at: 0) == [
                "title": "t6", "plays": 1, "seconds": 0.0, "price": .decimal(1.25), "isLive": false,
            ])
        #expect(try batch.value("plays", at: 0) == 1)
        #expect(throws: StoreError.self) { try batch.value("play", at: 0) }
        request.includesSubentities = false
        #expect(try RowSamples.rows(request, of: RowSamples.library()).count == 1)
    }

    @Test("a column can follow to-one relationships, and a relationship's value is an object ID")
    func paths() throws {
        let found = try RowSamples.rows {
            $0.propertiesToFetch = [
                "album.artist.name", "album", "album.artist", Property("me", expression: .evaluatedObject),
            ]
            $0.sortDescriptors = [.init("album.artist.name", ascending: false), .init("title", ascending: false)]
        }
        #expect(
            found.map { $0[0] } == ["Bob", "Bob", "Ann", "Ann", .null, .null, .null, .null])
        #expect(
            found[0] == [
                "Bob", .objectID(ObjectID("Album", key: 2)), .objectID(ObjectID("Artist", key: 2)),
                .objectID(ObjectID("Track", key: 4)),
            ])
        #expect(found[6][3] == .objectID(ObjectID("Single", key: 6)))
    }

    @Test("offset and limit count distinct rows if a request asks for distinct rows")
    func windows() throws {
        let albums: [Value] = try RowSamples.rows { $0.propertiesToFetch = ["album.title"] }.map { $0[0] }
        #expect(albums == ["Red", "Red", "blue", "blue", "Green", "Green", .null, .null])
        for offset in 0..<5 {
            #expect(
                try RowSamples.rows {
                    $0.propertiesToFetch = ["album.title"]
                    ($0.fetchOffset, $0.fetchLimit) = (offset, 2)
                }.map { $0[0] } == Array(albums.dropFirst(offset).prefix(2)))
            #expect(
                try RowSamples.rows {
                    $0.propertiesToFetch = ["album.title"]
                    $0.returnsDistinctResults = true
                    ($0.fetchOffset, $0.fetchLimit) = (offset, 2)
                }.map { $0[0] } == Array((["Red", "blue", "Green", .null] as [Value]).dropFirst(offset).prefix(2)))
        }
        let zeros = try RowSamples.rows {
            $0.propertiesToFetch = ["seconds"]
            $0.returnsDistinctResults = true
        }.map { $0[0] }
        #expect(zeros == [0.5, .double(.nan), 1.5, .null, -0.0, 2.0])
    }

    @Test("rows sort by a computed column, with and without a window")
    func computedOrder() throws {
        func titles(limit: Int?, offset: Int, distinct: Bool = false) throws -> [Value] {
            try RowSamples.rows {
                $0.propertiesToFetch = [
                    Property("parity", expression: .function(.modulus, [.keyPath(["plays"]), .constant(2)])), "title",
                ]
                $0.sortDescriptors = [
                    .init("parity", ascending: false), .init("album.title", options: .caseInsensitive),
                ]
                $0.returnsDistinctResults = distinct
                ($0.fetchLimit, $0.fetchOffset) = (limit, offset)
            }.map { $0[1] }
        }
        let all: [Value] = ["t4", "t5", "t6", "t1", "t2", "t7", "t8", "t3"]
        #expect(try titles(limit: nil, offset: 0) == all)
        #expect(try titles(limit: nil, offset: 0, distinct: true) == all)
        for offset in 0..<9 {
            #expect(try titles(limit: 3, offset: offset) == Array(all.dropFirst(offset).prefix(3)))
            #expect(try titles(limit: 3, offset: offset, distinct: true) == Array(all.dropFirst(offset).prefix(3)))
        }
    }

    @Test("a function over the many values of one object is not an aggregate")
    func perObject() throws {
        var request = RowRequest(FetchRequest("Album", sortedBy: [.init("title", options: .caseInsensitive)]))
        request.propertiesToFetch = [
            "title", Property("n", expression: RowSamples.function(.count, of: "tracks")),
            Property("sum", expression: .keyPath(["tracks", "@sum", "plays"])),
        ]
        let snapshot = try RowSamples.library()
        #expect(
            try RowSamples.rows(request, of: snapshot) == [
                ["blue", 2, 7], ["Green", 2, .decimal(Decimal(string: "9223372036854775808") ?? 0)], ["Red", 2, 8],
            ])
        request.sortDescriptors = []
        request.propertiesToFetch = [
            Property("most", expression: .function(.maximum, [RowSamples.function(.count, of: "tracks")]))
        ]
        #expect(try RowSamples.rows(request, of: snapshot) == [[2]])
    }

    @Test("fetched object IDs come in the order of the request")
    func objectIDs() throws {
        let ids = try RowSamples.library().objectIDs(
            FetchRequest("Track", sortedBy: [.init("plays", ascending: false)], limit: 3))
        #expect(ids == [ObjectID("Track", key: 5), ObjectID("Track", key: 4), ObjectID("Track", key: 2)])
    }
}
