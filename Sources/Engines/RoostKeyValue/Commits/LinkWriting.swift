internal import RoostCore

/// The two keys under which a link is stored, one for each end.
enum LinkKeys {
    static func keys(_ link: Link, relationship: Int) -> (key: StorageKey, inverseKey: StorageKey) {
        var (key, inverseKey) = (StorageKey(), StorageKey())
        fill(&key, link: link, relationship: relationship)
        fill(&inverseKey, link: link.flipped, relationship: relationship)
        return (key, inverseKey)
    }

    /// Sets `key` to the link's key in the space `links`; for a flipped link, in `inverseLinks`.
    static func fill(_ key: inout StorageKey, link: Link, relationship: Int) {
        key.start(ShortKey(relationship, from: link.source, place: link.order, to: link.target))
    }
}

extension KeyValueWriter {
    /// Adds a normalized link, replacing any link between the same objects; returns whether
    /// anything changed.
    func addLink(
        _ link: Link, relationship: Int, model: ManagedObjectModel, tally: inout StoreTally
    ) throws(StoreError) -> Bool {
        if let old = try storedLink(link, number: relationship, model: model) {
            if old == link { return false }
            try removeStoredLink(old, relationship: relationship, model: model, tally: &tally)
        }
        try insertLink(link, relationship: relationship, tally: &tally)
        return true
    }

    /// Writes a normalized link between two objects that the relationship does not link yet.
    func insertLink(_ link: Link, relationship: Int, tally: inout StoreTally) throws(StoreError) {
        let (key, inverseKey) = LinkKeys.keys(link, relationship: relationship)
        try put(key, number: link.inverseOrder, in: .links)
        try put(inverseKey, number: link.order, in: .inverseLinks)
        tally.relationships[relationship].add(RecordHash.link(link, of: relationship))
    }

    /// Removes a link that is stored with exactly the given places.
    func removeStoredLink(
        _ link: Link, relationship: Int, model: ManagedObjectModel, tally: inout StoreTally
    ) throws(StoreError) {
        let (key, inverseKey) = LinkKeys.keys(link, relationship: relationship)
        guard try delete(key, in: .links), try delete(inverseKey, in: .inverseLinks) else {
            throw StoreError(
                .corrupted,
                "A link of '\(model.relationships[relationship].name)' is stored at one of its ends only. Convert the store into a new one."
            )
        }
        tally.relationships[relationship].remove(RecordHash.link(link, of: relationship))
    }

    /// Returns the stored link between the same objects, or nil.
    ///
    /// An unordered end always has place 0, so the link's key at that end is known. If both ends
    /// are ordered, the links of both objects are searched.
    func storedLink(_ link: Link, number: Int, model: ManagedObjectModel) throws(StoreError) -> Link? {
        let relationship = model.relationships[number]
        let unplaced = LinkKeys.keys(Link(link.source, link.target), relationship: number)
        if !relationship.isOrdered {
            return try self.number(of: unplaced.key, in: .links).map {
                Link(link.source, link.target, inverseOrder: $0)
            }
        }
        if !relationship.inverseIsOrdered {
            return try self.number(of: unplaced.inverseKey, in: .inverseLinks)
                .map { Link(link.source, link.target, order: $0) }
        }
        return try searchLink(link, number: number)
    }

    /// Searches the links of both objects alternately.
    ///
    /// The search ends when one object has no more links, so the object with fewer links determines
    /// the cost.
    private func searchLink(_ link: Link, number: Int) throws(StoreError) -> Link? {
        let prefix = StorageKey(record: link.source, root: number)
        let inversePrefix = StorageKey(record: link.target, root: number)
        let cursor = try self.cursor(in: .links)
        guard try cursor.seek(to: prefix) else { return nil }
        let inverseCursor = try self.cursor(in: .inverseLinks)
        guard try inverseCursor.seek(to: inversePrefix) else { return nil }
        while cursor.key.begins(with: prefix.bytes), inverseCursor.key.begins(with: inversePrefix.bytes) {
            let candidate = try LinkStream.link(cursor.key, value: cursor.value, space: .links)
            if candidate.target == link.target { return candidate }
            let inverse = try LinkStream.link(inverseCursor.key, value: inverseCursor.value, space: .inverseLinks)
            if inverse.target == link.source { return inverse.flipped }
            guard try cursor.next(), try inverseCursor.next() else { return nil }
        }
        return nil
    }
}
