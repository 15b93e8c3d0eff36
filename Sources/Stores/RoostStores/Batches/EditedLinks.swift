internal import RoostCore

/// The links that result from applying the lists of a request one by one.
///
/// If the lists at both ends of a link contradict each other, the later list wins.
struct EditedLinks {
    /// A link, with the relationship that stores it.
    private struct Key: Hashable, Comparable {
        let relationship: Int
        let source: Int64
        let target: Int64

        static func < (left: Self, right: Self) -> Bool {
            (left.relationship, left.source, left.target) < (right.relationship, right.source, right.target)
        }
    }

    private struct End: Hashable {
        let relationship: Int
        let isTarget: Bool
        let key: Int64
    }

    private let model: ManagedObjectModel
    /// The stored links of the objects whose lists were set.
    private var stored: [Key: Link] = [:]
    /// The current links, with nil for a removed link.
    private var links: [Key: Link?] = [:]
    /// The keys of ``links``, by end.
    private var keys: [End: Set<Key>] = [:]

    init(_ model: ManagedObjectModel) { self.model = model }

    /// Sets the list of an object to `members`, which must not contain duplicates.
    mutating func set(
        _ relationship: ManagedObjectModel.Relationship, storedIn storage: (number: Int, isFlipped: Bool),
        of owner: Int64, to members: [MemberChanges.Member], stored current: [Link]
    ) {
        let isReflexive = model.relationships[storage.number].isReflexive
        /// Returns whether the owner is the target of the stored link.
        func isTurned(_ other: Int64) -> Bool { isReflexive ? other < owner : storage.isFlipped }
        func key(_ other: Int64) -> Key {
            let isTurned = isTurned(other)
            return Key(
                relationship: storage.number, source: isTurned ? other : owner, target: isTurned ? owner : other)
        }
        for link in current {
            let key = key(link.target)
            guard stored[key] == nil else { continue }
            let old = isTurned(link.target) ? link.flipped : link
            stored[key] = old
            if links[key] == nil { note(key, link: old) }
        }
        let wanted = Set(members.map { key($0.id.key) })
        for key in known(owner, storage: storage, isReflexive: isReflexive) where !wanted.contains(key) {
            note(key, link: nil)
        }
        for (place, member) in members.enumerated() {
            let (key, isTurned) = (key(member.id.key), isTurned(member.id.key))
            var link = Link(owner, member.id.key, order: Int64(place), inverseOrder: member.inversePlace)
            if let known = links[key] ?? nil {
                link = isTurned ? known.flipped : known
                if relationship.isOrdered { link.order = Int64(place) }
            }
            note(key, link: isTurned ? link.flipped : link)
        }
    }

    func apply(to changes: inout ChangeSet) throws(StoreError) {
        for (key, link) in links.sorted(by: { $0.key < $1.key }) where link != stored[key] {
            let name = model.relationships[key.relationship].name
            if let link {
                try changes.add(link, to: name)
            } else if let old = stored[key] {
                try changes.remove(old, from: name)
            }
        }
    }

    private mutating func note(_ key: Key, link: Link?) {
        links[key] = .some(link)
        keys[End(relationship: key.relationship, isTarget: false, key: key.source), default: []].insert(key)
        keys[End(relationship: key.relationship, isTarget: true, key: key.target), default: []].insert(key)
    }

    /// Returns the keys of an object's known links, without removed links.
    private func known(
        _ owner: Int64, storage: (number: Int, isFlipped: Bool), isReflexive: Bool
    ) -> Set<Key> {
        var found = keys[End(relationship: storage.number, isTarget: storage.isFlipped, key: owner)] ?? []
        if isReflexive {
            found.formUnion(keys[End(relationship: storage.number, isTarget: true, key: owner)] ?? [])
        }
        return found.filter { links[$0] ?? nil != nil }
    }
}
