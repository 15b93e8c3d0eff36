public import RoostCore
internal import RoostMigration

/// A reference implementation of the store contract, with which checks compare other stores.
///
/// It defines the effect of a change set, the reasons to refuse it, and the resulting content. It
/// is slow, and keeps its content in dictionaries, not on disk.
public struct ReferenceStore: Sendable {
    package let model: ManagedObjectModel
    /// The objects by the number of their root entity, then by key.
    package private(set) var objects: [Int: [Int64: Record]] = [:]
    /// The links by the number of the relationship that owns them, then by source and target.
    package private(set) var links: [Int: [Ends: Link]] = [:]
    package private(set) var userMetadata: [String: MetadataValue] = [:]
    /// The number of commits that changed anything.
    package private(set) var commitCount = 0
    /// The highest key that any object of a hierarchy ever had, by the number of the root entity.
    package private(set) var lastKeys: [Int: Int64] = [:]
    /// Whether the change set that is being applied changed anything.
    ///
    /// A link that is removed and added again counts as a change.
    private var isChanged = false

    package struct Ends: Hashable, Sendable {
        let source, target: Int64
    }

    /// Creates an empty store.
    public init(model: ManagedObjectModel) { self.model = model }

    /// The content, in the order in which a store returns it.
    package var contents: StoreContents {
        var contents = StoreContents()
        for root in model.roots {
            contents.objects[root] = (objects[root] ?? [:]).values.map { StoredObject($0) }.sorted {
                $0.id.key < $1.id.key
            }
        }
        for relationship in model.linkRelationships {
            contents.links[relationship.number] = (links[relationship.number] ?? [:]).values
                .sorted { ($0.source, $0.order, $0.target) < ($1.source, $1.order, $1.target) }
        }
        contents.userMetadata = userMetadata
        return contents
    }

    package var digest: StoreDigest {
        var tally = StoreTally(model: model)
        for records in objects.values {
            var batch = RecordBatch(model: model)
            for record in records.values { batch.append(record) }
            tally.add(batch)
        }
        for (relationship, links) in links {
            tally.add(LinkBatch(relationship: relationship, links: Array(links.values)))
        }
        return tally.digest
    }

    /// Returns the record of an object, or nil.
    ///
    /// The ID must name the object's own entity.
    package func record(_ id: ObjectID) -> Record? {
        guard let entity = model.entity(id.entity), let record = objects[entity.root]?[id.key], record.id == id else {
            return nil
        }
        return record
    }

    /// Returns the records of an entity and its subentities in the order of keys.
    package func records(of entity: ManagedObjectModel.Entity) -> [Record] {
        (objects[entity.root] ?? [:]).values
            .filter { entity.includes(model.entity($0.id.entity)?.number ?? -1) }
            .sorted { $0.id.key < $1.id.key }
    }

    /// Returns the existing records with these IDs, in this order.
    ///
    /// An ID finds objects of its entity and of subentities.
    package func records(with ids: [ObjectID]) -> [Record] {
        ids.compactMap { id in
            guard let entity = model.entity(id.entity), let record = objects[entity.root]?[id.key],
                let own = model.entity(record.id.entity), entity.includes(own.number)
            else { return nil }
            return record
        }
    }

    package func hasLink(_ link: Link, of relationship: Int) -> Bool {
        links[relationship]?[Ends(source: link.source, target: link.target)] != nil
    }

    /// Returns the keys of the destinations of an object's to-many relationship, in order.
    package func targets(of relationship: ManagedObjectModel.Relationship, from key: Int64) -> [Int64] {
        placedTargets(of: relationship, from: key).map(\.key)
    }

    /// Returns the destinations of an object with their places, in order.
    private func placedTargets(
        of relationship: ManagedObjectModel.Relationship, from key: Int64
    ) -> [(place: Int64, key: Int64)] {
        guard exists(key, entity: relationship.source) else { return [] }
        switch relationship.storage {
        case .field: return []
        case .derived(let inverse):
            let back = model.relationships[inverse]
            let name = back.name.name
            var found: [(place: Int64, key: Int64)] = []
            for record in (objects[model.entities[back.source].root] ?? [:]).values {
                let values = record.values()
                guard model.entities[back.source].includes(model.entity(record.id.entity)?.number ?? -1),
                    case .objectID(let target)? = values[name], target.key == key
                else { continue }
                var place: Int64 = 0
                if relationship.isOrdered,
                    case .int(let order)? = try? record.value(RecordLayout.orderFieldName(of: name))
                {
                    place = order
                }
                found.append((place, record.id.key))
            }
            return found.sorted { $0 < $1 }
        case .links(let owner, let isFlipped):
            var found: [(place: Int64, key: Int64)] = []
            for link in (links[owner] ?? [:]).values {
                if link.source == key, !isFlipped { found.append((link.order, link.target)) }
                if link.target == key, isFlipped || relationship.isReflexive,
                    !(relationship.isReflexive && link.source == key)
                {
                    found.append((link.inverseOrder, link.source))
                }
            }
            return found.sorted { $0 < $1 }
        }
    }

    // MARK: Committing

    /// The reasons for refusing a change set.
    public struct Refusal: Error, Sendable {
        /// The codes that apply; a store reports one of them.
        package var codes: Set<StoreError.Code> = []
        /// The objects that do not have the expected version or do not exist.
        package var conflicts: Set<ObjectID> = []
        /// The objects that would share unique values.
        package var colliding: Set<ObjectID> = []
    }

    /// Applies a change set, or refuses it and changes nothing.
    public mutating func commit(_ changes: ChangeSet) throws(Refusal) {
        var next = self
        var refusal = Refusal()
        next.apply(changes, refusal: &refusal)
        guard refusal.codes.isEmpty else { throw refusal }
        if next.isChanged { next.commitCount += 1 }
        next.isChanged = false
        self = next
    }

    private mutating func apply(_ changes: ChangeSet, refusal: inout Refusal) {
        var written: Set<ObjectID> = []
        isChanged = !changes.inserts.isEmpty || !changes.updates.isEmpty || !changes.deletes.isEmpty
        requireVersions(changes, refusal: &refusal)
        requireLastPlaces(changes, refusal: &refusal)

        // A change set cannot update or delete one object twice. An insert cannot use the key of a
        // deleted object, because keys are never reused.
        var changed: Set<[Int64]> = []
        for id in changes.updates.ids + changes.deletes.map(\.id)
        where !changed.insert([Int64(root(of: id)), id.key]).inserted {
            refusal.codes.insert(.invalidRequest)
        }
        if changes.requiresUnlinkedDeletes, hasLinksThatStay(changes) { refusal.codes.insert(.deleteDenied) }
        for reference in changes.deletes { remove(reference.id) }
        for index in 0..<changes.inserts.count {
            let id = changes.inserts.id(at: index)
            let root = root(of: id)
            if objects[root]?[id.key] != nil || changed.contains([Int64(root), id.key]) {
                refusal.codes.insert(.duplicateObject)
            }
            objects[root, default: [:]][id.key] = Self.record(changes.inserts, index: index, version: 1)
            lastKeys[root] = max(lastKeys[root] ?? 0, id.key)
            written.insert(id)
        }
        for index in 0..<changes.updates.count {
            let id = changes.updates.id(at: index)
            objects[root(of: id), default: [:]][id.key] = Self.record(
                changes.updates, index: index, version: changes.updates.version(at: index) &+ 1)
            written.insert(id)
        }
        applyLinks(changes, refusal: &refusal)
        for id in changes.existing where record(id) == nil { refusal.codes.insert(.objectNotFound) }
        if changes.requiresUnreferencedDeletes, hasReferences(to: changes.deletes) {
            refusal.codes.insert(.deleteDenied)
        }
        findCollisions(written, refusal: &refusal)
        for (key, value) in changes.userMetadata where userMetadata[key] != value {
            userMetadata[key] = value
            isChanged = true
        }
    }

    private func requireVersions(_ changes: ChangeSet, refusal: inout Refusal) {
        for reference in changes.deletes + changes.unchanged {
            requireVersion(reference.id, version: reference.version, refusal: &refusal)
        }
        for index in 0..<changes.updates.count {
            requireVersion(
                changes.updates.id(at: index), version: changes.updates.version(at: index), refusal: &refusal)
        }
    }

    private func requireLastPlaces(_ changes: ChangeSet, refusal: inout Refusal) {
        for last in changes.lastPlaces {
            guard let relationship = try? model.requireRelationship(last.relationship), relationship.isOrdered else {
                refusal.codes.insert(.invalidRequest)
                continue
            }
            let places = placedTargets(of: relationship, from: last.id.key).map(\.place)
            if places.contains(where: { place in last.place.map { place > $0 } ?? true }) {
                refusal.codes.insert(.conflict)
            }
        }
    }

    private mutating func applyLinks(_ changes: ChangeSet, refusal: inout Refusal) {
        for batch in changes.removedLinks {
            for link in batch.links {
                let ends = Ends(source: link.source, target: link.target)
                if links[batch.relationship]?.removeValue(forKey: ends) != nil { isChanged = true }
            }
        }
        for batch in changes.addedLinks {
            let relationship = model.relationships[batch.relationship]
            for link in batch.links {
                if !exists(link.source, entity: relationship.source)
                    || !exists(link.target, entity: relationship.destination)
                {
                    refusal.codes.insert(.objectNotFound)
                }
                let ends = Ends(source: link.source, target: link.target)
                if links[batch.relationship, default: [:]].updateValue(link, forKey: ends) != link {
                    isChanged = true
                }
            }
        }
    }

    /// Returns whether a link would connect a remaining object with a deleted one.
    ///
    /// Ignores links that the change set removes and, without an inverse, links of a deleted
    /// source.
    private func hasLinksThatStay(_ changes: ChangeSet) -> Bool {
        let deleted = Set(changes.deletes.map { [Int64(root(of: $0.id)), $0.id.key] })
        return model.linkRelationships.contains { relationship in
            let removed = changes.removedLinks.filter { $0.relationship == relationship.number }.flatMap(\.links)
            let gone = Set(removed.map { Ends(source: $0.source, target: $0.target) })
            let (source, target) = (
                Int64(model.entities[relationship.source].root), Int64(model.entities[relationship.destination].root)
            )
            return (links[relationship.number] ?? [:]).contains { ends, _ in
                guard !gone.contains(ends) else { return false }
                let (losesSource, losesTarget) = (
                    deleted.contains([source, ends.source]), deleted.contains([target, ends.target])
                )
                return losesSource ? !losesTarget && relationship.inverse != nil : losesTarget
            }
        }
    }

    /// Returns whether an object has a to-one reference to a deleted one.
    private func hasReferences(to deleted: [ChangeSet.Reference]) -> Bool {
        let places = Set(deleted.map { [Int64(root(of: $0.id)), $0.id.key] })
        for records in objects.values {
            for record in records.values {
                guard let entity = model.entity(record.id.entity) else { continue }
                for relationship in entity.relationships where relationship.storage == .field {
                    guard case .objectID(let target)? = try? record.value(relationship.name.name) else { continue }
                    if places.contains([Int64(root(of: target)), target.key]) { return true }
                }
            }
        }
        return false
    }

    private func root(of id: ObjectID) -> Int { model.entity(id.entity)?.root ?? -1 }

    private func requireVersion(_ id: ObjectID, version: UInt32, refusal: inout Refusal) {
        guard record(id)?.version != version else { return }
        refusal.codes.insert(.conflict)
        refusal.conflicts.insert(id)
    }

    private func exists(_ key: Int64, entity: Int) -> Bool {
        guard let record = objects[model.entities[entity].root]?[key], let own = model.entity(record.id.entity) else {
            return false
        }
        return model.entities[entity].includes(own.number)
    }

    private mutating func remove(_ id: ObjectID) {
        let root = root(of: id)
        objects[root]?[id.key] = nil
        for relationship in model.linkRelationships {
            let (isSource, isTarget) = (
                model.entities[relationship.source].root == root, model.entities[relationship.destination].root == root
            )
            links[relationship.number] = links[relationship.number]?.filter { ends, _ in
                !(isSource && ends.source == id.key) && !(isTarget && ends.target == id.key)
            }
        }
    }

    private static func record(_ batch: RecordBatch, index: Int, version: UInt32) -> Record {
        var copy = RecordBatch(model: batch.model)
        copy.append(batch, at: index)
        copy.setVersionOfLast(version)
        return copy.record(at: 0)
    }

    private func findCollisions(_ written: Set<ObjectID>, refusal: inout Refusal) {
        for constraint in model.uniquenessConstraints {
            let entity = model.entities[constraint.entity]
            // Only written objects can cause a new collision.
            guard written.contains(where: { root(of: $0) == entity.root }) else { continue }
            var holders: [[Value]: [ObjectID]] = [:]
            for record in (objects[entity.root] ?? [:]).values
            where entity.includes(model.entity(record.id.entity)?.number ?? -1) {
                let claimed = constraint.attributes.map { (try? record.value($0)) ?? .null }
                if claimed.contains(where: \.isNull) { continue }
                holders[claimed, default: []].append(record.id)
            }
            for ids in holders.values where ids.count > 1 && ids.contains(where: written.contains) {
                refusal.codes.insert(.constraintViolation)
                refusal.colliding.formUnion(ids)
            }
        }
    }
}
