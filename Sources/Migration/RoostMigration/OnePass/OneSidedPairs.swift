internal import RoostCore

/// The pairs of a one-to-one relationship that only its inverse stores.
///
/// The two objects of a pair should store each other's keys, but stores do not check this. If a
/// migration reads only one end, a pair that only the other end stores would be lost. Therefore,
/// the pairs of both ends are counted and hashed first. They are compared individually only if
/// these sums differ.
final class OneSidedPairs: Sendable {
    /// The source relationship that lacks the pairs.
    let relationship: ManagedObjectModel.Relationship
    /// For each object, the objects that refer to it only by the inverse.
    ///
    /// Mapping 0 of the table is for objects whose own reference is null. Mapping 1 is for objects
    /// that refer to a different object.
    private let table: Mutex<AssociationTable>

    /// The number of pairs that are lost if a migration keeps only ``relationship``.
    let rivalCount: Int

    /// Returns whether a relationship and its inverse are two different to-one relationships.
    static func areKept(by relationship: ManagedObjectModel.Relationship, model: ManagedObjectModel) -> Bool {
        guard relationship.storage == .field, let inverse = relationship.inverse else { return false }
        return inverse != relationship.number && model.relationships[inverse].storage == .field
    }

    /// Finds the pairs of a relationship that only its inverse stores.
    ///
    /// Returns nil if both store the same pairs, or if they are not two to-one relationships.
    static func found(
        _ relationship: ManagedObjectModel.Relationship, snapshot: any StoreSnapshot, options: ConversionOptions,
        directories: [String]
    ) throws(StoreError) -> OneSidedPairs? {
        guard areKept(by: relationship, model: snapshot.model), let number = relationship.inverse else { return nil }
        let inverse = snapshot.model.relationships[number]
        let reading = EndReading(snapshot: snapshot, options: options)
        let sum = try reading.sum(of: relationship) { $0 }
        guard try sum != reading.sum(of: inverse, { $0.flipped }) else { return nil }
        return try OneSidedPairs(relationship, inverse: inverse, reading: reading, directories: directories)
    }

    private init(
        _ relationship: ManagedObjectModel.Relationship, inverse: ManagedObjectModel.Relationship,
        reading: EndReading, directories: [String]
    ) throws(StoreError) {
        let model = reading.snapshot.model
        self.relationship = relationship
        let table = Mutex(
            AssociationTable(
                mappingCount: 2, from: model, to: model, memoryByteCount: 2 << 20, directories: directories))
        var rivalCount = 0
        try reading.forEachBatch(of: inverse) { (pairs) throws(StoreError) in
            let partners = try reading.partners(of: pairs.map(\.target), by: relationship)
            for pair in pairs {
                // A reference to a missing object is not a pair.
                guard let partner = partners[pair.target] else { continue }
                let place = AssociationTable.Object(entity: partner.entity, key: pair.target)
                let other = AssociationTable.Object(entity: pair.entity, key: pair.source)
                switch partner.key {
                case pair.source?: continue
                case .some:
                    rivalCount += 1
                    try table.withLock { (table) throws(StoreError) in
                        try table.associate(place, with: other, in: 1)
                    }
                case nil:
                    try table.withLock { (table) throws(StoreError) in
                        var known: [AssociationTable.Object] = []
                        try table.appendDestinations(of: place, in: 0, to: &known)
                        if !known.isEmpty { rivalCount += 1 }
                        try table.associate(place, with: other, in: 0)
                    }
                }
            }
        }
        self.table = table
        self.rivalCount = rivalCount
    }

    /// Returns the object that refers to the given object by the inverse, or nil.
    ///
    /// Returns nil if the given object's own reference is not null. Among several, the lowest key
    /// wins.
    func partner(_ entity: Int, key: Int64) throws(StoreError) -> (entity: Int, key: Int64)? {
        var found: [AssociationTable.Object] = []
        try table.withLock { (table) throws(StoreError) in
            try table.appendDestinations(of: .init(entity: entity, key: key), in: 0, to: &found)
        }
        return found.min { $0.key < $1.key }.map { ($0.entity, $0.key) }
    }

    /// Calls `body` with each pair that ``relationship`` lacks, as a link in its direction.
    func forEach(_ body: (Link) throws(StoreError) -> Void) throws(StoreError) {
        try table.withLock { (table) throws(StoreError) in
            for number in 0...1 {
                let places = try table.sources(in: number)
                while let place = try places.next() {
                    var others: [AssociationTable.Object] = []
                    try table.appendDestinations(of: place, in: number, to: &others)
                    for other in others { try body(Link(place.key, other.key)) }
                }
            }
        }
    }
}

private struct EndReading {
    struct Pair {
        let entity: Int
        let source: Int64
        let target: Int64
    }

    let snapshot: any StoreSnapshot
    let options: ConversionOptions

    /// Returns the number of pairs that a relationship stores, and the sum of their hashes.
    ///
    /// `seen` converts each pair to the direction in which pairs are compared.
    func sum(
        of relationship: ManagedObjectModel.Relationship, _ seen: (Link) -> Link
    ) throws(StoreError) -> StorePartSum {
        var sum = StorePartSum()
        try forEachBatch(of: relationship) { (pairs) in
            for pair in pairs {
                sum.count += 1
                sum.hash &+= RecordHash.link(seen(Link(pair.source, pair.target)), of: 0)
            }
        }
        return sum
    }

    struct StorePartSum: Equatable {
        var count = 0
        var hash: UInt64 = 0
    }

    func forEachBatch(
        of relationship: ManagedObjectModel.Relationship, _ body: ([Pair]) throws(StoreError) -> Void
    ) throws(StoreError) {
        let model = snapshot.model
        let fields = model.entities.map { $0.layout.field(relationship.name.name) }
        let cursor = try snapshot.records(of: model.entities[relationship.source].name, after: nil)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch, options: options) {
            var pairs: [Pair] = []
            batch.forEachRecord { record in
                guard let field = fields[record.entityNumber], let (_, key) = record.reference(field) else { return }
                pairs.append(Pair(entity: record.entityNumber, source: record.key, target: key))
            }
            if !pairs.isEmpty { try body(pairs) }
        }
    }

    /// Returns the entities of the objects with the given keys, and their references.
    func partners(
        of keys: [Int64], by relationship: ManagedObjectModel.Relationship
    ) throws(StoreError) -> [Int64: (entity: Int, key: Int64?)] {
        let model = snapshot.model
        let fields = model.entities.map { $0.layout.field(relationship.name.name) }
        let entity = model.entities[relationship.source].name
        let cursor = try snapshot.records(with: Set(keys).sorted().map { ObjectID(entity, key: $0) })
        var batch = RecordBatch(model: model)
        var found: [Int64: (entity: Int, key: Int64?)] = [:]
        while try cursor.next(into: &batch, options: options) {
            batch.forEachRecord { record in
                guard let field = fields[record.entityNumber] else { return }
                found[record.key] = (record.entityNumber, record.reference(field)?.key)
            }
        }
        return found
    }
}
