import Foundation
import Testing

@testable import RoostCore
@testable import RoostQuery

/// A snapshot of a batch, which finds everything by scanning.
final class BatchSnapshot: ScanningSnapshot {
    let model: ManagedObjectModel
    private let batch: RecordBatch

    init(_ batch: RecordBatch) { (self.batch, model) = (batch, batch.model) }

    func requireOpen() throws(StoreError) {}
    func close() {}

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        let wanted = try model.requireEntity(entity)
        return Cursor(batch) { wanted.includes($0.entityNumber) && $0.key > id?.key ?? 0 }
    }

    private final class Cursor: RecordCursor {
        private let batch: RecordBatch
        private let isWanted: (RecordReader) -> Bool
        private var index = 0

        init(_ batch: RecordBatch, isWanted: @escaping (RecordReader) -> Bool) {
            (self.batch, self.isWanted) = (batch, isWanted)
        }

        func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
            batch.removeAll()
            while index < self.batch.count, batch.count < 100 {
                self.batch.withRecord(at: index) { if isWanted($0) { batch.append($0) } }
                index += 1
            }
            return !batch.isEmpty
        }
    }
}

/// A snapshot that shows records in place, and can fail at one of them.
final class ShowingSnapshot: ScanningSnapshot, VisitableSnapshot {
    let model: ManagedObjectModel
    private let base: BatchSnapshot
    private let damagedKey: Int64?

    init(_ base: BatchSnapshot, damagedKey: Int64? = nil) {
        (self.base, model, self.damagedKey) = (base, base.model, damagedKey)
    }

    func requireOpen() throws(StoreError) {}
    func close() {}

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try base.records(of: entity, after: id)
    }

    func makeVisitor(_ request: CheckedFetchRequest) throws(StoreError) -> (any RecordVisitor)? {
        var all = RecordBatch(model: model)
        var part = RecordBatch(model: model)
        let cursor = try base.fetch(request)
        while try cursor.next(into: &part) { for index in 0..<part.count { all.append(part, at: index) } }
        return Visitor(all, damagedKey: damagedKey)
    }

    private final class Visitor: RecordVisitor {
        private let records: RecordBatch
        private let damagedKey: Int64?
        private var index = 0

        init(_ records: RecordBatch, damagedKey: Int64?) { (self.records, self.damagedKey) = (records, damagedKey) }

        func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
            while index < records.count {
                index += 1
                guard records.key(at: index - 1) != damagedKey else {
                    throw StoreError(.corrupted, "damaged", damagedObject: records.id(at: index - 1))
                }
                guard records.withRecord(at: index - 1, body) else { return true }
            }
            return false
        }
    }
}

/// A library of tracks, and functions that request its rows.
enum RowSamples {
    static let model: Result<ManagedObjectModel, any Error> = Result {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Track",
                attributes: [
                    .init("title", type: .string), .init("plays", type: .integer64), .init("seconds", type: .double),
                    .init("price", type: .decimal), .init("isLive", type: .boolean), .init("day", type: .date),
                    .init("any", type: .objectID),
                ], relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
            EntityDescription(
                "Single", superentity: "Track", attributes: [.init("side", type: .string)]),
            EntityDescription(
                "Album", attributes: [.init("title", type: .string), .init("year", type: .integer16)],
                relationships: [
                    .toMany("tracks", to: "Track", inverse: "album"), .toOne("artist", to: "Artist", inverse: "albums"),
                ]),
            EntityDescription(
                "Artist", attributes: [.init("name", type: .string)],
                relationships: [.toMany("albums", to: "Album", inverse: "artist")]),
        ])
    }

    /// Returns two artists, three albums (the third without artist) and eight tracks (the last two
    /// without album).
    static func library() throws -> BatchSnapshot {
        var batch = RecordBatch(model: try model.get())
        for (key, name) in ["Ann", "Bob"].enumerated() {
            try batch.append(ObjectID("Artist", key: Int64(key + 1)), values: ["name": .string(name)])
        }
        for (key, artist) in ([1, 2, nil] as [Int64?]).enumerated() {
            try batch.append(
                ObjectID("Album", key: Int64(key + 1)),
                values: [
                    "title": .string(["Red", "blue", "Green"][key]), "year": .int(Int64(2000 + key % 2)),
                    "artist": artist.map { .objectID(ObjectID("Artist", key: $0)) } ?? .null,
                ])
        }
        let plays: [Value] = [3, 5, .null, 7, .int(.max), 1, 2, 2]
        let seconds: [Value] = [0.5, .double(.nan), 1.5, .null, -0.0, 0.0, 2.0, 2.0]
        for (key, album) in ([1, 1, 2, 2, 3, 3, nil, nil] as [Int64?]).enumerated() {
            try batch.append(
                ObjectID(key == 5 ? "Single" : "Track", key: Int64(key + 1)),
                values: [
                    "title": .string("t\(key + 1)"), "plays": plays[key], "seconds": seconds[key],
                    "price": key == 3 ? .null : .decimal(Decimal(key) / 4), "isLive": .bool(key % 2 == 0),
                    "album": album.map { .objectID(ObjectID("Album", key: $0)) } ?? .null,
                ])
        }
        return BatchSnapshot(batch)
    }

    static func rows(_ request: RowRequest, of snapshot: any StoreSnapshot) throws -> [[Value]] {
        let cursor = try snapshot.rows(request)
        var rows: [[Value]] = []
        var batch = RowBatch()
        while try cursor.next(into: &batch) {
            #expect(batch.columns == cursor.columns && batch.values.count == batch.count * batch.columns.count)
            for row in 0..<batch.count { rows.append(batch.columns.indices.map { batch[row, $0] }) }
        }
        #expect(try !cursor.next(into: &batch) && batch.isEmpty)
        return rows
    }

    /// Returns the rows of a request for tracks of the library.
    static func rows(_ configure: (inout RowRequest) -> Void) throws -> [[Value]] {
        var request = RowRequest(FetchRequest("Track"))
        configure(&request)
        return try rows(request, of: library())
    }

    static func refusal(_ configure: (inout RowRequest) -> Void) throws -> StoreError {
        var request = RowRequest(FetchRequest("Track"))
        configure(&request)
        let snapshot = try library()
        return try #require(throws: StoreError.self) { _ = try snapshot.rows(request) }
    }

    static func function(_ function: FetchRequest.Function, of path: String) -> FetchRequest.Expression {
        .function(function, [.keyPath(path.names)])
    }
}
