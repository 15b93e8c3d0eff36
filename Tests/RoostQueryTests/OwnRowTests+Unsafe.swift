import RoostCore
import RoostQuery
import Testing

/// Copies of records outside a batch, with any alignment.
private final class RowPage {
    struct Row {
        let start: UnsafeRawPointer
        let byteCount: Int
        let key: Int64
    }

    private let memory: UnsafeMutableRawBufferPointer
    private(set) var rows: [Row] = []

    /// Copies the records of a batch, with negative keys like those of unsaved objects.
    init(_ batch: RecordBatch) {
        memory = .allocate(byteCount: batch.byteCount * 2 + 64, alignment: 16)
        var offset = 1
        batch.forEachRecord { record in
            UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: record.bytes)
            if let base = memory.baseAddress {
                rows.append(Row(start: base + offset, byteCount: record.bytes.count, key: -record.key))
            }
            offset += record.bytes.count + 3
        }
    }

    deinit { memory.deallocate() }
}

@Suite("Records in a caller's memory")
struct OwnRowTests {
    private static let names: [String?] = ["pear", "Apple", nil, "fig", "apple", "quince", "", "date"]

    private static func things() throws -> RecordBatch {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Thing", attributes: [.init("name", type: .string), .init("size", type: .integer64)])
        ])
        var batch = RecordBatch(model: model)
        for (index, name) in names.enumerated() {
            try batch.append(
                ObjectID("Thing", key: Int64(index + 1)),
                values: ["name": name.map { .string($0) } ?? .null, "size": .int(Int64(index % 3))])
        }
        return batch
    }

    private static func reader(_ row: RowPage.Row, model: ManagedObjectModel) -> RecordReader {
        RecordReader(row: row.start, byteCount: row.byteCount, key: row.key, model: model)
    }

    @Test("records in a caller's memory are filtered and sorted as in a batch")
    func filteredAndSorted() throws {
        let batch = try Self.things()
        let model = batch.model
        let page = RowPage(batch)
        let request = FetchRequest(
            "Thing", where: .greater("size", than: 0), sortedBy: [.init("name", ascending: false), .init("size")])
        let matcher = try RecordFilter(request, model: model).matcher(over: nil)
        let order = try RecordSortOrder(request, model: model)
        let wanted = try page.rows.filter { try matcher.matches(Self.reader($0, model: model)) }
            .sorted { order.precedes(Self.reader($0, model: model), Self.reader($1, model: model)) }
        // Quince, date, apple, Apple, then no name: null comes last in descending order.
        #expect(wanted.map(\.key) == [-6, -8, -5, -2, -3])
        let sizes = wanted.map { Self.reader($0, model: model) }.map { $0.values()["size"] }
        #expect(sizes == [2, 1, 1, 1, 2])
    }

    @Test("a computed condition filters records in a caller's memory")
    func evaluated() throws {
        let batch = try Self.things()
        let page = RowPage(batch)
        let request = FetchRequest(
            "Thing",
            where: .comparison(
                .init(left: .function(.length, [.keyPath(["name"])]), operator: .greater, right: .constant(4))))
        let matcher = try RecordFilter(request, model: batch.model).matcher(over: nil)
        let keys = try page.rows.filter { try matcher.matches(Self.reader($0, model: batch.model)) }.map(\.key)
        #expect(keys == [-2, -5, -6])
    }

    @Test("a malformed record in a caller's memory is refused when it is checked")
    func checked() throws {
        let batch = try Self.things()
        let page = RowPage(batch)
        let row = try #require(page.rows.first)
        let reader = try RecordReader(
            checkingRow: row.start, byteCount: row.byteCount, key: row.key, model: batch.model)
        #expect(try reader.value("name") == "pear")
        #expect(reader.id == ObjectID("Thing", key: -1))
        for byteCount in 0..<row.byteCount {
            let error = #expect(throws: StoreError.self) {
                try RecordReader(checkingRow: row.start, byteCount: byteCount, key: row.key, model: batch.model)
            }
            #expect(error?.code == .corrupted)
        }
    }
}
