internal import RoostCore

/// A part of a store, read by one thread.
enum ContentPart: Sendable {
    case structure
    /// Records of one hierarchy, in a range of keys.
    case records(root: Int, KeySpan)
    /// Links of one relationship, in a range of source keys.
    case links(relationship: Int, KeySpan)

    struct KeySpan: Sendable {
        /// The excluded lower bound, or nil to start at the first key.
        var after: Int64?
        /// The included upper bound, or nil to end at the last key.
        var through: Int64?
    }

    /// The desired number of records or links in a part.
    private static let wantedCount = 1 << 15
    private static let maximumCount = 16

    /// Divides a store into parts: a large hierarchy or relationship becomes several key ranges.
    ///
    /// A ``SequentialSnapshot`` is not divided into ranges. The structure comes first, so that
    /// other threads read content while one thread checks it. The parts cover all content even if
    /// the counts of `tally` are wrong.
    static func parts(
        of tally: StoreTally, snapshot: any StoreSnapshot, checkingStructure: Bool
    ) throws(StoreError) -> [ContentPart] {
        let model = snapshot.model
        var parts: [ContentPart] = checkingStructure ? [.structure] : []
        if snapshot is any SequentialSnapshot {
            parts += model.roots.map { .records(root: $0, KeySpan()) }
            return parts + model.linkRelationships.map { .links(relationship: $0.number, KeySpan()) }
        }
        for root in model.roots {
            let count = model.entities[root].selfAndSubentities.reduce(0) { $0 + tally.entities[$1].count }
            let lastKey = try snapshot.lastKey(of: model.entities[root].name)
            parts += spans(count, lastKey: lastKey).map { .records(root: root, $0) }
        }
        for relationship in model.linkRelationships {
            // A relationship that is its own inverse is one part, because the store chooses which
            // end of each link is the source.
            let count = relationship.isReflexive ? 0 : tally.relationships[relationship.number].count
            let lastKey = try snapshot.lastKey(of: model.entities[relationship.source].name)
            parts += spans(count, lastKey: lastKey).map { .links(relationship: relationship.number, $0) }
        }
        return parts
    }

    /// Divides all keys into ranges for `count` records or links; `lastKey` sets their width.
    private static func spans(_ count: Int, lastKey: Int64) -> [KeySpan] {
        let pieces = Int64(min(maximumCount, max(1, count / wantedCount)))
        let width = lastKey / pieces
        guard pieces > 1, width > 0 else { return [KeySpan()] }
        return (0..<pieces).map { piece in
            KeySpan(after: piece == 0 ? nil : piece * width, through: piece == pieces - 1 ? nil : (piece + 1) * width)
        }
    }
}
