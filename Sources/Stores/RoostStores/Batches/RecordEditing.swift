internal import RoostCore

/// Edits of records, including the resulting changes of other objects.
struct RecordEditing {
    /// A plan for editing objects of a concrete entity.
    struct Plan {
        let properties: BatchProperties
        /// The properties to set, in the order in which a caller passes their values.
        let targets: [BatchProperties.Property]
    }

    private let snapshot: any StoreSnapshot
    private let rules: ModelRules
    private let model: ManagedObjectModel
    /// The rules of records; each regular expression has one time limit for all records.
    private var recordRules: RecordRules
    private(set) var failures = FailureList()
    private var missing = MissingObjects()
    private var destinations: BatchDestinations
    private var partners: PartnerChanges
    private var members: MemberChanges
    /// The new values of the current record, by field.
    private var replacements: [Value?] = []
    /// The indexes of the current record's fields that refer to missing objects.
    private var unresolved: Set<Int> = []
    /// The objects with changed to-many relationships.
    private(set) var ownersWithOtherMembers: Set<ObjectPlace> = []

    init(_ rules: ModelRules, on snapshot: any StoreSnapshot) {
        self.snapshot = snapshot
        self.rules = rules
        model = rules.model
        recordRules = rules.records
        destinations = BatchDestinations(snapshot, model: rules.model)
        partners = PartnerChanges(rules.model)
        members = MemberChanges(rules.model)
    }

    /// Looks up the destinations of references that will be set.
    mutating func lookUp(_ ids: [ObjectID]) throws(StoreError) { try destinations.look(up: ids) }

    /// Checks a new record.
    ///
    /// Call ``fields(of:values:plan:_:)`` for the same record directly before this method.
    mutating func check(
        _ record: RecordReader, subject: (RecordLayout.Field) -> ValidationFailure.Subject
    ) throws(StoreError) {
        try failures.check(record, rules: &recordRules) { rule, field in
            rule == .mandatory && unresolved.contains(field.index) ? nil : subject(field)
        }
    }

    /// Checks the fields that the last call of ``fields(of:values:plan:_:)`` set in a record.
    ///
    /// A composite must have its mandatory elements if the composite or any of its elements was
    /// set.
    mutating func check(
        _ record: RecordReader, fields: [(field: RecordLayout.Field, value: Value)], plan: Plan,
        subject: (RecordLayout.Field) -> ValidationFailure.Subject
    ) throws(StoreError) {
        var indices = Set(fields.map(\.field.index))
        for (composite, element) in plan.properties.mandatoryElements
        where indices.contains(composite.index) && record.isNull(element) {
            indices.insert(element.index)
        }
        try failures.check(record, rules: &recordRules) { _, field in
            indices.contains(field.index) ? subject(field) : nil
        }
    }

    func throwIfAny() throws(StoreError) { try missing.throwIfAny(with: failures) }

    /// Adds the changes of related objects and the derived attributes to a change set, and checks
    /// the numbers of related objects.
    ///
    /// `subject` receives the index of an inserted record.
    mutating func finish(
        _ changes: inout ChangeSet, subject: (Int) -> ValidationFailure.Subject
    ) throws(StoreError) {
        changes.existing = destinations.references.map(\.id)
        changes.lastPlaces = destinations.lastPlaces
        if !members.isEmpty {
            ownersWithOtherMembers = try members.apply(to: &changes, snapshot: snapshot, failures: &failures)
        }
        if !partners.isEmpty { try partners.apply(to: &changes, snapshot: snapshot, failures: &failures) }
        var rules = ChangeRules(rules, on: snapshot)
        try rules.apply(to: &changes, failures: &failures, subject: subject)
        try failures.throwIfAny()
    }

    /// Sets a to-many relationship of an object.
    ///
    /// The objects with these IDs must have been looked up.
    mutating func setMembers(
        _ relationship: ManagedObjectModel.Relationship, of object: (id: ObjectID, isNew: Bool), to ids: [ObjectID],
        _ owner: () -> String
    ) throws(StoreError) {
        var found: [MemberChanges.Member] = []
        for id in ids {
            let known = try missing.collecting(id) { () throws(StoreError) in
                try destinations.destination(id, of: relationship, owner)
            }
            guard let known else { continue }
            var inversePlace: Int64 = 0
            if case .links = relationship.storage, let number = relationship.inverse,
                model.relationships[number].isOrdered
            {
                inversePlace = try destinations.nextPlace(in: model.relationships[number], of: known)
            }
            found.append(MemberChanges.Member(id: known, inversePlace: inversePlace))
        }
        try members.set(relationship, of: object.id, isNew: object.isNew, to: found)
    }

    /// Returns the fields to replace in a record, with their new values.
    ///
    /// `values` has one value for each target of the plan. The record need not be in the store.
    mutating func fields(
        of record: RecordReader, values: [Value], plan: Plan, _ owner: () -> String
    ) throws(StoreError) -> [(field: RecordLayout.Field, value: Value)] {
        let layout = record.layout
        replacements.removeAll(keepingCapacity: true)
        for _ in 0..<layout.fields.count { replacements.append(nil) }
        unresolved.removeAll()
        for (value, property) in zip(values, plan.targets) {
            if case .toOne(let field, let relationship) = property {
                try connect(record, value: value, property: (field, relationship), plan: plan, owner)
            } else {
                try plan.properties.forEachField(of: value, for: property, owner: owner) { replacements[$0.index] = $1 }
            }
        }
        try setElementDefaults(record, plan: plan, owner)
        try settlePlaces(record, plan: plan)
        var fields: [(field: RecordLayout.Field, value: Value)] = []
        for field in layout.fields {
            if let value = replacements[field.index] { fields.append((field, value)) }
        }
        return fields
    }

    private mutating func connect(
        _ record: RecordReader, value: Value,
        property: (field: RecordLayout.Field, relationship: ManagedObjectModel.Relationship), plan: Plan,
        _ owner: () -> String
    ) throws(StoreError) {
        let (field, relationship) = property
        let order = record.layout.field(RecordLayout.orderFieldName(of: field.name))
        var old: ObjectID?
        if case .objectID(let id) = record.value(field) { old = id }
        guard case .objectID(let named) = value else {
            guard value.isNull else { throw plan.properties.mismatch(value, in: field, for: owner()) }
            replacements[field.index] = .some(.null)
            if let order { replacements[order.index] = .some(.null) }
            return try partners.note(record.id, relationship: relationship, from: old, to: nil)
        }
        let found = try missing.collecting(named) { () throws(StoreError) in
            try destinations.destination(named, of: relationship, owner)
        }
        guard let new = found else {
            unresolved.insert(field.index)
            return
        }
        replacements[field.index] = .objectID(new)
        // An object that remains in the same ordered list keeps its position.
        var stays = false
        if let old { stays = try model.place(of: old) == model.place(of: new) }
        if let order, !stays, replacements[order.index] == nil,
            let inverse = relationship.inverse.map({ model.relationships[$0] })
        {
            replacements[order.index] = .int(try destinations.nextPlace(in: inverse, of: new))
        }
        try partners.note(record.id, relationship: relationship, from: old, to: new)
    }

    /// Sets elements to their defaults if setting another element creates the composite's value.
    private mutating func setElementDefaults(
        _ record: RecordReader, plan: Plan, _ owner: () -> String
    ) throws(StoreError) {
        for (composite, element, attribute) in plan.properties.elementDefaults {
            guard let marker = replacements[composite.index], !marker.isNull, record.isNull(composite),
                replacements[element.index] == nil
            else { continue }
            try plan.properties.forEachField(
                of: attribute.defaultValue, for: element.kind == .composite ? .composite(element) : .field(element),
                owner: owner
            ) { replacements[$0.index] = $1 }
        }
    }

    /// Corrects the positions that the caller set in ordered relationships.
    ///
    /// If the object belongs to no list, the position becomes null. If it belongs to a list, null
    /// from the caller becomes a new last position.
    private mutating func settlePlaces(_ record: RecordReader, plan: Plan) throws(StoreError) {
        for case .field(let place) in plan.targets where place.kind == .order {
            guard let relationship = place.relationship.map({ model.relationships[$0] }),
                let inverse = relationship.inverse.map({ model.relationships[$0] }),
                let reference = record.layout.field(relationship.name.name)
            else { continue }
            guard case .objectID(let id) = replacements[reference.index] ?? record.value(reference) else {
                replacements[place.index] = .some(.null)
                continue
            }
            if case .some(.null) = replacements[place.index] {
                replacements[place.index] = .int(try destinations.nextPlace(in: inverse, of: id))
            }
        }
    }
}
