import Foundation
import RoostCore
import RoostFiles
import RoostSQLite
import Testing

@Suite("Compaction of SQLite stores")
struct CompactionTests {
    private static let count: Int64 = 60_000

    @Test("compaction is refused if the SQLite file gets a second name meanwhile")
    func refusesSecondName() throws {
        let directory = try TemporaryDirectory()
        let type = SQLiteStoreType()
        let store = try type.create(directory.location("s"), model: try Models.note(), options: StoreOptions())
        // With fewer rows, SQLite would finish the rebuild without a check for cancellation.
        let loader = try store.bulkLoader(BulkLoadOptions())
        for start in stride(from: Int64(0), to: Self.count, by: 1000) {
            var batch = RecordBatch(model: store.model)
            for key in start + 1...start + 1000 {
                try batch.append(ObjectID("Note", key: key), version: 1, values: ["text": "text"])
            }
            try loader.append(batch)
        }
        _ = try loader.finish()
        try store.close()
        let file = try directory.bytes("s")
        let count = Mutex(0)
        let (path, other) = (directory.file("s"), directory.file("other"))
        let error = #expect(throws: StoreError.self) {
            _ = try type.compactWhileOpen(directory.location("s"), options: StoreOptions()) {
                // The second check comes during the rebuild.
                count.withLock { $0 += 1 }
                if count.withLock({ $0 }) == 2 { _ = link(path, other) }
                return false
            }
        }
        #expect(error?.code == .hasOtherNames)
        #expect(try directory.bytes("s") == file)
        try FileManager.default.removeItem(atPath: other)
        let again = try type.open(directory.location("s"), options: StoreOptions())
        #expect(try again.records("Note").count == Int(Self.count))
        #expect(try again.findings() == [])
        try again.close()
    }
}
