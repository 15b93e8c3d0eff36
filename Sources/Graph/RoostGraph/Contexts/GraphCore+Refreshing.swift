internal import RoostCore

// A refresh that discards the changes of one object. Changes of other objects remain, and the two
// sides of each relationship must stay consistent.

extension GraphCore {
    /// Resets each changed reference to its committed destination if the reference has an inverse.
    ///
    /// - Returns: The references that delete rules had cleared. After the refresh, the caller must
    ///   clear them again.
    func takeBackReferences(of object: ManagedObject) -> [(relationship: Int, key: Int64)] {
        guard object.state.contains(.privateRow), !object.flags.contains(.deleted), let row = object.row,
            let committed = PrivateRow.committed(row)
        else { return [] }
        var former: [(relationship: Int, destination: ManagedObject?)] = []
        var deleted: [(relationship: Int, key: Int64)] = []
        for field in object.info.referenceFields {
            guard let relationship = field.relationship, let inverse = model.relationships[relationship].inverse else {
                continue
            }
            let isCleared = [.nullify, .cascade].contains(model.relationships[inverse].declaration.deleteRule)
            let before = RowAccess.reference(committed, field: field)
            guard before?.key != RowAccess.reference(row, field: field)?.key else { continue }
            let destination = before.map { self.object($0.entity, key: $0.key) }
            let exists = destination?.flags.isDisjoint(with: [.deleted, .inaccessible]) ?? false
            former.append((relationship, exists ? destination : nil))
            if isCleared, let destination, destination.flags.isSuperset(of: [.deleted, .propagated]) {
                deleted.append((relationship, destination.key))
            }
        }
        for (relationship, destination) in former {
            setDestination(of: object, relationship: relationship, to: destination)
        }
        return deleted
    }

    /// Records the members that an object gained or lost by changes of other objects.
    func restoreMembers(of object: ManagedObject) {
        guard !isPlanted(.refreshForgetsMembers) else { return }
        let others = changed.filter { $0 !== object && !$0.flags.contains(.inaccessible) }
        for relationship in object.info.relationships where relationship.isToMany {
            guard let inverse = relationship.inverse else { continue }
            let destination = model.entities[relationship.destination]
            for member in others where destination.includes(Int(member.entityNumber)) {
                switch differenceOfMember(member, in: object, relationship: relationship, inverse: inverse) {
                case true?: addMember(member.key, to: object, relationship: relationship)
                case false?: removeMember(member.key, of: object, relationship: relationship)
                case nil: break
                }
            }
        }
    }

    /// Returns true if changes of `member` add it to `owner`, false if they remove it, or else nil.
    private func differenceOfMember(
        _ member: ManagedObject, in owner: ManagedObject, relationship: ManagedObjectModel.Relationship,
        inverse: Int
    ) -> Bool? {
        let isDeleted = member.flags.contains(.deleted)
        if case .derived = relationship.storage {
            guard let field = member.info.references[inverse] else { return nil }
            func refers(_ row: UnsafeRawPointer?) -> Bool {
                row.map { RowAccess.reference($0, field: field)?.key == owner.key } ?? false
            }
            let isMember = !isDeleted && refers(member.row)
            let wasMember = !member.flags.contains(.inserted) && refers(member.committedRow)
            return isMember == wasMember ? nil : isMember
        }
        guard let state = member.extra?.members.first(where: { $0.relationship == inverse })?.state else { return nil }
        if state.added.contains(owner.key), !isDeleted { return true }
        return state.removed.contains(owner.key) ? false : nil
    }
}
