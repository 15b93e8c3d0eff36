internal import RoostCore

// Taking back what events changed. Rows are exchanged where that is enough; where references differ,
// the lists at the other ends follow.

extension GraphCore {
    /// A list whose members follow from the rows of its members, and changed.
    private struct List: Hashable {
        let owner: ManagedObject
        let relationship: Int
    }

    /// A one-to-one reference that changed.
    private struct Pair {
        let object: ManagedObject
        let relationship: Int
        /// The partner before the exchange.
        let former: ManagedObject?
    }

    /// The work that an exchange has still to do.
    private struct Rest {
        /// The objects whose state is to be worked out.
        var affected: [ManagedObject] = []
        /// The ordered lists that need an order.
        var lists: Set<List> = []
        /// The one-to-one references that changed.
        var pairs: [Pair] = []
        /// Whether objects are in the list of changed ones that have no changes.
        var hasUnchanged = false
        /// Whether an object without changes got some again, so that it can be in the list twice.
        var hasRepeated = false
    }

    /// Exchanges what a record has and what the objects have.
    ///
    /// - Parameters:
    ///   - record: What objects were; it then has what they are now.
    ///   - others: Takes what other objects were that have to change, too.
    func exchange(_ record: UndoRecord, others: UndoRecord) {
        let former = undoRecord
        undoRecord = nil
        defer { undoRecord = former }
        var rest = Rest()
        let isExact = record.commitCount == commitCount
        let order = Array(record.notes.indices)
        let indices = record.isReversed ? order : order.reversed()
        var kept: Set<ObjectIdentifier> = []

        let orders = record.orders.map { image in
            // A save can have forgotten the order, which the opposite step needs.
            if !isExact || image.order.current != nil, !image.owner.flags.contains(.orphan) {
                _ = latching { () throws(StoreError) in
                    try memberKeys(of: image.owner, relationship: image.relationship)
                }
            }
            let state = image.owner.extra?.members.first { $0.relationship == image.relationship }?.state
            return state?.order ?? Members.Order(current: nil, appended: [])
        }
        let targets = indices.filter { record.notes[$0].presence != nil }.map { ($0, record.notes[$0].presence) }
        var returned: [ManagedObject] = []
        for (index, presence) in targets where presence == .present {
            guard bring(back: record.notes[index].object, note: &record.notes[index]) else { continue }
            returned.append(record.notes[index].object)
        }
        exchangeRows(record, isExact: isExact, rest: &rest, kept: &kept)
        for object in returned { joinLists(object, rest: &rest) }
        // The contents are those at the deletion; links are what they were at the beginning of the event.
        restoreContents(record, returned: Set(returned), rest: &rest)
        exchangeLinks(record, isExact: isExact, rest: &rest)
        show(returned)
        // Before objects leave, which ends their values.
        exchangeTransients(record)
        var gone: [ManagedObject] = []
        for (index, presence) in targets where presence != .present {
            takeAway(&record.notes[index], gone: &gone, rest: &rest)
        }
        let isAlone = isExact && record.outsideCount == outsideCount
        let taken = isAlone ? [] : gone + takenAway(record)
        let connections = connections(of: taken)
        keepContents(connections, in: record)
        expel(gone, rest: &rest)

        for (index, image) in record.orders.enumerated() {
            arrange(List(owner: image.owner, relationship: image.relationship), order: image.order, rest: &rest)
            record.orders[index].order = orders[index]
        }
        for list in rest.lists { arrange(list, order: nil, rest: &rest) }
        undoRecord = others
        settlePairs(rest.pairs)
        for (object, relationship, member) in connections {
            let state = member.extra?.members.first { $0.relationship == relationship.inverse }?.state
            if state?.knows(object.key) != false { disconnect(object, from: member, relationship: relationship) }
        }
        if !taken.isEmpty { _ = latching { () throws(StoreError) in try clearReferences(to: taken) } }
        undoRecord = nil
        for index in indices {
            let object = record.notes[index].object
            rest.affected.append(object)
            if isExact, record.notes[index].wasChanged { kept.insert(ObjectIdentifier(object)) }
            record.notes[index].wasChanged = object.flags.contains(.changed)
        }
        noteForResults(record, affected: rest.affected)
        settle(&rest, kept: kept)
        record.isReversed.toggle()
        (record.commitCount, record.outsideCount) = (commitCount, outsideCount)
        awake(record)
    }

    /// Notes the objects of a record, for results that follow.
    private func noteForResults(_ record: UndoRecord, affected: [ManagedObject]) {
        guard let results, !isPlanted(.overlooksUndo) else { return }
        record.forEachRow { object, _ in results.note(object) }
        for note in record.notes { results.note(note.object) }
        for link in record.links { results.note(link.owner) }
        for object in affected { results.note(object) }
    }

    // MARK: Rows

    private func exchangeRows(
        _ record: UndoRecord, isExact: Bool, rest: inout Rest, kept: inout Set<ObjectIdentifier>
    ) {
        // Neighbors are mostly of one entity, whose facts are looked up once. Rows without references and derived
        // attributes are exchanged as they are.
        var known: (entity: UInt16, hasLinks: Bool, hasDerived: Bool)?
        let isObserved = context?.observers.isEmpty == false
        record.forEachRow { object, image in
            if known?.entity != object.entityNumber {
                let info = object.info
                known = (object.entityNumber, !info.linkOffsets.isEmpty, !info.derivedFields.isEmpty)
            }
            guard let known else { return }
            let row = image.pointee.row
            guard let current = object.row, object.extra == nil || object.extra?.hasRowOnly ?? true,
                object.flags.isDisjoint(with: [.orphan, .inaccessible, .inFlight, .deleted]), !known.hasDerived,
                !known.hasLinks || table.haveEqualLinks(row, right: current, number: Int(object.entityNumber))
            else {
                if isExact, image.pointee.wasChanged { kept.insert(ObjectIdentifier(object)) }
                return exchangeSlowly(object, image: &image.pointee, info: object.info, rest: &rest)
            }
            let isPrivate = object.state.contains(.privateRow)
            let committed = isPrivate ? PrivateRow.committed(current) : current
            let count = image.pointee.byteCount
            let isClean =
                committed.map { committed in
                    committed == row
                        || RowAccess.haveEqualContent(
                            row, leftCount: Int(count), right: committed, rightCount: object.tail.byteCount(committed))
                } ?? false
            if isClean, !isPrivate { return }
            // The record takes over the count of the present row, and gives that of its own.
            image.pointee.row = current
            image.pointee.byteCount = object.byteCount
            if isPrivate {
                PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: current))
            } else {
                RowPage.retain(current)
            }
            if isClean, let committed {
                object.row = committed
                object.state.remove(.privateRow)
                RowPage.release(row)
            } else {
                var fresh = UnsafeMutableRawPointer(mutating: row)
                if !image.pointee.isPrivate {
                    fresh = privateRows.copy(row, byteCount: Int(count))
                    RowPage.release(row)
                }
                PrivateRow.setCommitted(committed, of: fresh)
                object.row = UnsafeRawPointer(fresh)
                object.state.insert(.privateRow)
            }
            object.byteCount = count
            if object.extra != nil { object.extra?.decoded.removeAll() }
            image.pointee.isPrivate = isPrivate
            let wasChanged = object.flags.contains(.changed)
            if isClean, !(isExact && image.pointee.wasChanged), !object.flags.contains(.detectsConflicts) {
                if wasChanged {
                    object.flags.remove(.changed)
                    rest.hasUnchanged = true
                }
            } else if !wasChanged {
                noteChanges(of: object, rest: &rest)
            }
            image.pointee.wasChanged = wasChanged
            if isObserved { announce(object) }
        }
    }

    /// Reports an object to observers at the end of the exchange.
    private func announce(_ object: ManagedObject) {
        guard !object.state.contains(.touched), context?.observers.isEmpty == false else { return }
        object.state.insert(.touched)
        touched.append(object)
    }

    /// Exchanges a row whose references differ, or whose object is not as usual.
    private func exchangeSlowly(
        _ object: ManagedObject, image: inout UndoRecord.RowImage, info: EntityInfo, rest: inout Rest
    ) {
        let row = image.row
        guard !object.flags.contains(.orphan) else { return }
        if object.row == nil { _ = fire(object) }
        guard let current = object.row, !object.flags.contains(.inaccessible) else { return }
        let wasChanged = object.flags.contains(.changed)
        let copy = privateRows.copy(current, byteCount: Int(object.byteCount))
        PrivateRow.setCommitted(nil, of: copy)
        let (former, formerCount) = (UnsafeRawPointer(copy), object.byteCount)
        let target = privateRows.copy(row, byteCount: Int(image.byteCount))
        PrivateRow.setCommitted(nil, of: target)
        keepPlaces(of: object, info: info, current: current, in: target)
        let bytes = UnsafeRawBufferPointer(start: target, count: Int(image.byteCount))
        setPrivateRow(of: object, to: bytes)
        RowPage.release(UnsafeRawPointer(target))
        // Derived attributes are what the next save computes.
        if !info.derivedFields.isEmpty {
            let reader = RecordReader(row: former, byteCount: Int(formerCount), key: object.key, model: model)
            for field in info.derivedFields {
                let value = reader.value(field)
                guard value != object.value(of: field) else { continue }
                _ = latching { () throws(StoreError) in try object.set(value, for: field) }
            }
        }
        object.extra?.decoded.removeAll()
        for field in info.referenceFields {
            guard let relationship = field.relationship, let now = object.row else { continue }
            let (old, new) = (RowAccess.reference(former, field: field), RowAccess.reference(now, field: field))
            guard old?.key != new?.key, let inverse = model.relationships[relationship].inverse else { continue }
            if model.relationships[inverse].isToMany {
                for owner in [old, new] {
                    if let owner { settleMember(object, field: field, of: owner, list: inverse, rest: &rest) }
                }
            } else {
                let former = old.map { self.object($0.entity, key: $0.key) }
                rest.pairs.append(Pair(object: object, relationship: relationship, former: former))
            }
        }
        RowPage.release(row)
        image.row = former
        image.byteCount = formerCount
        image.isPrivate = true
        rest.affected.append(object)
        image.wasChanged = wasChanged
    }

    /// Gives a row the places in ordered lists that are right now: they are not the program's.
    private func keepPlaces(
        of object: ManagedObject, info: EntityInfo, current: UnsafeRawPointer, in row: UnsafeMutableRawPointer
    ) {
        for field in info.referenceFields {
            guard let relationship = field.relationship, let place = info.places[relationship] else { continue }
            let key = RowAccess.reference(row, field: field)?.key
            let sources = key == nil ? [] : [current, object.committedRow].compactMap { $0 }
            let source = sources.first { RowAccess.reference($0, field: field)?.key == key }
            let isNull = source.map { RowAccess.isNull($0, field: place.index) } ?? true
            RowAccess.setNull(isNull, row: row, field: place.index)
            row.storeBytes(
                of: isNull ? 0 : source?.loadUnaligned(fromByteOffset: place.byteOffset, as: Int64.self) ?? 0,
                toByteOffset: place.byteOffset, as: Int64.self)
        }
    }

    /// Takes over into a noted row what another context changed.
    func rebase(
        _ image: inout UndoRecord.RowImage, from old: UnsafeRawPointer, to new: UnsafeRawPointer
    ) throws(StoreError) {
        let (row, object) = (image.row, image.object)
        func reader(_ row: UnsafeRawPointer, count: Int) -> RecordReader {
            RecordReader(row: row, byteCount: count, key: object.key, model: model)
        }
        let before = reader(old, count: object.tail.byteCount(old))
        let after = reader(new, count: object.tail.byteCount(new))
        let mine = reader(row, count: Int(image.byteCount))
        var replacements: [(field: RecordLayout.Field, value: Value)] = []
        for field in object.info.entity.layout.fields where field.kind != .order {
            let (old, new) = (before.value(field), after.value(field))
            if old != new, mine.value(field) == old { replacements.append((field, new)) }
        }
        guard !replacements.isEmpty else { return }
        var batch = RecordBatch(model: model)
        try batch.append(mine, replacing: replacements)
        batch.withRecord(at: 0) { record in
            guard let base = record.bytes.baseAddress else { return }
            let fresh = privateRows.copy(base, byteCount: record.bytes.count)
            PrivateRow.setCommitted(nil, of: fresh)
            image.row = UnsafeRawPointer(fresh)
            image.byteCount = UInt32(truncatingIfNeeded: record.bytes.count)
            image.isPrivate = true
            RowPage.release(row)
        }
    }

    // MARK: Lists

    /// Lets a list know whether an object is its member, as the object's row says.
    private func settleMember(
        _ member: ManagedObject, field: RecordLayout.Field, of owner: (entity: Int, key: Int64), list: Int,
        rest: inout Rest
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
        rest: inout Rest
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
        if isOrdered { rest.lists.insert(List(owner: owner, relationship: list)) }
        rest.affected.append(owner)
        announce(owner)
    }

    /// Puts the lists of an object that is back, or not there any more, in order.
    private func joinLists(_ object: ManagedObject, rest: inout Rest) {
        guard let row = object.row else { return }
        for field in object.info.referenceFields {
            guard let relationship = field.relationship, let inverse = model.relationships[relationship].inverse,
                let owner = RowAccess.reference(row, field: field), model.relationships[inverse].isToMany
            else { continue }
            settleMember(object, field: field, of: owner, list: inverse, rest: &rest)
        }
    }

    private func exchangeLinks(_ record: UndoRecord, isExact: Bool, rest: inout Rest) {
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
            // What is still unknown was not saved since, so the store has it as it had it then.
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

    /// Gives objects that are inserted again after a saved deletion the members that they had.
    private func restoreContents(_ record: UndoRecord, returned: Set<ManagedObject>, rest: inout Rest) {
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
                List(owner: contents.owner, relationship: contents.relationship),
                order: Members.Order(current: contents.keys, appended: contents.keys), rest: &rest)
        }
    }

    private func arrange(_ list: List, order: Members.Order?, rest: inout Rest) {
        rest.lists.remove(list)
        guard !list.owner.flags.contains(.orphan), let extra = list.owner.extra,
            let index = extra.members.firstIndex(where: { $0.relationship == list.relationship })
        else { return }
        let order = isPlanted(.undoForgetsOrder) ? nil : order
        extra.members[index].state.arrange(order ?? extra.members[index].state.order)
        observation?.note(list.owner, property: .members(list.relationship))
        rest.affected.append(list.owner)
    }

    /// Lets both sides of one-to-one relationships agree, if another context changed one of them.
    ///
    /// What the step restores holds.
    private func settlePairs(_ pairs: [Pair]) {
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

    // MARK: Presence

    private func presence(of object: ManagedObject) -> UndoRecord.Presence {
        object.flags.contains(.orphan) ? .absent : object.flags.contains(.deleted) ? .deleted : .present
    }

    /// Brings an object back that was deleted, or whose insertion was undone.
    ///
    /// - Returns: Whether it was not there.
    private func bring(back object: ManagedObject, note: inout UndoRecord.Note) -> Bool {
        let now = presence(of: object)
        note.presence = now
        switch now {
        case .present: return false
        case .deleted:
            object.flags.subtract([.deleted, .propagated])
            // Its deletion is being saved, so that no store may have it soon.
            if object.flags.contains(.inFlight) { object.requireExtra().isReturning = true }
            undeleted.removeAll { $0 === object }
        case .absent:
            if isPlanted(.undoForgetsSavedDeletes), !note.isInsertion { return false }
            readmit(object)
        }
        observation?.noteAll(object)
        announce(object)
        return true
    }

    /// Shows members again in the lists that were read while they were deleted.
    private func show(_ objects: [ManagedObject]) {
        guard !hiddenMembers.isEmpty, !objects.isEmpty else { return }
        let places = Set(objects.map { ObjectPlace(root: $0.root, key: $0.key) })
        var hidden: [List: Set<Int64>] = [:]
        for (owner, relationship, member) in hiddenMembers where places.contains(member) {
            hidden[List(owner: owner, relationship: relationship), default: []].insert(member.key)
        }
        hiddenMembers.removeAll { places.contains($0.member) }
        for (list, keys) in hidden {
            guard let extra = list.owner.extra,
                let index = extra.members.firstIndex(where: { $0.relationship == list.relationship })
            else { continue }
            // The record may know of some already.
            let removed = keys.filter { extra.members[index].state.difference(of: $0) == .removed }
            guard !removed.isEmpty else { continue }
            extra.members[index].state.retract(removed)
            observation?.note(list.owner, property: .members(list.relationship))
        }
    }

    /// Takes an object back that has left the context, as a new one with the same key.
    private func readmit(_ object: ManagedObject) {
        guard object.flags.contains(.orphan), object.row != nil else { return }
        let left = object.core
        object.core = self
        Unmanaged.passUnretained(left).release()
        object.flags = .inserted
        becomeNew(object)
        // A fault for the ID can have been made meanwhile.
        if let other = registered(object.root, key: object.key) { leave(other) }
        registry.insert(object, root: object.root)
    }

    /// Makes an object one that no store has.
    func becomeNew(_ object: ManagedObject) {
        guard let row = object.row else { return }
        if !object.state.contains(.privateRow) {
            let copy = privateRows.copy(row, byteCount: Int(object.byteCount))
            PrivateRow.setCommitted(nil, of: copy)
            object.row = UnsafeRawPointer(copy)
            RowPage.release(row)
            object.requireExtra().isReturning = true
        } else if let committed = PrivateRow.committed(row) {
            RowPage.release(committed)
            PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: row))
            object.requireExtra().isReturning = true
        }
        object.state.remove(.touched)
        object.state.insert(.privateRow)
        object.flags.remove(.inFlight)
        object.flags.insert(.inserted)
        guard !object.flags.contains(.changed) else { return }
        object.flags.insert(.changed)
        changed.append(object)
    }

    private func takeAway(
        _ note: inout UndoRecord.Note, gone: inout [ManagedObject], rest: inout Rest
    ) {
        let object = note.object
        let now = presence(of: object)
        note.presence = now
        guard now == .present else { return }
        if object.flags.contains(.inserted), !object.flags.contains(.inFlight) {
            gone.append(object)
            return
        }
        object.flags.insert([.deleted, .propagated])
        hasPropagatedDeletes = true
        if !object.flags.contains(.changed) {
            object.flags.insert(.changed)
            changed.append(object)
        }
        observation?.noteAll(object)
        joinLists(object, rest: &rest)
        announce(object)
    }

    /// Returns the objects that a record marks as deleted.
    private func takenAway(_ record: UndoRecord) -> [ManagedObject] {
        record.notes.filter { $0.presence != nil }.map(\.object)
            .filter { $0.flags.contains(.deleted) && !$0.flags.contains(.inaccessible) }
    }

    /// Returns what may still refer to objects that are taken away, because others or the program
    /// without undo made it refer to them.
    ///
    /// - Parameter objects: The objects.
    /// - Returns: The objects, with the members of their relationships.
    private func connections(
        of objects: [ManagedObject]
    ) -> [(object: ManagedObject, relationship: ManagedObjectModel.Relationship, member: ManagedObject)] {
        var found: [(object: ManagedObject, relationship: ManagedObjectModel.Relationship, member: ManagedObject)] = []
        for object in objects {
            for relationship in object.info.relationships
            where relationship.declaration.deleteRule != .noAction {
                // Lists that follow from the object's own row are settled.
                guard let inverse = relationship.inverse,
                    relationship.isToMany || !model.relationships[inverse].isToMany
                else { continue }
                let members = latching { () throws(StoreError) in
                    try self.objects(
                        try destinationKeys(of: object, relationship: relationship),
                        destination: relationship.destination)
                }
                found += (members ?? []).map { (object, relationship, $0) }
            }
        }
        return found
    }

    /// Notes the members of objects that are taken away, for their return.
    private func keepContents(
        _ connections: [(object: ManagedObject, relationship: ManagedObjectModel.Relationship, member: ManagedObject)],
        in record: UndoRecord
    ) {
        var keys: [List: [Int64]] = [:]
        for (object, relationship, member) in connections where relationship.isToMany {
            keys[List(owner: object, relationship: relationship.number), default: []].append(member.key)
        }
        guard !keys.isEmpty else { return }
        record.contents.removeAll { keys[List(owner: $0.owner, relationship: $0.relationship)] != nil }
        record.contents += keys.map {
            UndoRecord.Contents(owner: $0.key.owner, relationship: $0.key.relationship, keys: $0.value)
        }
    }

    private func expel(_ objects: [ManagedObject], rest: inout Rest) {
        guard !objects.isEmpty else { return }
        let gone = Set(objects)
        changed.removeAll { gone.contains($0) }
        touched.removeAll { gone.contains($0) }
        for object in objects { expel(object) }
        for object in objects { joinLists(object, rest: &rest) }
    }

    // MARK: State

    private func exchangeTransients(_ record: UndoRecord) {
        let order = Array(record.transients.indices)
        for index in record.isReversed ? order : order.reversed() {
            let image = record.transients[index]
            guard !image.object.flags.contains(.orphan) else { continue }
            let extra = image.object.requireExtra()
            record.transients[index].value = extra.transients[image.name]
            extra.transients[image.name] = image.value
            observation?.note(image.object, property: .transient(image.name))
            announce(image.object)
        }
    }

    /// Works out which objects have changes now.
    private func settle(_ rest: inout Rest, kept: Set<ObjectIdentifier>) {
        for object in rest.affected {
            guard object.flags.isDisjoint(with: [.orphan, .inserted, .deleted]) else { continue }
            if object.state.contains(.privateRow), !object.flags.contains(.inFlight), let row = object.row,
                let committed = PrivateRow.committed(row), !isDirtyMeanwhile(object)
            {
                object.row = committed
                object.byteCount = UInt32(truncatingIfNeeded: object.tail.byteCount(committed))
                object.state.remove(.privateRow)
                RowPage.release(row)
            }
            let isChanged =
                object.state.contains(.privateRow) || object.flags.contains(.detectsConflicts)
                || object.extra?.members.contains(where: \.state.hasDifferences) ?? false
                || kept.contains(ObjectIdentifier(object))
            if isChanged, !object.flags.contains(.changed) {
                noteChanges(of: object, rest: &rest)
            } else if !isChanged, object.flags.contains(.changed) {
                object.flags.remove(.changed)
                rest.hasUnchanged = true
            }
            announce(object)
        }
        guard rest.hasUnchanged else { return }
        let former = changed
        changed = former.filterUncounted { $0.flags.contains(.changed) }
        if rest.hasRepeated {
            var seen: Set<ManagedObject> = []
            changed.removeAll { !seen.insert($0).inserted }
        }
        withExtendedLifetime(former) {}
    }

    /// Puts an object without changes into the list of changed ones.
    private func noteChanges(of object: ManagedObject, rest: inout Rest) {
        object.flags.insert(.changed)
        changed.append(object)
        if rest.hasUnchanged { rest.hasRepeated = true }
    }

    /// Calls the hooks of a record's objects.
    private func awake(_ record: UndoRecord) {
        let wasTracking = isTracking
        isTracking = false
        defer { isTracking = wasTracking }
        record.forEachRow { object, _ in
            if !object.flags.contains(.orphan) { object.awake(from: .undoUpdate) }
        }
        for note in record.notes where !note.object.flags.contains(.orphan) {
            note.object.awake(
                from: note.presence == nil ? .undoUpdate : note.isInsertion ? .undoInsertion : .undoDeletion)
        }
    }
}
