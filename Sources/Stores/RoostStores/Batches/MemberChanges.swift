internal import RoostCore

/// The new object lists of to-many relationships in a request.
///
/// Each relationship then contains exactly the objects of its list. If the relationship is ordered,
/// it gets the order of the list.
struct MemberChanges {
    /// An object in an assigned list.
    struct Member {
        /// The ID of the object, with the object's own entity.
        let id: ObjectID
        /// The owner's position in the inverse relationship, if the inverse is ordered.
        let inversePlace: Int64
    }

    private struct Assignment {
        let owner: ObjectID
        let isNew: Bool
        let relationship: ManagedObjectModel.Relationship
        /// The objects, without duplicates.
        let members: [Member]
    }

    /// The new value of an object's reference to its owner, and the object's position in the
    /// owner's list.
    private struct Edit {
        let field: String
        let owner: ObjectID?
        let place: Int64?
        /// The former owner, if the object is no longer in the former owner's list.
        ///
        /// The reference is cleared only if it still refers to the former owner.
        var former: ObjectPlace?
    }

    private let model: ManagedObjectModel
    private var assignments: [Assignment] = []

    init(_ model: ManagedObjectModel) { self.model = model }

    var isEmpty: Bool { assignments.isEmpty }

    /// Adds an assignment; the change set or the store must contain the owner and the members.
    mutating func set(
        _ relationship: ManagedObjectModel.Relationship, of owner: ObjectID, isNew: Bool, to members: [Member]
    ) throws(StoreError) {
        var (known, unique): (Set<ObjectPlace>, [Member]) = ([], [])
        for member in members where known.insert(try model.place(of: member.id)).inserted { unique.append(member) }
        guard !isNew || !unique.isEmpty else { return }
        assignments.append(
            Assignment(owner: owner, isNew: isNew, relationship: relationship, members: unique))
    }

    /// Adds changed links, and records with changed inverse references, to a change set.
    ///
    /// An object that loses a mandatory owner is a failure.
    ///
    /// - Returns: The owners whose lists change.
    func apply(
        to changes: inout ChangeSet, snapshot: any StoreSnapshot, failures: inout FailureList
    ) throws(StoreError) -> Set<ObjectPlace> {
        var (edits, changedOwners): ([ObjectPlace: [Edit]], Set<ObjectPlace>) = ([:], [])
        var edited = EditedLinks(model)
        for assignment in assignments {
            let current = try links(of: assignment, snapshot: snapshot)
            if Self.isDifferent(assignment, current: current) {
                changedOwners.insert(try model.place(of: assignment.owner))
            }
            switch assignment.relationship.storage {
            case .field: continue
            case .links(let owner, let isFlipped):
                edited.set(
                    assignment.relationship, storedIn: (owner, isFlipped), of: assignment.owner.key,
                    to: assignment.members, stored: current)
            case .derived(let inverse):
                try collectEdits(assignment, current: current, inverse: model.relationships[inverse], edits: &edits)
            }
        }
        try edited.apply(to: &changes)
        if !edits.isEmpty { try apply(edits, to: &changes, snapshot: snapshot, failures: &failures) }
        return changedOwners
    }

    private static func isDifferent(_ assignment: Assignment, current: [Link]) -> Bool {
        let members = assignment.members.map(\.id.key)
        guard assignment.relationship.isOrdered else { return Set(members) != Set(current.map(\.target)) }
        return members != current.sorted { $0.order < $1.order }.map(\.target)
    }

    private func links(of assignment: Assignment, snapshot: any StoreSnapshot) throws(StoreError) -> [Link] {
        guard !assignment.isNew else { return [] }
        let cursor = try snapshot.links(of: assignment.relationship.name, from: assignment.owner)
        var (links, batch): ([Link], LinkBatch) = ([], LinkBatch(relationship: assignment.relationship.number))
        while try cursor.next(into: &batch) { links += batch.links }
        return links
    }

    private func collectEdits(
        _ assignment: Assignment, current: [Link], inverse: ManagedObjectModel.Relationship,
        edits: inout [ObjectPlace: [Edit]]
    ) throws(StoreError) {
        let root = model.entities[assignment.relationship.destination].root
        let owner = try model.place(of: assignment.owner)
        let wanted = Set(assignment.members.map(\.id.key))
        for link in current where !wanted.contains(link.target) {
            edits[ObjectPlace(root: root, key: link.target), default: []].append(
                Edit(field: inverse.name.name, owner: nil, place: nil, former: owner))
        }
        let isOrdered = assignment.relationship.isOrdered
        for (place, member) in assignment.members.enumerated() {
            edits[ObjectPlace(root: root, key: member.id.key), default: []].append(
                Edit(field: inverse.name.name, owner: assignment.owner, place: isOrdered ? Int64(place) : nil))
        }
    }

    /// Replaces references in the change set's records and in stored records.
    private func apply(
        _ edits: [ObjectPlace: [Edit]], to changes: inout ChangeSet, snapshot: any StoreSnapshot,
        failures: inout FailureList
    ) throws(StoreError) {
        var rest = edits
        changes.inserts = try edited(changes.inserts, edits: &rest, failures: &failures)
        changes.updates = try edited(changes.updates, edits: &rest, failures: &failures)
        let places = rest.keys.sorted()
        var (batch, start): (RecordBatch, Int) = (RecordBatch(model: model), 0)
        while start < places.count {
            let end = min(places.count, start + 4096)
            let cursor = try snapshot.records(
                with: places[start..<end].map { ObjectID(model.entities[$0.root].name, key: $0.key) })
            while try cursor.next(into: &batch) {
                let stored = batch
                let new = try edited(stored, edits: &rest, failures: &failures)
                for index in 0..<new.count where new.record(at: index) != stored.record(at: index) {
                    changes.updates.append(new, at: index)
                }
            }
            start = end
        }
    }

    private func edited(
        _ batch: RecordBatch, edits: inout [ObjectPlace: [Edit]], failures: inout FailureList
    ) throws(StoreError) -> RecordBatch {
        var result = RecordBatch(model: model)
        for index in 0..<batch.count {
            let changes = edits.removeValue(forKey: model.place(of: batch, at: index)) ?? []
            try batch.withRecord(at: index) { (record) throws(StoreError) in
                let values = try Self.values(changes, of: record, model: model, failures: &failures)
                if values.isEmpty { result.append(record) } else { try result.append(record, replacing: values) }
            }
        }
        return result
    }

    private static func values(
        _ edits: [Edit], of record: RecordReader, model: ManagedObjectModel, failures: inout FailureList
    ) throws(StoreError) -> [(field: RecordLayout.Field, value: Value)] {
        var values: [(field: RecordLayout.Field, value: Value)] = []
        // The last edit that sets an owner wins, even over later edits that clear the reference.
        for name in Set(edits.map(\.field)).sorted() {
            let same = edits.filter { $0.field == name }
            guard let edit = same.last(where: { $0.owner != nil }) ?? same.last,
                let field = record.layout.field(name)
            else { continue }
            if edit.owner == nil {
                // A row may already have moved the object to another owner.
                let current: ObjectPlace? =
                    if case .objectID(let id) = record.value(field) { try model.place(of: id) } else { nil }
                guard let current, same.contains(where: { $0.former == current }) else { continue }
            }
            if edit.owner == nil, let number = field.relationship,
                !model.relationships[number].declaration.isOptional
            {
                failures.add(.object(record.id), entity: record.layout.entity, property: name, kind: .missing)
            }
            values.append((field, edit.owner.map { .objectID($0) } ?? .null))
            if let place = record.layout.field(RecordLayout.orderFieldName(of: name)) {
                values.append((place, edit.place.map { .int($0) } ?? .null))
            }
        }
        return values
    }
}
