internal import RoostCore

/// The changes that other objects need after a one-to-one relationship of an object is set.
///
/// The new partner gets a reference back, and the references of old partners are cleared.
struct PartnerChanges {
    /// A to-one relationship of one object.
    private struct Side: Hashable {
        let place: ObjectPlace
        let relationship: Int
    }

    /// A side that must no longer refer to `object`.
    ///
    /// With one-sided references, several objects can refer to the same partner. Then several
    /// releases have the same side.
    private struct Release: Hashable {
        let side: Side
        let object: ObjectPlace
    }

    private enum Edit {
        case set(ObjectID)
        /// Sets the field to null if it refers to a released object.
        case clear
    }

    private struct Edits {
        var relationships: [ObjectPlace: [Int: Edit]] = [:]
        var releases: Set<Release> = []
    }

    private let model: ManagedObjectModel
    /// For the inverse field of each new destination, the object to which the field must refer.
    private var claims: [Side: ObjectID] = [:]
    /// The inverse field of each old destination, with the object to which the field must no longer
    /// refer.
    private var releases: Set<Release> = []
    /// The new destination of each relationship that is set.
    private var wishes: [Side: ObjectID?] = [:]

    init(_ model: ManagedObjectModel) { self.model = model }

    var isEmpty: Bool { claims.isEmpty && releases.isEmpty }

    /// Returns the inverse of a to-one relationship, or nil if the inverse is missing or to-many.
    private func inverse(_ relationship: ManagedObjectModel.Relationship) -> ManagedObjectModel.Relationship? {
        guard let inverse = relationship.inverse.map({ model.relationships[$0] }), !inverse.isToMany else { return nil }
        return inverse
    }

    /// Records that `relationship` of `object` now refers to `new` instead of `old`.
    ///
    /// - Throws: `invalidRequest` if the request makes two objects refer to `new` by the same
    ///   relationship.
    mutating func note(
        _ object: ObjectID, relationship: ManagedObjectModel.Relationship, from old: ObjectID?, to new: ObjectID?
    ) throws(StoreError) {
        guard let inverse = inverse(relationship) else { return }
        wishes[Side(place: try model.place(of: object), relationship: relationship.number)] = .some(new)
        if let new {
            let side = Side(place: try model.place(of: new), relationship: inverse.number)
            if let other = claims.updateValue(object, forKey: side) {
                throw Self.contested(new, one: other, other: object, relationship: relationship)
            }
        }
        guard old != new else { return }
        if let old {
            let side = Side(place: try model.place(of: old), relationship: inverse.number)
            releases.insert(Release(side: side, object: try model.place(of: object)))
        }
    }

    private static func contested(
        _ target: ObjectID, one: ObjectID, other: ObjectID, relationship: ManagedObjectModel.Relationship
    ) -> StoreError {
        StoreError(
            .invalidRequest,
            "Cannot set '\(relationship.name)' of both \(one) and \(other) to \(target): the inverse of '\(relationship.name)' is to-one."
        )
    }

    /// Adds the changes that partners need to the updates of a change set.
    ///
    /// A mandatory relationship that would become null is a failure.
    ///
    /// - Throws: `invalidRequest` if the request itself sets an inverse field to a different
    ///   object.
    func apply(
        to changes: inout ChangeSet, snapshot: any StoreSnapshot, failures: inout FailureList
    ) throws(StoreError) {
        var edits = Edits(releases: releases)
        for release in releases {
            edits.relationships[release.side.place, default: [:]][release.side.relationship] = .clear
        }
        let targets = Set(claims.keys.map(\.place)).sorted()
        try forEachRecord(at: targets, snapshot: snapshot) { (record) throws(StoreError) in
            let place = ObjectPlace(root: model.entities[record.entityNumber].root, key: record.key)
            for relationship in model.entities[record.entityNumber].relationships {
                guard let object = claims[Side(place: place, relationship: relationship.number)],
                    let field = record.layout.field(relationship.name.name), let back = relationship.inverse
                else { continue }
                guard case .objectID(let id) = record.value(field) else { continue }
                // IDs of one object can name its own entity or a superentity, so this compares
                // places.
                let old = try model.place(of: id)
                guard old != (try model.place(of: object)) else { continue }
                edits.relationships[old, default: [:]][back] = .clear
                edits.releases.insert(Release(side: Side(place: old, relationship: back), object: place))
            }
        }
        for (side, object) in claims {
            edits.relationships[side.place, default: [:]][side.relationship] = .set(object)
        }

        var updates = RecordBatch(model: model)
        let own = changes.updates
        for index in 0..<own.count {
            let place = ObjectPlace(root: model.entities[own.entityNumber(at: index)].root, key: own.key(at: index))
            try own.withRecord(at: index) { (record) throws(StoreError) in
                try append(record, edits: edits, isOwn: true, to: &updates, failures: &failures)
            }
            edits.relationships[place] = nil
        }
        let others = edits.relationships.keys.sorted()
        try forEachRecord(at: others, snapshot: snapshot) { (record) throws(StoreError) in
            try append(record, edits: edits, isOwn: false, to: &updates, failures: &failures)
        }
        changes.updates = updates
    }

    /// Appends a record with edits of its relationships.
    ///
    /// A record that the request does not update is appended only if the edits change it.
    private func append(
        _ record: RecordReader, edits: Edits, isOwn: Bool, to updates: inout RecordBatch,
        failures: inout FailureList
    ) throws(StoreError) {
        var fields: [(field: RecordLayout.Field, value: Value)] = []
        let place = ObjectPlace(root: model.entities[record.entityNumber].root, key: record.key)
        for (number, edit) in edits.relationships[place] ?? [:] {
            let side = Side(place: place, relationship: number)
            let relationship = model.relationships[number]
            guard let field = record.layout.field(relationship.name.name) else { continue }
            var current: ObjectID?
            if case .objectID(let id) = record.value(field) { current = id }
            switch edit {
            case .set(let object):
                if let wish = wishes[side], wish != object {
                    throw StoreError(
                        .invalidRequest,
                        "Cannot set '\(relationship.name)' of \(record.id) to \(wish.map { "\($0)" } ?? "null"): the same request makes \(object) refer to \(record.id)."
                    )
                }
                guard current != object else { continue }
                fields.append((field, .objectID(object)))
            case .clear:
                guard let current,
                    edits.releases.contains(Release(side: side, object: try model.place(of: current)))
                else { continue }
                if !relationship.declaration.isOptional {
                    failures.add(.object(record.id), entity: record.layout.entity, property: field.name, kind: .missing)
                }
                fields.append((field, .null))
            }
        }
        if fields.isEmpty {
            if isOwn { updates.append(record) }
            return
        }
        try updates.append(record, replacing: fields)
    }

    private func forEachRecord(
        at places: [ObjectPlace], snapshot: any StoreSnapshot, _ body: (RecordReader) throws(StoreError) -> Void
    ) throws(StoreError) {
        var batch = RecordBatch(model: model)
        var start = 0
        while start < places.count {
            let end = min(places.count, start + 4096)
            let cursor = try snapshot.records(
                with: places[start..<end].map { ObjectID(model.entities[$0.root].name, key: $0.key) })
            while try cursor.next(into: &batch) { try batch.forEachRecord(body) }
            start = end
        }
    }
}
