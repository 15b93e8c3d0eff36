import Foundation
import RoostCore
import RoostKeyValue
import RoostMemory
import Testing

@Suite("Generations of the key-value engine")
struct GenerationTests {
    @Test("a key-value store refuses commits and loads after the highest generation")
    func refusesAfterHighestGeneration() throws {
        let model = try musicModel()
        let store = try MemoryStoreType().create(
            StoreLocation(type: "memory", path: ""), model: model, options: StoreOptions())
        try #require(store as? KeyValueStore).setGeneration(Generation(number: .max - 1), lastKeys: [:])
        func insert(_ key: Int64) throws -> Generation {
            var changes = ChangeSet(model: model)
            try changes.insert(ObjectID("Chart", key: key), values: [:])
            return try store.commit(changes).generation
        }
        #expect(try insert(1).number == .max)
        for _ in 0..<2 {
            let error = try #require(throws: StoreError.self) { _ = try insert(2) }
            #expect(error.code == .limitExceeded, "\(error)")
        }
        let loading = try #require(throws: StoreError.self) {
            let loader = try store.bulkLoader(BulkLoadOptions())
            var records = RecordBatch(model: model)
            try records.append(ObjectID("Chart", key: 2), version: 1, values: [:])
            try loader.append(records)
            _ = try loader.finish()
        }
        #expect(loading.code == .limitExceeded, "\(loading)")
        let snapshot = try store.snapshot()
        #expect(try snapshot.recordedTally()?.generation.number == .max)
        #expect(try snapshot.count(FetchRequest("Chart")) == 1)
        snapshot.close()
        // An empty change set needs no new generation.
        #expect(try store.commit(ChangeSet(model: model)).generation.number == .max)
    }
}
