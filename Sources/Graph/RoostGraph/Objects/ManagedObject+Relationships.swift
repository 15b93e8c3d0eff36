public import RoostCore

// Relationship accessors for generated classes, and access by name.

extension ManagedObject {
    /// Returns the number of the relationship at a slot of the class, or nil if the slot has none.
    private final func relationship(_ slot: Int) -> Int? {
        let slots = info.slots
        if slots.indices.contains(slot), let number = slots[slot].relationship { return number }
        _ = field(slot)
        return nil
    }

    /// Returns the destination of a to-one relationship.
    public final func toOne<Object: ManagedObject>(at offset: Int, field: Int) -> Object? {
        destination(info.entity.layout.fields[field]) as? Object
    }

    /// Sets a to-one relationship, and updates the inverse.
    public final func setToOne(_ object: ManagedObject?, at offset: Int, field: Int) {
        guard let relationship = info.entity.layout.fields[field].relationship else { return }
        setDestination(object, relationship: relationship)
    }

    /// Returns the destination of a to-one relationship.
    public final func toOne<Object: ManagedObject>(slot: Int) -> Object? {
        field(slot).flatMap { destination($0) as? Object }
    }

    /// Sets a to-one relationship, and updates the inverse.
    public final func setToOne(_ object: ManagedObject?, slot: Int) {
        if let relationship = relationship(slot) { setDestination(object, relationship: relationship) }
    }

    private final func destination(_ field: RecordLayout.Field) -> ManagedObject? {
        let destination = core.destination(of: self, field: field)
        noteAccess(field)
        return destination
    }

    final func setDestination(_ object: ManagedObject?, relationship: Int) {
        guard let field = info.references[relationship] else { return }
        setting(.field(field.index)) { core.setDestination(of: self, relationship: relationship, to: object) }
    }

    /// Returns the members of a to-many relationship.
    public final func toMany<Object: ManagedObject>(slot: Int) -> ToMany<Object> {
        relationship(slot).map { ToMany(self, relationship: $0) } ?? ToMany()
    }

    /// Replaces the members of a to-many relationship with a set.
    public final func setToMany<Object: ManagedObject>(_ objects: ToMany<Object>, slot: Int) {
        guard let number = relationship(slot), !objects.isRelationship(number, of: self),
            let members = objects.readElements
        else { return }
        setMembers(members, relationship: number)
    }

    private final func setMembers(_ objects: [ManagedObject], relationship: Int) {
        setting(.members(relationship)) { core.setMembers(of: self, relationship: relationship, to: objects) }
    }

    /// Returns the members of an ordered to-many relationship.
    public final func orderedToMany<Object: ManagedObject>(slot: Int) -> OrderedToMany<Object> {
        relationship(slot).map { OrderedToMany(self, relationship: $0) } ?? OrderedToMany()
    }

    /// Replaces the members of an ordered to-many relationship with a list.
    public final func setOrderedToMany<Object: ManagedObject>(_ objects: OrderedToMany<Object>, slot: Int) {
        guard let number = relationship(slot), !objects.isRelationship(number, of: self),
            let members = objects.readElements
        else { return }
        setMembers(members, relationship: number)
    }

    // MARK: By name

    private final func requireRelationship(
        _ name: String, kind: String, _ isKind: (ManagedObjectModel.Relationship) -> Bool
    ) throws(StoreError) -> ManagedObjectModel.Relationship {
        let relationship = try core.model.requireRelationship(RelationshipName(info.entity.name, name: name))
        guard isKind(relationship) else {
            throw StoreError(.invalidRequest, "Relationship '\(info.entity.name).\(name)' is not \(kind).")
        }
        return relationship
    }

    /// Returns the destination of a to-one relationship.
    ///
    /// - Throws: `unknownProperty`; `invalidRequest` for a to-many relationship.
    public final func object(_ relationship: String) throws(StoreError) -> ManagedObject? {
        let found = try requireRelationship(relationship, kind: "to-one") { !$0.isToMany }
        return info.references[found.number].flatMap { destination($0) }
    }

    /// Sets a to-one relationship, and updates the inverse.
    ///
    /// - Throws: `unknownProperty`; `invalidRequest` for a to-many relationship; `closed` if the
    ///   object has left its context.
    public final func setObject(_ object: ManagedObject?, for relationship: String) throws(StoreError) {
        let found = try requireRelationship(relationship, kind: "to-one") { !$0.isToMany }
        try requireContext(toSet: relationship)
        setDestination(object, relationship: found.number)
    }

    /// Returns the members of a to-many relationship.
    ///
    /// Changes to the result change the relationship.
    ///
    /// - Throws: `unknownProperty`; `invalidRequest` if the relationship is to-one or ordered.
    public final func objects(_ relationship: String) throws(StoreError) -> ToMany<ManagedObject> {
        let found = try requireRelationship(relationship, kind: "to-many without an order") {
            $0.isToMany && !$0.isOrdered
        }
        return ToMany(self, relationship: found.number)
    }

    /// Returns the members of an ordered to-many relationship.
    ///
    /// Changes to the result change the relationship.
    ///
    /// - Throws: `unknownProperty`; `invalidRequest` for a relationship without an order.
    public final func orderedObjects(_ relationship: String) throws(StoreError) -> OrderedToMany<ManagedObject> {
        let found = try requireRelationship(relationship, kind: "ordered") { $0.isOrdered }
        return OrderedToMany(self, relationship: found.number)
    }

    /// Returns whether a property is a to-many relationship with unread members, without reading
    /// them.
    public final func hasFault(for relationship: String) -> Bool {
        guard let number = info.entity.relationship(relationship)?.number else { return false }
        guard model(number).isToMany else { return false }
        return !(extra?.members.contains { $0.relationship == number && $0.state.base != nil } ?? false)
    }

    private final func model(_ relationship: Int) -> ManagedObjectModel.Relationship {
        core.model.relationships[relationship]
    }
}
