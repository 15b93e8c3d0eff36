internal import RoostCore

/// The stored positions (*places*) of the members of an ordered relationship.
///
/// Places are far apart, so that a member can be inserted between two others without changing their
/// places.
enum OrderedPlaces {
    static let distance: Int64 = 1 << 20

    /// Returns ascending places for the members, and keeps as many present places as possible.
    ///
    /// If a gap is too small for its new members, all members get new places. Two contexts can
    /// assign the same place to two members, whose keys then determine the order. `present`
    /// contains nil for new members.
    static func places(keeping present: [Int64?], keys: [Int64]) -> [Int64] {
        let kept = longestAscending(present, keys: keys)
        var result = [Int64](repeating: 0, count: present.count)
        var index = 0
        var low: Int64?
        while index < present.count {
            if kept.contains(index), let place = present[index] {
                result[index] = place
                low = place
                index += 1
                continue
            }
            var end = index
            while end < present.count, !kept.contains(end) { end += 1 }
            let high: Int64? = end < present.count ? present[end] : nil
            guard fill(&result, range: index..<end, after: low, before: high) else {
                return present.indices.map { Int64($0 + 1) * distance }
            }
            low = result[end - 1]
            index = end
        }
        return result
    }

    private static func fill(
        _ result: inout [Int64], range: Range<Int>, after low: Int64?, before high: Int64?
    ) -> Bool {
        let count = Int64(range.count)
        switch (low, high) {
        case (let low?, let high?):
            let (room, overflow) = high.subtractingReportingOverflow(low)
            guard !overflow, room > count else { return false }
            let step = room / (count + 1)
            for (offset, index) in range.enumerated() { result[index] = low + step * Int64(offset + 1) }
        case (let low?, nil):
            guard low < Int64.max - distance * (count + 1) else { return false }
            for (offset, index) in range.enumerated() { result[index] = low + distance * Int64(offset + 1) }
        case (nil, let high?):
            guard high > Int64.min + distance * (count + 1) else { return false }
            for (offset, index) in range.enumerated() { result[index] = high - distance * (count - Int64(offset)) }
        case (nil, nil):
            for (offset, index) in range.enumerated() { result[index] = distance * Int64(offset + 1) }
        }
        return true
    }

    private static func longestAscending(_ present: [Int64?], keys: [Int64]) -> Set<Int> {
        var tails: [Int] = []
        var before = [Int?](repeating: nil, count: present.count)
        for (index, place) in present.enumerated() {
            guard let place else { continue }
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                let other = tails[middle]
                if let value = present[other], (value, keys[other]) < (place, keys[index]) {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            before[index] = low > 0 ? tails[low - 1] : nil
            if low < tails.count { tails[low] = index } else { tails.append(index) }
        }
        var kept: Set<Int> = []
        var next = tails.last
        while let index = next {
            kept.insert(index)
            next = before[index]
        }
        return kept
    }
}

extension GraphCore {
    /// Writes the places of changed ordered relationships into the rows of their members.
    ///
    /// Ignores relationships that store places in links.
    func settleOrder() throws(StoreError) {
        let owners = changed.filterUncounted { $0.extra != nil && !$0.flags.contains(.deleted) }
        for owner in owners {
            for (number, members) in owner.extra?.members ?? [] where members.isReordered {
                let relationship = model.relationships[number]
                guard case .derived(let inverse) = relationship.storage else { continue }
                let keys = try memberKeys(of: owner, relationship: number)
                let root = model.entities[relationship.destination].root
                try read(keys.filter { registered(root, key: $0)?.row == nil }, root: root)
                let objects = try objects(keys, destination: relationship.destination)
                let stored = try storedPlaces(of: owner, relationship: relationship)
                // An added member's old place belongs to another list. For other members, prefer
                // the places that were just read, because a row in memory may be older.
                let present = objects.map { object in
                    members.added.contains(object.key)
                        ? nil : stored[object.key] ?? place(of: object, reference: inverse)
                }
                for (object, new) in zip(objects, OrderedPlaces.places(keeping: present, keys: keys)) {
                    guard let field = object.info.places[inverse] else { continue }
                    let own = place(of: object, reference: inverse)
                    let isChanged = own != object.committedRow.flatMap { Self.place(in: $0, field: field) }
                    guard own != new, isChanged || stored[object.key] != new, touch(object), let row = object.row
                    else { continue }
                    let writable = UnsafeMutableRawPointer(mutating: row)
                    writable.storeBytes(of: new.littleEndian, toByteOffset: field.byteOffset, as: Int64.self)
                    RowAccess.setNull(false, row: writable, field: field.index)
                }
            }
        }
    }

    private func place(of object: ManagedObject, reference: Int) -> Int64? {
        object.info.places[reference].flatMap { Self.place(in: object.firedRow, field: $0) }
    }

    private static func place(in row: UnsafeRawPointer, field: RecordLayout.Field) -> Int64? {
        guard !RowAccess.isNull(row, field: field.index) else { return nil }
        return Int64(littleEndian: row.loadUnaligned(fromByteOffset: field.byteOffset, as: Int64.self))
    }

    /// Returns the stored places of an ordered relationship's members, and records the last place.
    ///
    /// The commit fails and is tried again if another context has changed the last place. So two
    /// contexts cannot append at the same place.
    private func storedPlaces(
        of owner: ManagedObject, relationship: ManagedObjectModel.Relationship
    ) throws(StoreError) -> [Int64: Int64] {
        guard !owner.flags.contains(.inserted), owner.key > 0 else { return [:] }
        var places: [Int64: Int64] = [:]
        let cursor = try openReader().snapshot(ofEntity: Int(owner.entityNumber))
            .links(of: relationship.name, from: owner.objectID)
        var batch = LinkBatch(relationship: relationship.number)
        while try cursor.next(into: &batch) { for link in batch.links { places[link.target] = link.order } }
        expectedPlaces.append(
            ChangeSet.LastPlace(owner.objectID, in: relationship.name, place: places.values.max()))
        return places
    }

    /// Returns the links of an ordered relationship that are new or get a new place.
    ///
    /// For a commit, also records the last place.
    func placedLinks(
        of owner: ManagedObject, relationship: ManagedObjectModel.Relationship, isForCommit: Bool
    ) throws(StoreError) -> [Link] {
        let keys = try memberKeys(of: owner, relationship: relationship.number)
        var stored: [Int64: Link] = [:]
        if !owner.flags.contains(.inserted), owner.key > 0 || parent != nil {
            let cursor = try openReader().snapshot(ofEntity: Int(owner.entityNumber))
                .links(of: relationship.name, from: owner.objectID)
            var batch = LinkBatch(relationship: relationship.number)
            while try cursor.next(into: &batch) { for link in batch.links { stored[link.target] = link } }
        }
        if isForCommit, !owner.flags.contains(.inserted), owner.key > 0 {
            expectedPlaces.append(
                ChangeSet.LastPlace(
                    owner.objectID, in: relationship.name, place: stored.values.map(\.order).max()))
        }
        // Members that another context removed remain removed, even if this context has read them.
        let added = owner.extra?.members.first { $0.relationship == relationship.number }?.state.added ?? []
        let kept = keys.filter { stored[$0] != nil || added.contains($0) }
        let present = kept.map { stored[$0]?.order }
        var result: [Link] = []
        for (key, place) in zip(kept, OrderedPlaces.places(keeping: present, keys: kept))
        where stored[key]?.order != place {
            result.append(Link(owner.key, key, order: place, inverseOrder: stored[key]?.inverseOrder ?? 0))
        }
        return result
    }
}
