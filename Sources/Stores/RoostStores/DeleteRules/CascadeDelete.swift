package import RoostCore

extension StoreSnapshot {
    /// Computes the changes of a batch delete.
    ///
    /// - Throws: The errors of executing the request, except `conflict`.
    package func prepare(
        _ request: BatchDeleteRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> PreparedBatch {
        try prepare(request, rules: try ModelRules(try batchModel(model)))
    }

    func prepare(_ request: BatchDeleteRequest, rules: ModelRules) throws(StoreError) -> PreparedBatch {
        var propagation = DeletePropagation(self, rules: rules)
        return try propagation.run(request.selection)
    }
}

/// The deletion of objects, including all changes that delete rules require.
struct DeletePropagation {
    /// A relationship whose delete rule can change other objects or deny the delete.
    private struct Rule {
        let relationship: ManagedObjectModel.Relationship
        /// The relationship's field, or nil for a to-many relationship.
        let field: RecordLayout.Field?
    }

    /// A reference or link of a deleted object in a relationship with the rule `deny`.
    private struct DenyRule {
        let relationship: Int
        let source: ObjectID
        let target: Int64
    }

    /// The maximum number of deleted objects for which one request fetches the referring objects.
    ///
    /// For more deleted objects, all objects that can refer to them are read.
    private static let lookUpCount = 1000

    private let snapshot: any StoreSnapshot
    private let modelRules: ModelRules
    private let model: ManagedObjectModel
    private let rules: [[Rule]]
    /// For each entity number, the to-one relationships to clear when their destination is deleted.
    private let clearable: [[RecordLayout.Field]]
    private var objects: [ChangeSet.Reference] = []
    /// For each number of a root entity, the keys of the deleted objects in its hierarchy.
    private var gone: [Set<Int64>]
    /// For each number of a destination entity, keys of objects that a rule deletes.
    ///
    /// Some of these objects may already be in ``objects``.
    private var waiting: [[Int64]]
    /// For each number of a destination entity, keys of objects that may refer to a deleted object.
    private var referring: [Set<Int64>]
    private var denyRules: [DenyRule] = []
    private var denials: [DeleteDenial] = []
    private var links = LinkBatch(relationship: 0)

    init(_ snapshot: any StoreSnapshot, rules modelRules: ModelRules) {
        let model = modelRules.model
        self.snapshot = snapshot
        self.modelRules = modelRules
        self.model = model
        rules = model.entities.map { entity in
            entity.relationships.filter { $0.declaration.deleteRule.asksForWork($0, model: model) }
                .map { Rule(relationship: $0, field: $0.isToMany ? nil : entity.layout.field($0.name.name)) }
        }
        clearable = model.entities.map { entity in
            entity.relationships.filter { $0.isClearedOnDelete(model) }
                .compactMap { entity.layout.field($0.name.name) }
        }
        gone = Array(repeating: [], count: model.entities.count)
        waiting = Array(repeating: [], count: model.entities.count)
        referring = Array(repeating: [], count: model.entities.count)
    }

    mutating func run(_ selection: BatchDeleteRequest.Selection) throws(StoreError) -> PreparedBatch {
        switch selection {
        case .fetched(let request): try delete(try snapshot.fetch(request))
        case .objectIDs(let ids): try delete(try snapshot.records(with: ids))
        }
        let requestedCount = objects.count
        try cascade()
        try collectDenials()
        var changes = ChangeSet(model: model)
        changes.updates = try clearedRecords()
        changes.deletes = objects
        var failures = FailureList()
        for denial in denials { failures.add(denial) }
        var rules = ChangeRules(modelRules, on: snapshot)
        try rules.apply(to: &changes, failures: &failures) { .row($0 + 1) }
        guard denials.isEmpty else {
            throw DeleteDenial.error(denials).with { $0.failures = failures.failures }
        }
        try failures.throwIfAny()
        changes.requiresUnreferencedDeletes = !leavesReferences
        return PreparedBatch(changes: changes, requestedCount: requestedCount, objects: objects, updateCount: 0)
    }

    /// Whether a rule allows references to deleted objects.
    private var leavesReferences: Bool {
        model.relationships.contains { $0.declaration.deleteRule == .noAction && $0.inverse != nil }
    }

    // MARK: Deleted objects

    private mutating func cascade() throws(StoreError) {
        while let entity = waiting.firstIndex(where: { !$0.isEmpty }) {
            let (keys, root) = (waiting[entity], model.entities[entity].root)
            waiting[entity] = []
            let fresh = keys.filter { !gone[root].contains($0) }
            try forEachChunk(of: fresh, entity: entity) { (propagation, cursor) throws(StoreError) in
                try propagation.delete(cursor)
            }
        }
    }

    private mutating func delete(_ cursor: any RecordCursor) throws(StoreError) {
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            try batch.forEachRecord { (record) throws(StoreError) in try delete(record) }
        }
    }

    private mutating func delete(_ record: RecordReader) throws(StoreError) {
        let entity = record.entityNumber
        guard gone[model.entities[entity].root].insert(record.key).inserted else { return }
        objects.append(ChangeSet.Reference(record.id, version: record.version))
        for rule in rules[entity] {
            if let field = rule.field {
                if let (_, key) = record.reference(field) { apply(rule, to: key, from: record) }
                continue
            }
            let cursor = try snapshot.links(of: rule.relationship.name, from: record.id)
            var links = links
            while try cursor.next(into: &links) {
                for link in links.links { apply(rule, to: link.target, from: record) }
            }
            self.links = links
        }
    }

    private mutating func apply(_ rule: Rule, to key: Int64, from record: RecordReader) {
        let destination = rule.relationship.destination
        switch rule.relationship.declaration.deleteRule {
        case .cascade: waiting[destination].append(key)
        case .nullify: referring[destination].insert(key)
        case .deny: denyRules.append(DenyRule(relationship: rule.relationship.number, source: record.id, target: key))
        case .noAction: break
        }
    }

    // MARK: Denials

    /// Adds a denial for each element of ``denyRules`` whose target exists and is not deleted.
    private mutating func collectDenials() throws(StoreError) {
        var byDestination: [Int: [DenyRule]] = [:]
        for denyRule in denyRules {
            let destination = model.relationships[denyRule.relationship].destination
            guard !gone[model.entities[destination].root].contains(denyRule.target) else { continue }
            byDestination[destination, default: []].append(denyRule)
        }
        for (destination, denyRules) in byDestination.sorted(by: { $0.key < $1.key }) {
            var existing: [Int64: ObjectID] = [:]
            let keys = Set(denyRules.map(\.target)).sorted()
            try forEachChunk(of: keys, entity: destination) { (propagation, cursor) throws(StoreError) in
                var batch = RecordBatch(model: propagation.model)
                while try cursor.next(into: &batch) {
                    for index in 0..<batch.count { existing[batch.key(at: index)] = batch.id(at: index) }
                }
            }
            for denyRule in denyRules {
                guard let remaining = existing[denyRule.target] else { continue }
                denials.append(
                    DeleteDenial(
                        relationship: model.relationships[denyRule.relationship].name, deleted: denyRule.source,
                        remaining: remaining, reason: .rule))
            }
        }
    }

    // MARK: Cleared references

    /// Returns the records that refer to deleted objects, with these references cleared.
    private mutating func clearedRecords() throws(StoreError) -> RecordBatch {
        var cleared = RecordBatch(model: model)
        try collectReferringOfThemselves()
        var done = Array(repeating: Set<Int64>(), count: model.entities.count)
        for entity in referring.indices where !referring[entity].isEmpty {
            let root = model.entities[entity].root
            let keys = referring[entity].filter { !gone[root].contains($0) && !done[root].contains($0) }.sorted()
            done[root].formUnion(keys)
            try forEachChunk(of: keys, entity: entity) { (propagation, cursor) throws(StoreError) in
                var batch = RecordBatch(model: propagation.model)
                while try cursor.next(into: &batch) {
                    try batch.forEachRecord { (record) throws(StoreError) in
                        try propagation.clear(record, into: &cleared)
                    }
                }
            }
        }
        return cleared
    }

    /// Appends a record with its references to deleted objects cleared.
    ///
    /// Adds a denial for each cleared reference that is mandatory.
    private mutating func clear(_ record: RecordReader, into cleared: inout RecordBatch) throws(StoreError) {
        var fields: [(field: RecordLayout.Field, value: Value)] = []
        for field in clearable[record.entityNumber] {
            guard let (target, key) = record.reference(field), target < model.entities.count,
                gone[model.entities[target].root].contains(key), let number = field.relationship
            else { continue }
            let relationship = model.relationships[number]
            if !relationship.declaration.isOptional {
                denials.append(
                    DeleteDenial(
                        relationship: relationship.name, deleted: ObjectID(model.entities[target].name, key: key),
                        remaining: record.id, reason: .mandatory))
            }
            fields.append((field, .null))
            if let place = record.layout.field(RecordLayout.orderFieldName(of: field.name)) {
                fields.append((place, .null))
            }
        }
        if !fields.isEmpty { try cleared.append(record, replacing: fields) }
    }

    /// Finds objects that refer to deleted objects, even if the deleted objects do not refer back.
    ///
    /// A to-one relationship may have no inverse, or a to-one inverse that is empty because only
    /// one side was edited.
    private mutating func collectReferringOfThemselves() throws(StoreError) {
        for relationship in model.relationships where relationship.storage == .field {
            if let inverse = relationship.inverse.map({ model.relationships[$0] }) {
                // The rule `noAction` keeps the reference.
                guard inverse.storage == .field, inverse.declaration.deleteRule != .noAction else { continue }
            }
            let root = model.entities[relationship.destination].root
            guard !gone[root].isEmpty else { continue }
            let source = model.entities[relationship.source]
            let cursor =
                gone[root].count <= Self.lookUpCount
                ? try snapshot.fetch(
                    FetchRequest(
                        source.name,
                        where: .isIn(
                            relationship.name.name,
                            values: gone[root].map {
                                .objectID(ObjectID(model.entities[relationship.destination].name, key: $0))
                            })))
                : try snapshot.records(of: source.name, after: nil)
            var batch = RecordBatch(model: model)
            while try cursor.next(into: &batch) {
                batch.forEachRecord { record in
                    guard let field = record.layout.field(relationship.name.name),
                        let (_, key) = record.reference(field), gone[root].contains(key)
                    else { return }
                    referring[relationship.source].insert(record.key)
                }
            }
        }
    }

    private mutating func forEachChunk(
        of keys: [Int64], entity: Int,
        _ body: (inout Self, any RecordCursor) throws(StoreError) -> Void
    ) throws(StoreError) {
        let name = model.entities[entity].name
        var start = 0
        while start < keys.count {
            let end = min(keys.count, start + 4096)
            try body(&self, try snapshot.records(with: keys[start..<end].map { ObjectID(name, key: $0) }))
            start = end
        }
    }
}

extension DeleteRule {
    /// Returns whether the rule of a relationship requires work besides deleting the object itself.
    fileprivate func asksForWork(
        _ relationship: ManagedObjectModel.Relationship, model: ManagedObjectModel
    ) -> Bool {
        switch self {
        case .cascade, .deny: true
        case .noAction: false
        // A store deletes the links of a deleted object. A reference is in the record of another object, which must
        // change.
        case .nullify: relationship.inverse.map { model.relationships[$0].storage == .field } ?? false
        }
    }
}

extension ManagedObjectModel.Relationship {
    /// Returns whether a reference is cleared when its destination is deleted.
    fileprivate func isClearedOnDelete(_ model: ManagedObjectModel) -> Bool {
        guard storage == .field else { return false }
        guard let inverse = inverse.map({ model.relationships[$0] }) else { return true }
        switch inverse.declaration.deleteRule {
        case .nullify: return true
        case .noAction: return false
        // The rule deletes the objects to which the inverse refers, or denies the delete. If the inverse is to-one,
        // other objects may also refer to the deleted object. Their references are cleared.
        case .cascade, .deny: return inverse.storage == .field
        }
    }
}
