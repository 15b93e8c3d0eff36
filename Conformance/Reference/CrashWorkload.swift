internal import Foundation
package import RoostCore
internal import RoostMigration

/// Numbered transactions whose changes depend only on the number.
///
/// The content of a store shows its last transaction.
///
/// Transaction *n* inserts and links objects, and writes *n* into the metadata. Later transactions
/// also update, unlink and delete objects. A killed process must leave exactly the state after some
/// transaction.
package enum CrashWorkload {
    /// The metadata key that holds the number of the last transaction.
    package static let numberKey = "transaction"

    package static var model: ManagedObjectModel { get throws(StoreError) { try ConformanceModel.standard.get() } }

    /// Returns the changes of transaction `n` (1, 2, …), which require that all earlier
    /// transactions were applied.
    package static func transaction(
        _ n: Int64, in model: ManagedObjectModel? = nil
    ) throws(StoreError) -> ChangeSet {
        precondition(n > 0, "transactions count from 1")
        var changes: ChangeSet
        if let model { changes = ChangeSet(model: model) } else { changes = ChangeSet(model: try Self.model) }
        var random = SeededGenerator(seed: UInt64(n))
        if n == 1 { try changes.insert(ObjectID("Playlist", key: 1), values: [:]) }
        try changes.insert(ObjectID("Track", key: n), values: ["title": .string(SampleGraph.words(3, random: &random))])
        try changes.insert(
            ObjectID("Node", key: n), values: n > 1 ? ["parent": .objectID(ObjectID("Node", key: n - 1))] : [:])
        let size = random.oneIn(20) ? 150_000 : random.below(4000)
        try changes.insert(
            ObjectID("Everything", key: n),
            values: ["blob": .data(SampleGraph.bytes(size, random: &random)), "i64": .int(n)])
        try changes.insert(ObjectID("Indexed", key: n), values: ["i64": .int(-n), "str": .string("\(n % 7)")])
        try changes.insert(ObjectID("Account", key: n), values: ["email": .string("\(n)"), "number": .int(n % 25)])
        try changes.add(Link(1, n, order: -n), to: RelationshipName("Playlist", name: "tracks"))
        if n > 1 {
            try changes.update(ObjectID("Track", key: n - 1), version: 1, values: ["title": .string("updated by \(n)")])
            try changes.add(Link(n, n - 1), to: RelationshipName("Node", name: "friends"))
        }
        if n > 5 { try changes.remove(Link(1, n - 5), from: RelationshipName("Playlist", name: "tracks")) }
        if n > 10 { changes.delete(ObjectID("Track", key: n - 10), version: 2) }
        if n > 15 { changes.delete(ObjectID("Node", key: n - 15), version: 1) }
        if n > 20 {
            changes.delete(ObjectID("Everything", key: n - 20), version: 1)
            changes.delete(ObjectID("Indexed", key: n - 20), version: 1)
        }
        // Releases the unique number that this transaction's new account uses.
        if n > 25 { changes.delete(ObjectID("Account", key: n - 25), version: 1) }
        changes.userMetadata[numberKey] = .some(.int(n))
        return changes
    }

    /// The state after the transactions up to `number`.
    package struct State: Sendable {
        private var reference: ReferenceStore
        package private(set) var number: Int64 = 0

        package init() throws(StoreError) { self.init(model: try CrashWorkload.model) }

        package init(model: ManagedObjectModel) { reference = ReferenceStore(model: model) }

        /// Applies all transactions up to `number`; does nothing if they were already applied.
        package mutating func advance(to number: Int64) throws {
            while self.number < number {
                try reference.commit(try CrashWorkload.transaction(self.number + 1, in: reference.model))
                self.number += 1
            }
        }

        /// The content that a store must have.
        package var contents: StoreContents { reference.contents }
        package var digest: StoreDigest { reference.digest }
    }

    /// Returns the number of the last transaction of a store, or 0.
    package static func number(in metadata: StoreMetadata) -> Int64 {
        if case .int(let number)? = metadata.userMetadata[numberKey] { return number }
        return 0
    }

    /// Returns the number of the transaction whose state a snapshot shows: 0 for an empty store,
    /// nil for another state.
    ///
    /// It reads no large values, so it is fast.
    package static func number(in snapshot: any StoreSnapshot) throws(StoreError) -> Int64? {
        let tracks = try snapshot.objects(of: "Track")
        guard let last = tracks.last?.id.key else { return try snapshot.count(FetchRequest("Account")) == 0 ? 0 : nil }
        let first = max(1, last - 9)
        guard tracks.map(\.id.key) == Array(first...last),
            tracks.map(\.version) == tracks.map({ $0.id.key == last ? 1 : 2 }),
            try snapshot.objects(of: "Node").map(\.id.key) == Array(max(1, last - 14)...last),
            try snapshot.targets(of: RelationshipName("Playlist", name: "tracks"), from: ObjectID("Playlist", key: 1))
                == Array(max(1, last - 4)...last).reversed(),
            try snapshot.count(FetchRequest("Account")) == min(25, Int(last)),
            try snapshot.keys(FetchRequest("Indexed", where: .equal("i64", to: .int(-last)))) == [last]
        else { return nil }
        return last
    }
}
