/// A link of a to-many relationship that has no to-one inverse.
///
/// ```swift
/// let tracks = RelationshipName("Playlist", name: "tracks")
/// var changes = ChangeSet(model: store.model)
/// try changes.add(Link(playlist.key, track.key, order: 1), to: tracks)
/// _ = try store.commit(changes)
/// ```
public struct Link: Hashable, Sendable {
    /// The key of the object that has the relationship.
    public var source: Int64
    /// The key of the destination object.
    public var target: Int64
    /// The place of the target among the source's targets; 0 if the relationship is not ordered.
    ///
    /// Places need not be consecutive. Targets are ordered by place, then by key.
    public var order: Int64
    /// The place of the source among the target's sources; 0 if the inverse is not ordered.
    public var inverseOrder: Int64

    /// Creates a link.
    @inlinable
    public init(_ source: Int64, _ target: Int64, order: Int64 = 0, inverseOrder: Int64 = 0) {
        self.source = source
        self.target = target
        self.order = order
        self.inverseOrder = inverseOrder
    }

    /// The link as seen from its target.
    public var flipped: Link { Link(target, source, order: inverseOrder, inverseOrder: order) }
}

/// A reusable, contiguous buffer of links of one relationship.
public struct LinkBatch: Sendable {
    /// The number of links after which a cursor stops filling a batch.
    package static let capacityCount = 4096

    /// The number of the relationship that owns the links; see
    /// `ManagedObjectModel.linkRelationships`.
    public var relationship: Int
    /// The links.
    public var links: [Link]

    /// Creates a batch for the relationship with this number.
    public init(relationship: Int, links: [Link] = []) {
        self.relationship = relationship
        self.links = links
    }

    /// The number of links.
    public var count: Int { links.count }
    /// Whether the batch has no links.
    public var isEmpty: Bool { links.isEmpty }
    /// Whether a cursor should stop filling the batch.
    public var isFull: Bool { links.count >= Self.capacityCount }

    /// Removes all links, but keeps the memory.
    public mutating func removeAll() { links.removeAll(keepingCapacity: true) }
}
