internal import RoostCore
internal import RoostMigration

/// The effect of one operation: the action, and the result that every store must return.
enum LockStepStep {
    /// A change is added to the change set; `version` is its expected or new version, or 0.
    case change(LockStepOperation, version: UInt32)
    /// No effect.
    ///
    /// Either the change set already has a change of the object, or the snapshot to open is already
    /// open, or the snapshot to close is not open.
    case nothing
    /// The change set is written or refused; a written change set may change nothing.
    case commit(ChangeSet, ReferenceStore.Refusal?, changesAnything: Bool)
    /// The inserts and added links of the change set are loaded, refused, or abandoned.
    case load(ChangeSet, ReferenceStore.Refusal?, finishes: Bool)
    case reserveKeys(Int, EntityName)
    case scan(EntityName, after: Int64?, [StoredObject])
    case read([ObjectID], [StoredObject])
    case walk(RelationshipName, ObjectID, [Int64])
    case fetch(FetchRequest, [Int64])
    case openSnapshot(Int)
    case closeSnapshot(Int, StoreContents)
    case reopen
    case reopenReadOnly
}

/// The plain model of a sequence: a ``ReferenceStore``, the gathered changes, and the content of
/// open snapshots.
struct LockStepModel {
    private(set) var reference: ReferenceStore
    private(set) var changes: ChangeSet
    private(set) var touched: Set<ObjectID> = []
    private(set) var views: [Int: StoreContents] = [:]

    init(_ model: ManagedObjectModel) {
        reference = ReferenceStore(model: model)
        changes = ChangeSet(model: model)
    }

    private var model: ManagedObjectModel { reference.model }

    /// Adds the change of one operation to the change set, and returns its effect.
    private mutating func gather(_ operation: LockStepOperation) throws(StoreError) -> LockStepStep {
        switch operation {
        case .insert(let id, let values):
            guard touched.insert(id).inserted else { return .nothing }
            try changes.insert(id, values: values)
            return .change(operation, version: 1)
        case .update(let id, let values, let isStale):
            guard touched.insert(id).inserted else { return .nothing }
            let version = version(of: id, isStale: isStale)
            try changes.update(id, version: version, values: values)
            return .change(operation, version: version)
        case .delete(let id, let isStale):
            guard touched.insert(id).inserted else { return .nothing }
            let version = version(of: id, isStale: isStale)
            changes.delete(id, version: version)
            return .change(operation, version: version)
        case .requireUnchanged(let id, let isStale):
            guard touched.insert(id).inserted else { return .nothing }
            let version = version(of: id, isStale: isStale)
            changes.unchanged.append(.init(id, version: version))
            return .change(operation, version: version)
        case .requireExisting(let id):
            changes.existing.append(id)
            return .change(operation, version: 0)
        case .requireUnreferencedDeletes:
            changes.requiresUnreferencedDeletes = true
            changes.requiresUnlinkedDeletes = true
            return .change(operation, version: 0)
        case .link(let link, let relationship):
            try changes.add(link, to: relationship)
            return .change(operation, version: 0)
        case .unlink(let link, let relationship):
            try changes.remove(link, from: relationship)
            return .change(operation, version: 0)
        case .setMetadata(let key, let value):
            changes.userMetadata[key] = .some(value)
            return .change(operation, version: 0)
        default: return .nothing
        }
    }

    mutating func step(_ operation: LockStepOperation) throws(StoreError) -> LockStepStep {
        switch operation {
        case .insert, .update, .delete, .requireUnchanged, .requireExisting, .requireUnreferencedDeletes, .link,
            .unlink, .setMetadata:
            return try gather(operation)
        case .commit:
            let (changes, count) = (takeChanges(), reference.commitCount)
            let refusal = commit(changes)
            return .commit(changes, refusal, changesAnything: reference.commitCount > count)
        case .load(let finishes):
            let changes = loadable(takeChanges())
            guard !finishes else { return .load(changes, commit(changes), finishes: true) }
            var copy = self
            return .load(changes, copy.commit(changes), finishes: false)
        case .reserveKeys(let count, let entity): return .reserveKeys(count, entity)
        case .scan(let entity, let key):
            let records = reference.records(of: try model.requireEntity(entity)).filter { $0.id.key > key ?? 0 }
            return .scan(entity, after: key, records.map { StoredObject($0) })
        case .read(let ids): return .read(ids, reference.records(with: ids).map { StoredObject($0) })
        case .walk(let name, let id):
            let relationship = try model.requireRelationship(name)
            return .walk(name, id, reference.targets(of: relationship, from: id.key))
        case .fetch(let request):
            let entity = try model.requireEntity(request.entity)
            let objects = reference.records(of: entity)
                .filter { request.includesSubentities || $0.id.entity == request.entity }
                .map { (id: $0.id, values: $0.values()) }
            return .fetch(request, try PlainPredicate.keys(request, among: objects, in: model))
        case .openSnapshot(let number):
            guard views[number] == nil else { return .nothing }
            views[number] = reference.contents
            return .openSnapshot(number)
        case .closeSnapshot(let number):
            guard let contents = views.removeValue(forKey: number) else { return .nothing }
            return .closeSnapshot(number, contents)
        case .reopen:
            views = [:]
            return .reopen
        case .reopenReadOnly:
            views = [:]
            return .reopenReadOnly
        }
    }

    private func version(of id: ObjectID, isStale: Bool) -> UInt32 {
        (reference.record(id)?.version ?? 1) &+ (isStale ? 1 : 0)
    }

    private mutating func takeChanges() -> ChangeSet {
        defer { (changes, touched) = (ChangeSet(model: model), []) }
        return changes
    }

    private mutating func commit(_ changes: ChangeSet) -> ReferenceStore.Refusal? {
        do throws(ReferenceStore.Refusal) { try reference.commit(changes) } catch { return error }
        return nil
    }

    /// Returns the changes that can be loaded: inserts, and new links between existing or inserted
    /// objects.
    ///
    /// Other links are left out, because a loader does not check the ends of links.
    private func loadable(_ changes: ChangeSet) -> ChangeSet {
        var result = ChangeSet(model: model)
        result.inserts = changes.inserts
        for batch in changes.addedLinks {
            let relationship = model.relationships[batch.relationship]
            var seen: Set<[Int64]> = []
            let links = batch.links.filter { link in
                exists(link.source, entity: relationship.source, inserts: changes.inserts)
                    && exists(link.target, entity: relationship.destination, inserts: changes.inserts)
                    && !reference.hasLink(link, of: batch.relationship)
                    && seen.insert([link.source, link.target]).inserted
            }
            if !links.isEmpty { result.addedLinks.append(LinkBatch(relationship: batch.relationship, links: links)) }
        }
        return result
    }

    private func exists(_ key: Int64, entity: Int, inserts: RecordBatch) -> Bool {
        let entity = model.entities[entity]
        return !reference.records(with: [ObjectID(entity.name, key: key)]).isEmpty
            || (0..<inserts.count).contains {
                inserts.key(at: $0) == key && entity.includes(inserts.entityNumber(at: $0))
            }
    }
}
