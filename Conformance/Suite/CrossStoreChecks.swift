internal import Foundation
package import RoostCore
internal import RoostPredicates

/// Checks between two stores, of the same type or of different ones.
package enum CrossStoreChecks {
    private static let requests = [
        FetchRequest(
            "Track", where: .greater("year", than: 1980) && .notEqual("rating", to: 3),
            sortedBy: [.init("title"), .init("seconds", ascending: false)]),
        FetchRequest("Party", sortedBy: [.init("name", ascending: false)], limit: 20, offset: 3),
        FetchRequest("Specimen", where: !.less("dbl", than: 0.5), sortedBy: [.init("dbl"), .init("dec")]),
    ]

    /// Copies a sample graph from a store of `source` to a store of `target`, and compares both.
    ///
    /// The copy uses only the store contract.
    package static func copy(from source: StoreFixture, to target: StoreFixture, seed: UInt64, objectCount: Int = 500)
        throws(ConformanceFailure)
    {
        do {
            let (from, to) = (try Workbench(source), try Workbench(target))
            defer {
                from.discard()
                to.discard()
            }
            let graph = try SampleGraph(
                seed: seed, objectCount: objectCount, hasConstraints: source.keepsConstraints && target.keepsConstraints
            )
            let model = graph.model
            let metadata = ConformanceCheck.everyMetadataValue
            let original = try from.create(model) { $0.userMetadata = metadata }
            try graph.load(into: original)
            // Changes before the copy: a version above 1, a deleted key and reserved keys.
            try original.change { changes in
                try changes.update(ObjectID("Genre", key: 1), version: 1, values: ["name": "renamed"])
                changes.delete(ObjectID("Playlist", key: 1), version: 1)
            }
            _ = try original.reserveKeys(77, for: "Playlist")

            let copy = try to.create(model) {
                $0.userMetadata = metadata
                $0.isUnpublished = false
            }
            let tally = try StoreCopy.copy(from: original, into: copy)
            let reopened = try to.reopen(copy)
            try expectEqual(try reopened.contents(), try original.contents(), "the copy holds what the original holds")
            try expectEqual(
                tally.digest, try original.view { try $0.computeTally() }.digest, "the digest that the loader returned")
            try expectEqual(try reopened.view { try $0.computeTally() }.digest, tally.digest, "the digest of the copy")
            for root in model.roots {
                let name = model.entities[root].name
                try expectEqual(
                    try reopened.view { try $0.lastKey(of: name) }, try original.view { try $0.lastKey(of: name) },
                    "the last key of \(name)")
            }
            for request in requests {
                try expectEqual(
                    try reopened.view { try $0.keys(request) }, try original.view { try $0.keys(request) },
                    "the answer to \(request)")
            }
            try from.examineStores()
            try to.examineStores()
        } catch let mismatch as Mismatch {
            throw ConformanceFailure(
                check: "copy", store: "\(source.name) → \(target.name), seed \(seed)", expected: mismatch.expected,
                actual: mismatch.actual)
        } catch {
            throw ConformanceFailure(
                check: "copy", store: "\(source.name) → \(target.name), seed \(seed)", expected: "no error",
                actual: "\(error)")
        }
    }
}

/// A minimal copy of one store into another of the same model.
///
/// It omits the other work of a conversion, such as verification.
package enum StoreCopy {
    /// Copies all records, links and last keys, and returns the tally of the target.
    @discardableResult
    package static func copy(from source: any PersistentStore, into target: any PersistentStore) throws(StoreError)
        -> StoreTally
    {
        let snapshot = try source.snapshot()
        defer { snapshot.close() }
        var options = BulkLoadOptions()
        for root in source.model.roots {
            let name = source.model.entities[root].name
            options.lastKeys[name] = try snapshot.lastKey(of: name)
        }
        let loader = try target.bulkLoader(options)
        do throws(StoreError) {
            var records = RecordBatch(model: source.model)
            for root in source.model.roots {
                let cursor = try snapshot.records(of: source.model.entities[root].name, after: nil)
                while try cursor.next(into: &records) { try loader.append(records) }
            }
            for relationship in source.model.linkRelationships {
                var links = LinkBatch(relationship: relationship.number)
                let cursor = try snapshot.links(of: relationship.name, after: nil)
                while try cursor.next(into: &links) { try loader.append(links) }
            }
            return try loader.finish()
        } catch {
            loader.abandon()
            throw error
        }
    }
}
