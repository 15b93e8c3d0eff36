internal import RoostSystem

/// The number of records or links, and the sum of their hashes.
public struct Tally: Hashable, Sendable {
    /// The number of records or links.
    public var count: Int
    /// The sum of the hashes modulo 2^64; the order of records or links does not affect it.
    public var sum: UInt64

    /// Creates a tally, which is empty by default.
    public init(count: Int = 0, sum: UInt64 = 0) {
        self.count = count
        self.sum = sum
    }

    /// Whether a count that was read from a file is plausible.
    ///
    /// The limit exceeds the capacity of any disk. A model has fewer than 2^16 entities, so the sum
    /// of their counts cannot overflow.
    package static func canBe(count: Int) -> Bool { (0..<1 << 46).contains(count) }

    @inlinable
    package mutating func add(_ hash: UInt64) {
        count &+= 1
        sum &+= hash
    }

    @inlinable
    package mutating func add(_ other: Tally) {
        count &+= other.count
        sum &+= other.sum
    }

    @inlinable
    package mutating func remove(_ hash: UInt64) {
        count &-= 1
        sum &-= hash
    }
}

/// The tallies of a store's entities and relationships, and the store's generation.
///
/// ```swift
/// let tally = try snapshot.computeTally()
/// let track = try snapshot.model.requireEntity("Track")
/// print(tally.entities[track.number].count, "tracks of", tally.digest.objectCount, "objects")
/// ```
public struct StoreTally: Hashable, Sendable {
    /// The tallies by entity number.
    ///
    /// An object counts for its own entity, but not for superentities.
    public var entities: [Tally]
    /// The tallies by relationship number; zero for relationships that own no links.
    public var relationships: [Tally]
    /// The generation of the store.
    public var generation: Generation

    /// Creates the tally of an empty store of `model`.
    public init(model: ManagedObjectModel) {
        entities = Array(repeating: Tally(), count: model.entities.count)
        relationships = Array(repeating: Tally(), count: model.relationships.count)
        generation = .initial
    }

    /// The digest of all entities and relationships.
    public var digest: StoreDigest {
        StoreDigest(
            objectCount: entities.reduce(0) { $0 &+ $1.count }, linkCount: relationships.reduce(0) { $0 &+ $1.count },
            sum: (entities + relationships).reduce(0) { $0 &+ $1.sum })
    }

    /// Adds a batch's records, using the content hash that each record stores.
    public mutating func add(_ batch: RecordBatch) {
        batch.forEachRecord { entities[$0.entityNumber].add($0.storedContentHash) }
    }

    /// Subtracts a batch's records, using the content hash that each record stores.
    public mutating func remove(_ batch: RecordBatch) {
        batch.forEachRecord { entities[$0.entityNumber].remove($0.storedContentHash) }
    }

    /// Adds a tally of the same model; the generation is unchanged.
    package mutating func add(_ other: StoreTally) {
        for (number, tally) in other.entities.enumerated() { entities[number].add(tally) }
        for (number, tally) in other.relationships.enumerated() { relationships[number].add(tally) }
    }

    /// Adds links.
    public mutating func add(_ batch: LinkBatch) {
        for link in batch.links {
            relationships[batch.relationship].add(RecordHash.link(link, of: batch.relationship))
        }
    }

    /// Subtracts links.
    public mutating func remove(_ batch: LinkBatch) {
        for link in batch.links {
            relationships[batch.relationship].remove(RecordHash.link(link, of: batch.relationship))
        }
    }
}

/// A digest of a whole store.
///
/// Two stores of any types have equal digests if they have the same objects, values and links.
/// Versions of objects, the generation and metadata do not affect the digest.
///
/// ```swift
/// try store.convert(to: .lmdb("music.lmdb"))
/// let copy = try Store.open(.lmdb("music.lmdb"), ifMissing: .fail)
/// let isSame = try store.digest() == copy.digest()
/// ```
public struct StoreDigest: Hashable, Sendable, CustomStringConvertible {
    /// The number of objects.
    public let objectCount: Int
    /// The number of links.
    public let linkCount: Int
    /// The sum of the hashes of all records and links.
    public let sum: UInt64

    package init(objectCount: Int, linkCount: Int, sum: UInt64) {
        self.objectCount = objectCount
        self.linkCount = linkCount
        self.sum = sum
    }

    /// The text `<sum, 16 hexadecimal digits>-<objects>-<links>`.
    public var description: String { "\(sum.hexadecimal)-\(objectCount)-\(linkCount)" }
}

extension StoreSnapshot {
    /// Computes the tally of the snapshot by reading everything.
    ///
    /// The hash of every record is computed from its bytes; the stored hash is not used.
    ///
    /// - Complexity: O(*n*) in the number of records and links, with memory for one batch.
    public func computeTally() throws(StoreError) -> StoreTally {
        var tally = StoreTally(model: model)
        var records = RecordBatch(model: model)
        for root in model.roots {
            let cursor = try self.records(of: model.entities[root].name, after: nil)
            while try cursor.next(into: &records) {
                records.forEachRecord { tally.entities[$0.entityNumber].add($0.computedContentHash) }
            }
        }
        for relationship in model.linkRelationships {
            var links = LinkBatch(relationship: relationship.number)
            let cursor = try self.links(of: relationship.name, after: nil)
            while try cursor.next(into: &links) { tally.add(links) }
        }
        tally.generation = try recordedTally()?.generation ?? .initial
        return tally
    }
}

extension StoreTally {
    /// Advances the generation by one commit; throws `limitExceeded` at the highest generation.
    package mutating func countCommit() throws(StoreError) { generation = try generation.next() }
}
