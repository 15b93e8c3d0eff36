package import Foundation
package import RoostCore
internal import RoostQuery

/// The rules that concern more than one record, applied to a change set before its commit.
///
/// The rules are derived attributes and the limited counts of to-many relationships.
/// ``FailureList`` checks single records.
package struct ChangeRules {
    private let rules: ModelRules
    private let model: ManagedObjectModel
    private let snapshot: any StoreSnapshot
    /// The value of `now()`, which is the same for the whole commit.
    private let now: Date
    /// The position in ``oldRecords`` of each stored record that was read.
    private var old: [ObjectPlace: Int] = [:]
    private var oldRecords: RecordBatch
    /// The objects that get a new version even if their values do not change.
    ///
    /// A concurrent writer then gets a conflict. Otherwise, a derived attribute could keep an old
    /// value, or a count could violate its limits.
    private var touched: Set<ObjectPlace> = []

    /// The maximum number of objects whose owners one request looks up.
    private static let chunkCount = 500
    /// The maximum length of a chain of changed objects in which derived attributes depend on each
    /// other.
    private static let mostRounds = 1_000

    package init(_ rules: ModelRules, on snapshot: any StoreSnapshot, now: Date = Date()) {
        self.rules = rules
        model = rules.model
        self.snapshot = snapshot
        self.now = now
        oldRecords = RecordBatch(model: rules.model)
    }

    /// Computes derived attributes and compares counts.
    ///
    /// Objects that depend on changed objects are appended to the updates. The commit fails if
    /// another writer has changed an object whose values were used. The following objects get a new
    /// version, so that one of two concurrent writers must start again:
    ///
    /// - objects whose limited counts change, so that two writers together cannot exceed a limit,
    /// - objects with an aggregate over a changed object, even if the aggregate does not change,
    /// - objects that a derived attribute reads through a new reference or link.
    ///
    /// `subject` receives the position of an insert.
    ///
    /// - Throws: `invalidModel` for derived attributes that depend on each other in a circle, or
    ///   over too long a chain of changed objects; `invalidValue` for a value that a derived
    ///   attribute cannot hold.
    package mutating func apply(
        to changes: inout ChangeSet, failures: inout FailureList,
        subject: (Int) -> ValidationFailure.Subject
    ) throws(StoreError) {
        guard try rules.concern(changes) else { return }
        try readOld(changes)
        // `now()` is set only in objects that the program changes, not in their dependents.
        let programUpdateCount = changes.updates.count
        try checkCounts(&changes, failures: &failures, subject: subject)
        if failures.isEmpty { try derive(&changes, programUpdateCount: programUpdateCount) }
        try removeUpdated(from: &changes)
    }

    /// Removes updated and deleted objects from ``ChangeSet/unchanged``, because a commit checks
    /// their versions anyway.
    private func removeUpdated(from changes: inout ChangeSet) throws(StoreError) {
        guard !changes.unchanged.isEmpty else { return }
        var changed: Set<ObjectPlace> = []
        for index in 0..<changes.updates.count { changed.insert(model.place(of: changes.updates, at: index)) }
        for deleted in changes.deletes { changed.insert(try model.place(of: deleted.id)) }
        var unchanged: [ChangeSet.Reference] = []
        for reference in changes.unchanged where !changed.contains(try model.place(of: reference.id)) {
            unchanged.append(reference)
        }
        changes.unchanged = unchanged
    }

    // MARK: Stored records

    private mutating func readOld(_ changes: ChangeSet) throws(StoreError) {
        var ids = (0..<changes.updates.count).map { changes.updates.id(at: $0) }
        ids += changes.deletes.map(\.id)
        try readOld(ids)
    }

    private mutating func readOld(_ ids: [ObjectID]) throws(StoreError) {
        var batch = RecordBatch(model: model)
        var start = 0
        while start < ids.count {
            let end = min(ids.count, start + 4096)
            let cursor = try snapshot.records(with: Array(ids[start..<end]))
            while try cursor.next(into: &batch) {
                for index in 0..<batch.count {
                    old[model.place(of: batch, at: index)] = oldRecords.count
                    oldRecords.append(batch, at: index)
                }
            }
            start = end
        }
    }

    private func withOld<Result>(
        _ place: ObjectPlace, _ body: (RecordReader) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        guard let index = old[place] else { return nil }
        return try oldRecords.withRecord(at: index, body)
    }

    private func oldReference(
        _ relationship: ManagedObjectModel.Relationship, of place: ObjectPlace
    ) throws(StoreError) -> Int64? {
        try withOld(place) { (record) throws(StoreError) in
            record.layout.field(relationship.name.name).flatMap { record.reference($0)?.key }
        } ?? nil
    }

    // MARK: Counts

    private struct Owner: Hashable, Comparable {
        let place: ObjectPlace
        let relationship: Int

        static func < (left: Self, right: Self) -> Bool {
            left.place != right.place ? left.place < right.place : left.relationship < right.relationship
        }
    }

    private mutating func checkCounts(
        _ changes: inout ChangeSet, failures: inout FailureList, subject: (Int) -> ValidationFailure.Subject
    ) throws(StoreError) {
        let limits = Set(rules.counts.flatMap { $0.map(\.relationship.number) })
        guard !limits.isEmpty else { return }
        let graph = try ChangedGraph(changes, over: snapshot.objectGraph())
        var owners: Set<Owner> = []
        for number in limits {
            let relationship = model.relationships[number]
            let root = model.entities[relationship.source].root
            for key in try changedOwners(of: relationship, changes: changes) {
                owners.insert(Owner(place: ObjectPlace(root: root, key: key), relationship: number))
            }
        }
        var keys: [Int64] = []
        func violation(_ limit: CountLimit, key: Int64) throws(StoreError) -> ValidationFailure.Kind? {
            keys.removeAll(keepingCapacity: true)
            try graph.appendDestinations(of: limit.relationship, from: key, to: &keys)
            return limit.violation(of: keys.count)
        }
        for index in 0..<changes.inserts.count {
            for limit in rules.counts[changes.inserts.entityNumber(at: index)] {
                guard let kind = try violation(limit, key: changes.inserts.key(at: index)) else { continue }
                failures.add(
                    subject(index), entity: changes.inserts.id(at: index).entity,
                    property: limit.relationship.name.name, kind: kind)
            }
        }
        let stored = owners.filter { !graph.isInserted($0.place) && !graph.isDeleted($0.place) }.sorted()
        let unread = Set(stored.map(\.place)).filter { old[$0] == nil }.sorted()
        try readOld(unread.map { ObjectID(model.entities[$0.root].name, key: $0.key) })
        for owner in stored {
            guard let index = old[owner.place] else { continue }
            let entity = oldRecords.entityNumber(at: index)
            for limit in rules.counts[entity] where limit.relationship.number == owner.relationship {
                if !graph.isChanged(owner.place), touched.insert(owner.place).inserted {
                    changes.updates.append(oldRecords, at: index)
                }
                guard let kind = try violation(limit, key: owner.place.key) else { continue }
                failures.add(
                    .object(oldRecords.id(at: index)), entity: oldRecords.id(at: index).entity,
                    property: limit.relationship.name.name, kind: kind)
            }
        }
    }

    // MARK: Derived attributes

    private mutating func derive(_ changes: inout ChangeSet, programUpdateCount: Int) throws(StoreError) {
        guard !rules.derived.isEmpty else { return }
        let dependentStart = changes.updates.count
        // In each round, changed values advance one step along the chains of dependent attributes and objects.
        // Rounds that add objects are not counted, because the number of objects is finite.
        var roundCount = 0
        while true {
            let count = changes.updates.count
            try appendDependents(&changes)
            let isChanged = try evaluate(&changes, programUpdateCount: programUpdateCount)
            if changes.updates.count == count { roundCount += 1 }
            guard rules.derived.isNested, isChanged || changes.updates.count != count else { break }
            let objectCount = changes.inserts.count + changes.updates.count
            guard roundCount <= rules.derived.count + min(objectCount, Self.mostRounds) else {
                throw StoreError(
                    .invalidModel,
                    "Derived attributes of the model depend on each other in a circle, or over a chain of more than \(Self.mostRounds) changed objects. Change their expressions."
                )
            }
        }
        try removeUnchanged(&changes, from: dependentStart)
        try touchNewSources(&changes)
    }

    /// Requires a new version for stored objects that derived attributes read through new
    /// references and links.
    ///
    /// A concurrent writer that changes such an object cannot yet see that the attributes depend on
    /// it.
    private mutating func touchNewSources(_ changes: inout ChangeSet) throws(StoreError) {
        var sources: Set<ObjectPlace> = []
        for relationship in rules.derived.readRelationships {
            let root = model.entities[relationship.destination].root
            switch relationship.storage {
            // The destinations contain the references, so new destinations are in the change set.
            case .derived: continue
            case .field:
                for batch in [changes.inserts, changes.updates] {
                    for index in 0..<batch.count
                    where model.entities[relationship.source].includes(batch.entityNumber(at: index)) {
                        let new = batch.withRecord(at: index) { record in
                            record.layout.field(relationship.name.name).flatMap { record.reference($0)?.key }
                        }
                        guard let new, try oldReference(relationship, of: model.place(of: batch, at: index)) != new
                        else { continue }
                        sources.insert(ObjectPlace(root: root, key: new))
                    }
                }
            case .links(let owner, let isFlipped):
                for batch in changes.addedLinks where batch.relationship == owner {
                    for link in batch.links {
                        sources.insert(ObjectPlace(root: root, key: isFlipped ? link.source : link.target))
                        guard model.relationships[owner].isReflexive else { continue }
                        sources.insert(ObjectPlace(root: root, key: isFlipped ? link.target : link.source))
                    }
                }
            }
        }
        guard !sources.isEmpty else { return }
        for index in 0..<changes.inserts.count { sources.remove(model.place(of: changes.inserts, at: index)) }
        for index in 0..<changes.updates.count { sources.remove(model.place(of: changes.updates, at: index)) }
        for deleted in changes.deletes { sources.remove(try model.place(of: deleted.id)) }
        let unread = sources.filter { old[$0] == nil }.sorted()
        try readOld(unread.map { ObjectID(model.entities[$0.root].name, key: $0.key) })
        for place in sources.sorted() {
            if let index = old[place] { changes.updates.append(oldRecords, at: index) }
        }
    }

    /// Appends the stored objects whose derived attributes depend on changed objects.
    private mutating func appendDependents(_ changes: inout ChangeSet) throws(StoreError) {
        let graph = try ChangedGraph(changes, over: snapshot.objectGraph())
        var dependents: Set<ObjectPlace> = []
        for entity in model.entities where !rules.derived.attributes[entity.number].isEmpty {
            for attribute in rules.derived.attributes[entity.number] where !attribute.path.isEmpty {
                for key in try dependentKeys(on: changes, attribute: attribute) {
                    let place = ObjectPlace(root: entity.root, key: key)
                    if attribute.isAggregate { touched.insert(place) }
                    if !graph.isChanged(place) { dependents.insert(place) }
                }
            }
        }
        let unread = dependents.filter { old[$0] == nil }.sorted()
        try readOld(unread.map { ObjectID(model.entities[$0.root].name, key: $0.key) })
        for place in dependents.sorted() {
            if let index = old[place] { changes.updates.append(oldRecords, at: index) }
        }
    }

    private mutating func dependentKeys(
        on changes: ChangeSet, attribute: DerivedAttributes.Attribute
    ) throws(StoreError) -> Set<Int64> {
        // The loop follows the path backward. Each step finds the objects from which the path
        // reaches a change.
        var keys: Set<Int64> = []
        for depth in attribute.path.indices.reversed() {
            let relationship = attribute.path[depth]
            // `reached` contains the objects whose next property in the path changed, or from which the rest of the
            // path reaches a change.
            let name =
                depth + 1 < attribute.path.count
                ? attribute.path[depth + 1].name.name : attribute.sourceName
            var reached = keys
            if let name { reached.formUnion(try changedKeys(relationship.destination, name: name, changes: changes)) }
            keys = try storedOwners(of: relationship, leadingTo: reached)
            if relationship.isToMany {
                keys.formUnion(try changedOwners(of: relationship, changes: changes))
            }
        }
        return keys
    }

    /// Returns the keys of an entity's updated objects with a new value of the property `name`.
    private func changedKeys(_ entity: Int, name: String, changes: ChangeSet) throws(StoreError) -> Set<Int64> {
        var keys: Set<Int64> = []
        let target = model.entities[entity]
        for index in 0..<changes.updates.count {
            guard target.includes(changes.updates.entityNumber(at: index)) else { continue }
            let place = model.place(of: changes.updates, at: index)
            let isChanged = try changes.updates.withRecord(at: index) { (record) throws(StoreError) -> Bool in
                guard let field = record.layout.field(name) else { return false }
                let differs = try withOld(place) { (old) throws(StoreError) -> Bool in
                    old.value(field) != record.value(field)
                }
                return differs ?? true
            }
            if isChanged { keys.insert(place.key) }
        }
        return keys
    }

    /// Returns the keys of the stored objects whose relationship contains an object with one of the
    /// given keys.
    private func storedOwners(
        of relationship: ManagedObjectModel.Relationship, leadingTo keys: Set<Int64>
    ) throws(StoreError) -> Set<Int64> {
        var found: Set<Int64> = []
        guard !keys.isEmpty else { return found }
        let destination = model.entities[relationship.destination].name
        let ids = keys.sorted().map { ObjectID(destination, key: $0) }
        var start = 0
        while start < ids.count {
            let chunk = Array(ids[start..<min(ids.count, start + Self.chunkCount)])
            start += chunk.count
            switch relationship.storage {
            case .derived(let inverse):
                let field = model.relationships[inverse].name.name
                try forEach(try snapshot.records(with: chunk)) { record in
                    if let key = record.layout.field(field).flatMap({ record.reference($0)?.key }) { found.insert(key) }
                }
            case .links(_, _) where relationship.inverse != nil:
                let inverse = model.relationships[relationship.inverse ?? relationship.number]
                let cursor = try snapshot.links(of: inverse.name, from: chunk)
                var links = LinkBatch(relationship: inverse.number)
                while try cursor.next(into: &links) { for link in links.links { found.insert(link.target) } }
            case .field, .links:
                let comparison = FetchRequest.Comparison(
                    left: .keyPath([relationship.name.name]), operator: .isIn,
                    right: .aggregate(chunk.map { .constant(.objectID($0)) }),
                    modifier: relationship.isToMany ? .any : .direct)
                let request = FetchRequest(
                    model.entities[relationship.source].name, where: .comparison(comparison))
                for id in try snapshot.objectIDs(request) { found.insert(id.key) }
            }
        }
        return found
    }

    /// Returns the keys of the objects whose to-many relationship gains or loses an object.
    private func changedOwners(
        of relationship: ManagedObjectModel.Relationship, changes: ChangeSet
    ) throws(StoreError) -> Set<Int64> {
        var keys: Set<Int64> = []
        let destination = model.entities[relationship.destination]
        switch relationship.storage {
        case .field: break
        case .derived(let inverse):
            let reference = model.relationships[inverse]
            func add(_ batch: RecordBatch) throws(StoreError) {
                for index in 0..<batch.count where destination.includes(batch.entityNumber(at: index)) {
                    let new = batch.withRecord(at: index) { record in
                        record.layout.field(reference.name.name).flatMap { record.reference($0)?.key }
                    }
                    let old = try oldReference(reference, of: model.place(of: batch, at: index))
                    guard new != old else { continue }
                    if let new { keys.insert(new) }
                    if let old { keys.insert(old) }
                }
            }
            try add(changes.inserts)
            try add(changes.updates)
            for deleted in changes.deletes {
                if let key = try oldReference(reference, of: try model.place(of: deleted.id)) { keys.insert(key) }
            }
        case .links(let owner, let isFlipped):
            for batch in changes.addedLinks + changes.removedLinks where batch.relationship == owner {
                for link in batch.links {
                    keys.insert(isFlipped ? link.target : link.source)
                    if model.relationships[owner].isReflexive { keys.insert(isFlipped ? link.source : link.target) }
                }
            }
            var changed: Set<Int64> = []
            for deleted in changes.deletes where try model.requireEntity(deleted.id.entity).root == destination.root {
                changed.insert(deleted.id.key)
            }
            keys.formUnion(try storedOwners(of: relationship, leadingTo: changed))
        }
        return keys
    }

    private func forEach(_ cursor: any RecordCursor, _ body: (RecordReader) -> Void) throws(StoreError) {
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) { batch.forEachRecord(body) }
    }

    /// Computes the derived attributes of all inserts and updates, and returns whether a value
    /// changed.
    private mutating func evaluate(_ changes: inout ChangeSet, programUpdateCount: Int) throws(StoreError) -> Bool {
        let graph = try ChangedGraph(changes, over: snapshot.objectGraph())
        var evaluators: [[ExpressionEvaluator?]] = rules.derived.attributes.map { attributes in
            Array(repeating: nil, count: attributes.count)
        }
        var isChanged = false
        func derived(_ batch: RecordBatch, setsTime: (Int) -> Bool) throws(StoreError) -> RecordBatch {
            var result = RecordBatch(model: model)
            for index in 0..<batch.count {
                let attributes = rules.derived.attributes[batch.entityNumber(at: index)]
                guard !attributes.isEmpty else {
                    result.append(batch, at: index)
                    continue
                }
                try batch.withRecord(at: index) { (record) throws(StoreError) in
                    var values: [(field: RecordLayout.Field, value: Value)] = []
                    for (position, attribute) in attributes.enumerated() {
                        let value: Value
                        switch attribute.value {
                        case .now:
                            guard setsTime(index) else { continue }
                            value = .date(now)
                        case .expression(let expression):
                            let evaluator =
                                evaluators[attribute.entity][position] ?? expression.evaluator(over: graph)
                            evaluators[attribute.entity][position] = evaluator
                            graph.isTracking = !attribute.path.isEmpty && !attribute.isAggregate
                            value = try attribute.storedValue(of: record, by: evaluator)
                        }
                        if record.value(attribute.field) != value { values.append((attribute.field, value)) }
                    }
                    if values.isEmpty {
                        result.append(record)
                    } else {
                        isChanged = true
                        try result.append(record, replacing: values)
                    }
                }
            }
            return result
        }
        changes.inserts = try derived(changes.inserts, setsTime: { _ in true })
        changes.updates = try derived(changes.updates, setsTime: { $0 < programUpdateCount })
        try requireUnchanged(graph.readVersions, in: &changes)
        return isChanged
    }

    /// Adds the objects whose values were used to ``ChangeSet/unchanged``.
    private func requireUnchanged(
        _ versions: [ObjectPlace: UInt32], in changes: inout ChangeSet
    ) throws(StoreError) {
        guard !versions.isEmpty else { return }
        var known: Set<ObjectPlace> = []
        for reference in changes.unchanged { known.insert(try model.place(of: reference.id)) }
        for (place, version) in versions.sorted(by: { $0.key < $1.key }) where !known.contains(place) {
            changes.unchanged.append(
                ChangeSet.Reference(ObjectID(model.entities[place.root].name, key: place.key), version: version))
        }
    }

    /// Removes updates that were added for derived attributes, unless they change a value or the
    /// object needs a new version.
    private func removeUnchanged(_ changes: inout ChangeSet, from start: Int) throws(StoreError) {
        let updates = changes.updates
        guard start < updates.count else { return }
        var kept = RecordBatch(model: model)
        for index in 0..<updates.count {
            let place = model.place(of: updates, at: index)
            var isSame = false
            if index >= start, !touched.contains(place) {
                isSame = try updates.withRecord(at: index) { (record) throws(StoreError) -> Bool in
                    let isEqual = try withOld(place) { (old) throws(StoreError) -> Bool in
                        record.layout.fields.allSatisfy { record.value($0) == old.value($0) }
                    }
                    return isEqual ?? false
                }
            }
            if !isSame { kept.append(updates, at: index) }
        }
        changes.updates = kept
    }
}
