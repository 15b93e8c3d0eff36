package import RoostCore

/// An object that an event changed or may have changed, and its current row.
package struct ResultsRowChange: Sendable {
    package var key: Int64
    /// The current row, or nil if the object is not in the result.
    package var row: ResultsRow?
    /// Whether the event certainly changed the object, even if its row is the same.
    package var isTouched: Bool

    package init(key: Int64, row: ResultsRow?, isTouched: Bool) {
        (self.key, self.row, self.isTouched) = (key, row, isTouched)
    }
}

extension ResultsList {
    /// Applies changes, at most one for each key, and returns the difference from the old list.
    ///
    /// `limit` is the maximum number of rows to keep, starting from the first, or nil for all.
    ///
    /// - Complexity: O(*m* log *n*) comparisons for *m* changes in a list of *n* rows.
    package mutating func apply(
        _ changes: [ResultsRowChange], limit: Int? = nil, model: ManagedObjectModel
    ) -> ResultsChange {
        var difference = ResultsDifference(model: model, oldSerials: serials)
        // A window is small, so copying its list is cheap.
        let old = limit == nil ? nil : self
        var leaving: [Position] = []
        var coming: [ResultsRow] = []
        for change in changes {
            guard let position = position(of: change.key) else {
                guard let row = change.row else { continue }
                coming.append(row)
                difference.displace(row.key, entity: row.entity, from: nil, isChanged: true)
                continue
            }
            let entry = entry(at: position)
            let place = place(of: position)
            guard let row = change.row else {
                leaving.append(position)
                difference.displace(entry.key, entity: Int(entry.entity), from: place, isChanged: true)
                continue
            }
            let isChanged = change.isTouched || row.fingerprint != entry.fingerprint
            if hasOrder(row, at: position) {
                guard isChanged else { continue }
                setFingerprint(row.fingerprint, at: position)
                difference.update(row.key, entity: row.entity, from: place)
            } else {
                leaving.append(position)
                coming.append(row)
                difference.displace(row.key, entity: row.entity, from: place, isChanged: isChanged)
            }
        }
        let former = remove(leaving)
        for row in coming { insert(row, former: former) }
        if let limit, let old, count > limit { dropLast(count - limit, of: old, difference: &difference) }
        return difference.finish(self)
    }

    /// Removes rows, and returns the serial numbers of the removed sections by name.
    private mutating func remove(_ positions: [Position]) -> [String: UInt32] {
        var former: [String: UInt32] = [:]
        for position in positions.sorted().reversed() {
            if let (name, serial) = remove(at: position) { former[name] = serial }
        }
        return former
    }

    private mutating func dropLast(_ excess: Int, of old: ResultsList, difference: inout ResultsDifference) {
        let recorded = difference.keys
        for _ in 0..<excess {
            guard let section = sections.indices.last(where: { sections[$0].count > 0 }) else { return }
            let chunk = sections[section].chunks.count - 1
            let index = sections[section].chunks[chunk].entries.count - 1
            let position = Position(section: section, chunk: chunk, index: index)
            let entry = entry(at: position)
            if !recorded.contains(entry.key), let place = old.place(of: entry.key) {
                difference.displace(entry.key, entity: Int(entry.entity), from: place, isChanged: false)
            }
            _ = remove(at: position)
        }
    }

    /// Returns the difference from an old list: all changed objects, and as few unchanged objects as
    /// possible.
    ///
    /// Sections with the same name count as the same section. `touched` contains the keys of the
    /// objects that certainly changed.
    ///
    /// - Complexity: O(*n* + *m* log *m*) for *n* rows, where *m* rows are between the first and
    ///   the last differing rows.
    package mutating func difference(
        from old: ResultsList, touched: Set<Int64>, model: ManagedObjectModel
    ) -> ResultsChange {
        adoptSerials(of: old)
        var difference = ResultsDifference(model: model, oldSerials: old.serials)
        var (formerRows, presentRows) = ([(ResultsPlace, Entry)](), [(ResultsPlace, Entry)]())
        formerRows.reserveCapacity(old.count)
        presentRows.reserveCapacity(count)
        old.forEach { formerRows.append(($0, $1)) }
        forEach { presentRows.append(($0, $1)) }
        func isSame(_ a: (ResultsPlace, Entry), _ b: (ResultsPlace, Entry)) -> Bool {
            a.1.key == b.1.key && old.serials[a.0.section] == serials[b.0.section]
        }
        func compare(_ a: (ResultsPlace, Entry), _ b: (ResultsPlace, Entry)) {
            guard a.1.fingerprint != b.1.fingerprint || touched.contains(a.1.key) else { return }
            difference.update(b.1.key, entity: Int(b.1.entity), from: a.0)
        }
        // The search for moves skips equal rows at both ends.
        var (start, formerEnd, presentEnd) = (0, formerRows.count, presentRows.count)
        while start < formerEnd, start < presentEnd, isSame(formerRows[start], presentRows[start]) {
            compare(formerRows[start], presentRows[start])
            start += 1
        }
        while formerEnd > start, presentEnd > start, isSame(formerRows[formerEnd - 1], presentRows[presentEnd - 1]) {
            (formerEnd, presentEnd) = (formerEnd - 1, presentEnd - 1)
            compare(formerRows[formerEnd], presentRows[presentEnd])
        }
        var formerIndex: [Int64: Int] = [:]
        for index in start..<formerEnd { formerIndex[formerRows[index].1.key] = index }
        var kept: [(former: Int, present: Int)] = []
        for index in start..<presentEnd {
            let (place, entry) = presentRows[index]
            guard let former = formerIndex.removeValue(forKey: entry.key) else {
                difference.displace(entry.key, entity: Int(entry.entity), from: nil, isChanged: true)
                continue
            }
            let (formerPlace, formerEntry) = formerRows[former]
            let isChanged = touched.contains(entry.key) || entry.fingerprint != formerEntry.fingerprint
            if isChanged || old.serials[formerPlace.section] != serials[place.section] {
                difference.displace(entry.key, entity: Int(entry.entity), from: formerPlace, isChanged: isChanged)
            } else {
                kept.append((former, index))
            }
        }
        for (_, former) in formerIndex {
            let (place, entry) = formerRows[former]
            difference.displace(entry.key, entity: Int(entry.entity), from: place, isChanged: true)
        }
        // As many unchanged rows as possible count as not moved.
        let staying = Set(ResultsDifference.longestAscendingRun(kept.map(\.former)))
        for (position, row) in kept.enumerated() where !staying.contains(position) {
            let entry = presentRows[row.present].1
            difference.displace(entry.key, entity: Int(entry.entity), from: formerRows[row.former].0, isChanged: false)
        }
        return difference.finish(self)
    }
}

/// A collector that recognizes moves among the differences between two lists.
struct ResultsDifference {
    /// A row that may have moved relative to other rows, or that is in only one of the two lists.
    private struct Displaced {
        let key: Int64
        let entity: Int
        let from: ResultsPlace?
        /// Whether the row is reported even if it did not move.
        let isChanged: Bool
        var to: ResultsPlace?
        /// The counts of undisplaced rows before this row, in its old and in its new section.
        var gap: (former: Int, present: Int) = (-1, -1)
    }

    private let model: ManagedObjectModel
    private let oldSerials: [UInt32]
    private var displaced: [Displaced] = []
    private var updated: [(key: Int64, entity: Int, from: ResultsPlace)] = []
    init(model: ManagedObjectModel, oldSerials: [UInt32]) { (self.model, self.oldSerials) = (model, oldSerials) }

    /// Records a row that moves, enters or leaves.
    mutating func displace(_ key: Int64, entity: Int, from: ResultsPlace?, isChanged: Bool) {
        displaced.append(Displaced(key: key, entity: entity, from: from, isChanged: isChanged))
    }

    /// Records a row that changed without moving.
    mutating func update(_ key: Int64, entity: Int, from: ResultsPlace) {
        updated.append((key, entity, from))
    }

    var keys: Set<Int64> { Set(displaced.map { $0.key }).union(updated.map { $0.key }) }

    private func id(_ key: Int64, entity: Int) -> ObjectID { ObjectID(model.entities[entity].name, key: key) }

    mutating func finish(_ new: ResultsList) -> ResultsChange {
        var change = ResultsChange()
        for row in updated {
            if let to = new.place(of: row.key) {
                change.updated.append(ResultsChange.Move(id: id(row.key, entity: row.entity), from: row.from, to: to))
            } else {
                displace(row.key, entity: row.entity, from: row.from, isChanged: true)
            }
        }
        for index in displaced.indices { displaced[index].to = new.place(of: displaced[index].key) }
        measureGaps()
        let staying = staying(new.serials)
        for (index, row) in displaced.enumerated() {
            let id = id(row.key, entity: row.entity)
            switch (row.from, row.to) {
            case (let from?, let to?):
                let move = ResultsChange.Move(id: id, from: from, to: to)
                if !staying.contains(index) {
                    change.moved.append(move)
                } else if row.isChanged {
                    change.updated.append(move)
                }
            case (let from?, nil): change.deleted.append(ResultsChange.Item(id: id, place: from))
            case (nil, let to?): change.inserted.append(ResultsChange.Item(id: id, place: to))
            case (nil, nil): break
            }
        }
        change.deleted.sort { $0.place < $1.place }
        change.inserted.sort { $0.place < $1.place }
        change.moved.sort { $0.to < $1.to }
        change.updated.sort { $0.to < $1.to }
        if oldSerials != new.serials {
            let (former, present) = (Set(oldSerials), Set(new.serials))
            change.deletedSections = oldSerials.indices.filter { !present.contains(oldSerials[$0]) }
            change.insertedSections = new.serials.indices.filter { !former.contains(new.serials[$0]) }
        }
        return change
    }

    private mutating func measureGaps() {
        func measure(_ place: KeyPath<Displaced, ResultsPlace?>, gap: WritableKeyPath<Displaced, Int>) {
            var places: [(place: ResultsPlace, index: Int)] = []
            for (index, row) in displaced.enumerated() {
                if let place = row[keyPath: place] { places.append((place, index)) }
            }
            places.sort { $0.place < $1.place }
            var (section, rank) = (-1, 0)
            for (place, index) in places {
                if place.section != section { (section, rank) = (place.section, 0) }
                displaced[index][keyPath: gap] = place.item - rank
                rank += 1
            }
        }
        measure(\.from, gap: \.gap.former)
        measure(\.to, gap: \.gap.present)
    }

    /// Returns the indexes in ``displaced`` of rows that did not move.
    ///
    /// A row stayed only if its section and the number of undisplaced rows before it are unchanged.
    /// Of the rows between the same two undisplaced rows, a longest sequence with the same order in
    /// both lists stayed.
    private func staying(_ newSerials: [UInt32]) -> Set<Int> {
        struct Gap: Hashable {
            let section: Int
            let count: Int
        }
        var gaps: [Gap: [(to: Int, from: Int, index: Int)]] = [:]
        for (index, row) in displaced.enumerated() {
            guard let from = row.from, let to = row.to, row.gap.former == row.gap.present,
                oldSerials[from.section] == newSerials[to.section]
            else { continue }
            gaps[Gap(section: to.section, count: row.gap.present), default: []].append((to.item, from.item, index))
        }
        var staying: Set<Int> = []
        for rows in gaps.values {
            let rows = rows.sorted { $0.to < $1.to }
            for position in Self.longestAscendingRun(rows.map(\.from)) { staying.insert(rows[position].index) }
        }
        return staying
    }

    /// Returns the positions of a longest ascending subsequence of distinct numbers.
    static func longestAscendingRun(_ numbers: [Int]) -> [Int] {
        // For each length, the position of the smallest number that ends a run of that length.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: numbers.count)
        for (position, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[position] = ends[low - 1] }
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var result: [Int] = []
        var position = ends.last ?? -1
        while position >= 0 {
            result.append(position)
            position = previous[position]
        }
        return result.reversed()
    }
}
