/// The changes of one commit: objects to insert, update and delete, links to add and remove, and
/// metadata to set.
///
/// ```swift
/// var changes = ChangeSet(model: store.model)
/// try changes.insert(artist, values: ["name": "Joni Mitchell"])
/// try changes.update(album, version: 3, values: ["artist": .objectID(artist)])
/// let receipt = try store.commit(changes)
/// ```
///
/// - Updates and deletes contain the version that was *read*. If the stored version differs, the
///   commit fails with code `conflict`. An update is stored with the next version.
/// - An insert contains version 0 or 1 and is stored with version 1.
/// - Adding a link that exists replaces its places in ordered relationships. Removing a link that
///   does not exist does nothing. Links are removed before links are added.
/// - Deleting an object removes its links. To-one references to a deleted object become dangling.
/// - These changes fail with `invalidRequest`: an insert with a version above 1; an insert or
///   update with a key below 1 or an abstract entity; a link with a key below 1; two updates or
///   deletes of one object. Records of another model fail with `modelMismatch`.
///
/// Two concurrent writers cannot create a dangling reference if both declare their requirements:
///
/// ```swift
/// try first.update(album, version: 3, values: ["artist": .objectID(artist)])
/// first.existing = [artist]
///
/// second.delete(artist, version: 1)
/// second.requiresUnreferencedDeletes = true
/// ```
public struct ChangeSet: Sendable {
    /// An object, and the version at which it was read.
    public struct Reference: Hashable, Sendable {
        /// The object.
        public var id: ObjectID
        /// The version at which the object was read.
        public var version: UInt32

        /// Creates a reference.
        public init(_ id: ObjectID, version: UInt32) {
            self.id = id
            self.version = version
        }
    }

    /// The last place in an ordered to-many relationship of one object, as the caller read it.
    public struct LastPlace: Hashable, Sendable {
        /// The object whose destinations are ordered.
        public var id: ObjectID
        /// The ordered relationship.
        public var relationship: RelationshipName
        /// The highest place of a destination; nil if the relationship was empty.
        public var place: Int64?

        /// Creates an expected last place.
        public init(_ id: ObjectID, in relationship: RelationshipName, place: Int64?) {
            self.id = id
            self.relationship = relationship
            self.place = place
        }
    }

    /// New objects.
    public var inserts: RecordBatch
    /// New values of existing objects, each with the version at which the object was read.
    public var updates: RecordBatch
    /// Objects to delete.
    public var deletes: [Reference] = []
    /// Objects that the commit does not change, but that must still have the given version.
    public var unchanged: [Reference] = []
    /// Last places in ordered relationships, which must not have changed since they were read.
    ///
    /// Before the commit applies its changes, it compares these places with the stored ones. If one
    /// differs, the commit fails with code `conflict`, and ``StoreError/conflicts`` is empty. So
    /// two writers cannot append objects at the same place.
    public var lastPlaces: [LastPlace] = []
    /// Objects that must exist after the commit, at any version.
    ///
    /// List the objects to which new references refer, so that no other writer can delete them
    /// first. If an object is missing, the commit fails with code `objectNotFound`, and
    /// ``StoreError/missingObjects`` lists all missing objects. An object counts as existing if the
    /// change set inserts it. It counts as missing if the change set deletes it, or if its entity
    /// is not the entity of the ID.
    public var existing: [ObjectID] = []
    /// The Swift object that makes the commit, such as a container; nil to notify all listeners.
    ///
    /// Listeners that ignore this origin are not notified.
    package var origin: ObjectIdentifier?
    /// Whether the commit fails if a remaining object refers to a deleted object.
    ///
    /// All to-one references count, in their state after the commit's updates.
    /// The error has code `deleteDenied`, and ``StoreError/denials`` has one denial for each
    /// deleted object and relationship.
    ///
    /// - Complexity: O(log *n*) for each deleted object and each relationship to its entity, in
    ///   stores that index references, such as stores of the key-value and SQL engines.
    public var requiresUnreferencedDeletes = false
    /// Whether the commit fails if a remaining object has a link to a deleted object.
    ///
    /// Links that the commit removes do not count. A link to a deleted target counts; a link from a
    /// deleted source counts if the relationship has an inverse. The error is the same as for
    /// ``requiresUnreferencedDeletes``. If false, the commit removes the links of deleted objects.
    public var requiresUnlinkedDeletes = false
    /// Links to add; if a link already exists, only its places are replaced.
    public var addedLinks: [LinkBatch] = []
    /// Links to remove; their places are ignored.
    public var removedLinks: [LinkBatch] = []
    /// The entries of the user's metadata to set; nil removes an entry.
    ///
    /// Other entries keep their values.
    public var userMetadata: [String: MetadataValue?] = [:]

    /// The author, for the store's history.
    public var author: String?
    /// The name of the context, for the store's history.
    public var contextName: String?

    /// Creates an empty change set for stores of `model`.
    public init(model: ManagedObjectModel) {
        inserts = RecordBatch(model: model)
        updates = RecordBatch(model: model)
    }

    /// The model of the records.
    public var model: ManagedObjectModel { inserts.model }

    /// Whether the change set changes nothing; it may still have requirements.
    public var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && userMetadata.isEmpty
            && addedLinks.allSatisfy(\.isEmpty) && removedLinks.allSatisfy(\.isEmpty)
    }

    /// Adds a new object; see `RecordBatch.append(_:version:values:)`.
    public mutating func insert(_ id: ObjectID, values: [String: Value]) throws(StoreError) {
        try inserts.append(id, version: 1, values: values)
    }

    /// Replaces all values of an object that was read at `version`.
    public mutating func update(_ id: ObjectID, version: UInt32, values: [String: Value]) throws(StoreError) {
        try updates.append(id, version: version, values: values)
    }

    /// Deletes an object that was read at `version`.
    public mutating func delete(_ id: ObjectID, version: UInt32) { deletes.append(Reference(id, version: version)) }

    /// Adds a link, or replaces the places of the link if it exists.
    public mutating func add(_ link: Link, to relationship: RelationshipName) throws(StoreError) {
        let (number, link) = try resolve(relationship, link: link)
        Self.append(link, relationship: number, to: &addedLinks)
    }

    /// Removes a link.
    public mutating func remove(_ link: Link, from relationship: RelationshipName) throws(StoreError) {
        let (number, link) = try resolve(relationship, link: link)
        Self.append(link, relationship: number, to: &removedLinks)
    }

    private func resolve(_ name: RelationshipName, link: Link) throws(StoreError) -> (Int, Link) {
        let relationship = try model.requireLinkRelationship(name)
        return (
            relationship.owner,
            model.relationships[relationship.owner].normalized(relationship.isFlipped ? link.flipped : link)
        )
    }

    private static func append(_ link: Link, relationship: Int, to batches: inout [LinkBatch]) {
        if let index = batches.firstIndex(where: { $0.relationship == relationship }) {
            batches[index].links.append(link)
        } else {
            batches.append(LinkBatch(relationship: relationship, links: [link]))
        }
    }
}

extension ManagedObjectModel {
    /// Returns the number of the relationship that owns the links of `name`, and whether `name` is
    /// its inverse.
    package func requireLinkRelationship(_ name: RelationshipName) throws(StoreError) -> (owner: Int, isFlipped: Bool) {
        let relationship = try requireRelationship(name)
        guard case .links(let owner, let isFlipped) = relationship.storage else {
            throw StoreError(
                .invalidRequest,
                "Relationship '\(name)' has no links: records store it as to-one references. Set these instead."
            )
        }
        return (owner, isFlipped)
    }

    /// Returns the stored relationship `name`, which the entity declares or inherits.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`.
    public func requireRelationship(_ name: RelationshipName) throws(StoreError) -> Relationship {
        let entity = try requireEntity(name.entity)
        guard let relationship = entity.relationship(name.name) else {
            let hint = nearestName(to: name.name, among: entity.relationships.map(\.name.name))
                .map { "; did you mean '\($0)'?" }
            throw StoreError(
                .unknownProperty, "Entity '\(name.entity)' has no stored relationship '\(name.name)'\(hint ?? ".")")
        }
        return relationship
    }
}

extension ManagedObjectModel.Relationship {
    /// Returns the link in the form in which it is stored.
    ///
    /// If the relationship is its own inverse, the lower key is the source. A place in an unordered
    /// relationship is 0.
    public func normalized(_ link: Link) -> Link {
        var link = isReflexive && link.source > link.target ? link.flipped : link
        if !isOrdered { link.order = 0 }
        if !inverseIsOrdered { link.inverseOrder = 0 }
        return link
    }

    /// Returns the normalized link; if `isFlipped` is true, in the direction of the inverse.
    ///
    /// Call this method on the relationship that owns the links. The argument has the direction of
    /// the result.
    package func normalized(_ link: Link, isFlipped: Bool) -> Link {
        isFlipped ? normalized(link.flipped).flipped : normalized(link)
    }
}

extension LinkBatch {
    /// Throws `invalidRequest` if an end of a link has a key below 1.
    package func requirePositiveKeys(_ model: ManagedObjectModel) throws(StoreError) {
        guard !links.allSatisfy({ $0.source > 0 && $0.target > 0 }) else { return }
        let name = model.relationships.indices.contains(relationship) ? "\(model.relationships[relationship].name)" : ""
        throw StoreError(
            .invalidRequest, "A link of '\(name)' has an end whose key is not positive; reserve keys from the store.")
    }
}

extension ChangeSet.LastPlace {
    /// Returns the relationship; throws `invalidRequest` if it has no order.
    package func requireOrdered(_ model: ManagedObjectModel) throws(StoreError) -> ManagedObjectModel.Relationship {
        let found = try model.requireRelationship(relationship)
        guard found.isOrdered else {
            throw StoreError(
                .invalidRequest,
                "Relationship '\(relationship)' has no order, so a commit cannot expect a last place in it.")
        }
        return found
    }

    package var conflict: StoreError {
        StoreError(
            .conflict,
            "A place in '\(relationship)' of \(id) was taken since the last place was read. Read the last place again and choose a new place."
        )
    }
}
