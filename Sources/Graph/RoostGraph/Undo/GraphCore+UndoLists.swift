internal import RoostCore

// Undo and redo of relationships.

extension GraphCore {
    /// Adds `member` to a list of `owner` if `member` is present and refers to `owner`; otherwise
    /// removes `member` from the list.
    func settleMember(
        _ member: ManagedObject, field: RecordLayout.Field, of owner: (entity: Int, key: Int64), list: Int,
        rest: inout ExchangeRest
    ) {
        if isPlanted(.undoesOneSide) { return }
        let isPresent = member.flags.isDisjoint(with: [.orphan, .deleted])
        let isMember = isPresent && member.row.map { RowAccess.reference($0, field: field)?.key == owner.key } ?? false
        let isStored =
            member.flags.isDisjoint(with: [.orphan, .inserted])
            && member.committedRow.map { RowAccess.reference($0, field: field)?.key == owner.key } ?? false
        let difference: Members.Difference = isMember == isStored ? .none : isMember ? .added : .removed
        guard difference != .none || registered(table.root(owner.entity), key: owner.key) != nil else { return }
        let object = object(owner.entity, key: owner.key)
        setMember(member.key, of: object, list: list, isMember: isMember, difference: difference, rest: &rest)
    }

    private func setMember(
        _ key: Int64, of owner: ManagedObject, list: Int, isMember: Bool, difference: Members.Difference?,
        rest: inout ExchangeRest
    ) {
        guard !owner.flags.contains(.orphan) else { return }
        let isOrdered = model.relationships[list].isOrdered
        let extra = owner.requireExtra()
        var index = extra.members.firstIndex { $0.relationship == list }
        if index == nil {
            guard difference != Members.Difference.none else { return }
            extra.members.append((list, Members()))
            index = extra.members.count - 1
        }
        guard let index else { return }
        if let difference, extra.members[index].state.inFlight == nil {
            extra.members[index].state.set(difference, of: key, isOrdered: isOrdered)
        } else if isMember {
            extra.members[index].state.add(key, isOrdered: isOrdered)
        } else {
            extra.members[index].state.remove(key, isOrdered: isOrdered)
        }
        observation?.note(owner, property: .members(list))
        if isOrdered { rest.lists.insert(ExchangedList(owner: owner, relationship: list)) }
        rest.affected.append(owner)
        announce(owner)
    }

    /// Updates the lists to which a returned or removed object belongs.
    func joinLists(_ object: ManagedObject, rest: inout ExchangeRest) {
        guard let row = object.row else { return }
        for field in object.info.referenceFields {
            guard let relationship = field.relationship, let inverse = model.relationships[relationship].inverse,
                let owner = RowAccess.reference(row, field: field), model.relationships[inverse].isToMany
            else { continue }
            settleMember(object, field: field, of: owner, list: inverse, rest: &rest)
        }
    }

    func exchangeLinks(_ record: UndoRecord, isExact: Bool, rest: inout ExchangeRest) {
        let order = Array(record.links.indices)
        for index in record.isReversed ? order : order.reversed() {
            let link = record.links[index]
            guard !link.owner.flags.contains(.orphan) else { continue }
            func state() -> Members? {
                link.owner.extra?.members.first { $0.relationship == link.relationship }?.state
            }
            if !isExact, state()?.knows(link.key) == nil {
                _ = latching { () throws(StoreError) in try memberKeys(of: link.owner, relationship: link.relationship)
                }
            }
            let now = isMember(link.key, of: link.owner, state: state())
            record.links[index].wasMember = now
            record.links[index].difference = state()?.difference(of: link.key) ?? .none
            // If `wasMember` is nil, no save has happened since the link was recorded, so the store
            // is unchanged.
            if isExact || link.wasMember == nil {
                setMember(
                    link.key, of: link.owner, list: link.relationship, isMember: link.wasMember ?? false,
                    difference: link.difference, rest: &rest)
            } else if let isMember = link.wasMember, now != isMember {
                setMember(
                    link.key, of: link.owner, list: link.relationship, isMember: isMember, difference: nil, rest: &rest)
            }
        }
    }

    /// Restores the members of returned objects that are new, or whose deletion is being saved.
    func restoreContents(_ record: UndoRecord, returned: Set<ManagedObject>, rest: inout ExchangeRest) {
        for contents in record.contents where returned.contains(contents.owner) {
            guard contents.owner.flags.contains(.inserted) || contents.owner.extra?.isReturning ?? false else {
                continue
            }
            let relationship = model.relationships[contents.relationship]
            if case .links = relationship.storage {
                for key in contents.keys {
                    setMember(
                        key, of: contents.owner, list: contents.relationship, isMember: true, difference: .added,
                        rest: &rest)
                }
            }
            guard relationship.isOrdered else { continue }
            arrange(
                ExchangedList(owner: contents.owner, relationship: contents.relationship),
                order: Members.Order(current: contents.keys, appended: contents.keys), rest: &rest)
        }
    }

    func arrange(_ list: ExchangedList, order: Members.Order?, rest: inout ExchangeRest) {
        rest.lists.remove(list)
        guard !list.owner.flags.contains(.orphan), let extra = list.owner.extra,
            let index = extra.members.firstIndex(where: { $0.relationship == list.relationship })
        else { return }
        let order = isPlanted(.undoForgetsOrder) ? nil : order
        extra.members[index].state.arrange(order ?? extra.members[index].state.order)
        observation?.note(list.owner, property: .members(list.relationship))
        rest.affected.append(list.owner)
    }

    /// Makes both sides of one-to-one relationships consistent.
    ///
    /// The sides can differ if another context changed one side. The restored side wins.
    func settlePairs(_ pairs: [ExchangedPair]) {
        for pair in pairs {
            let (object, relationship) = (pair.object, pair.relationship)
            guard object.flags.isDisjoint(with: [.orphan, .deleted, .inaccessible]),
                let inverse = model.relationships[relationship].inverse,
                let field = object.info.references[relationship]
            else { continue }
            let reference = RowAccess.reference(object.firedRow, field: field)
            if let former = pair.former, former.key != reference?.key {
                clear(former, relationship: inverse, ifItIs: object.key)
            }
            guard let (entity, key) = reference else { continue }
            let partner = self.object(entity, key: key)
            guard partner.flags.isDisjoint(with: [.deleted, .inaccessible]),
                let back = partner.info.references[inverse]
            else { continue }
            let other = RowAccess.reference(partner.firedRow, field: back)
            guard other?.key != object.key else { continue }
            if let other {
                clear(self.object(other.entity, key: other.key), relationship: relationship, ifItIs: partner.key)
            }
            setReference(of: partner, relationship: inverse, to: object)
        }
    }
}
