internal import RoostSystem

/// The number of records or links, and the sum of their hashes.
public struct Tally: Hashable, Sendable {
    /// The number of records or links.
    public var count: Int
    /// The sum of their hashes, wrapping at 2^64, whatever their order.
    public var sum: UInt64

    /// Makes a tally; without arguments, of nothing.
    public init(count: Int = 0, sum: UInt64 = 0) {
        self.count = count
        self.sum = sum
    }

    /// Whether a count that a file has can be true: far above what fits on any disk, and low enough
    /// that the sum over 2^16 entities, the most of a model, does not overflow.
    package static func canBe(count: Int) -> Bool { (0..<1 << 46).contains(count) }

    /// Adds one record or link with this hash.
    @inlinable
    package mutating func add(_ hash: UInt64) {
        count &+= 1
        sum &+= hash
    }

    /// Adds everything that another tally counts.
    @inlinable
    package mutating func add(_ other: Tally) {
        count &+= other.count
        sum &+= other.sum
    }

    /// Subtracts one record or link with this hash.
    @inlinable
    package mutating func remove(_ hash: UInt64) {
        count &-= 1
        sum &-= hash
    }
}

/// The content of a store in numbers: a tally for each entity and each relationship that owns
/// links, and the generation.
///
/// ```swift
/// let tally = try snapshot.computeTally()
/// let track = try snapshot.model.requireEntity("Track")
/// print(tally.entities[track.number].count, "tracks of", tally.digest.objectCount, "objects")
/// ```
public struct StoreTally: Hashable, Sendable {
    /// By entity number; objects count for their own entity only.
    public var entities: [Tally]
    /// By relationship number; zero for relationships that own no links.
    public var relationships: [Tally]
    /// The generation of the store: another one after each commit that changed anything.
    public var generation: Generation

    /// The tally of an empty store of `model`.
    public init(model: ManagedObjectModel) {
        entities = Array(repeating: Tally(), count: model.entities.count)
        relationships = Array(repeating: Tally(), count: model.relationships.count)
        generation = .initial
    }

    /// The content as one value.
    public var digest: StoreDigest {
        StoreDigest(
            objectCount: entities.reduce(0) { $0 &+ $1.count }, linkCount: relationships.reduce(0) { $0 &+ $1.count },
            sum: (entities + relationships).reduce(0) { $0 &+ $1.sum })
    }

    /// Adds the records of a batch, by the content hashes they carry.
    public mutating func add(_ batch: RecordBatch) {
        batch.forEachRecord { entities[$0.entityNumber].add($0.storedContentHash) }
    }

    /// Subtracts the records of a batch, by the content hashes they carry.
    public mutating func remove(_ batch: RecordBatch) {
        batch.forEachRecord { entities[$0.entityNumber].remove($0.storedContentHash) }
    }

    /// Adds everything that a tally of the same model counts; keeps the generation.
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

/// The content of a whole store in one value: equal for stores with the same objects, values and
/// links, whatever their type.
///
/// Versions, the generation and metadata do not enter.
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

    /// Makes a digest.
    package init(objectCount: Int, linkCount: Int, sum: UInt64) {
        self.objectCount = objectCount
        self.linkCount = linkCount
        self.sum = sum
    }

    /// `<sum, 16 hexadecimal digits>-<objects>-<links>`.
    public var description: String { "\(sum.hexadecimal)-\(objectCount)-\(linkCount)" }
}

extension StoreSnapshot {
    /// Computes the tally of the snapshot by reading everything.
    ///
    /// The hash of every record is computed from its bytes, not taken from what it carries.
    /// - Complexity: O(*n*) in records and links; memory for one batch.
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
    /// Advances the generation by one commit.
    ///
    /// - Throws: `limitExceeded` for a store that has the highest generation.
    package mutating func countCommit() throws(StoreError) { generation = try generation.next() }
}
