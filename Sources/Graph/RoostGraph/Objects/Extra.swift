internal import RoostCore

/// The state that only some objects need.
final class Extra {
    /// The to-many relationships that were read or changed.
    var members: [(relationship: Int, state: Members)] = []
    var transients: [String: Value] = [:]
    /// The decoded values of transformable attributes, by slot.
    var decoded: [Int: any Sendable] = [:]
    /// The row at the beginning of the event, if the object already had changes then.
    var eventRow: UnsafeRawPointer?
    /// The row that a background save is saving.
    var rowInFlight: UnsafeRawPointer?
    /// Whether the object is inserted again after its deletion was saved.
    ///
    /// Stored objects may still refer to the object.
    var isReturning = false

    /// Whether all changes of the object are in its row.
    var hasRowOnly: Bool { members.isEmpty && transients.isEmpty && rowInFlight == nil }

    deinit {
        if let eventRow { RowPage.release(eventRow) }
        if let rowInFlight { RowPage.release(rowInFlight) }
    }
}

/// The stored members and the pending differences of an object's to-many relationship.
struct Members {
    /// The stored keys, in their order, or nil before they are read.
    private(set) var base: [Int64]?
    private var baseKeys: Set<Int64> = []
    /// The keys of added members, which may already be stored if ``base`` is nil.
    private(set) var added: Set<Int64> = []
    /// The keys of removed members, which may still be stored.
    private(set) var removed: Set<Int64> = []
    /// The added keys of an ordered relationship, in the order in which they were added.
    private var appended: [Int64] = []
    /// The keys of an ordered relationship that were removed and then added again, at the end.
    private var movedToEnd: Set<Int64> = []
    /// The current members in their order, or nil if they are not computed.
    private(set) var current: [Int64]?
    /// Whether an ordered relationship needs new stored positions.
    private(set) var isReordered = false
    /// The number of the last undo record that contains an earlier order of the members.
    var recordWithOrder = 0
    /// The differences that a background save is saving.
    var inFlight: (added: Set<Int64>, removed: Set<Int64>, isReordered: Bool)?

    var hasDifferences: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

    /// Returns whether an object is a member, or nil if the members must first be read.
    func knows(_ key: Int64) -> Bool? {
        if added.contains(key) { return true }
        if removed.contains(key) { return false }
        return base == nil ? nil : baseKeys.contains(key)
    }

    private func storeHas(_ key: Int64) -> Bool {
        baseKeys.contains(key) || inFlight?.added.contains(key) ?? false
    }

    /// Adds a member, in an ordered relationship at the end.
    mutating func add(_ key: Int64, isOrdered: Bool) {
        let isMember = knows(key) ?? false
        if isOrdered, removed.contains(key) { movedToEnd.insert(key) }
        // Adding a removed key again restores the stored state only if the key is known to be stored
        // and no save is removing it.
        if removed.remove(key) == nil || !baseKeys.contains(key) || inFlight?.removed.contains(key) ?? false {
            if !isMember { added.insert(key) }
        }
        guard isOrdered else {
            current = nil
            return
        }
        guard !isMember else { return }
        appended.append(key)
        current?.append(key)
        isReordered = true
    }

    mutating func remove(_ key: Int64, isOrdered: Bool) {
        // If the members were not read, an added key may also be stored.
        if added.remove(key) == nil || base == nil || storeHas(key) { removed.insert(key) }
        guard isOrdered else {
            current = nil
            return
        }
        movedToEnd.remove(key)
        appended.drop(key)
        current?.drop(key)
    }

    mutating func setBase(_ keys: [Int64]) {
        base = keys
        baseKeys = Set(keys)
        // A change that is already stored is not a difference, unless a save in progress does the
        // opposite.
        added = added.filter { !baseKeys.contains($0) || inFlight?.removed.contains($0) ?? false }
        removed = removed.filter { baseKeys.contains($0) || inFlight?.added.contains($0) ?? false }
        guard isReordered, let own = current else {
            // `settle(isOrdered:)` computes the members.
            current = nil
            return
        }
        // Keep the program's order. Members that other contexts added come before the members that
        // this context added at the end.
        let kept = own.filter { baseKeys.contains($0) || added.contains($0) }
        let known = Set(kept)
        let new = keys.filter { !known.contains($0) && !removed.contains($0) }
        let end = kept.lastIndex { !added.contains($0) }.map { $0 + 1 } ?? 0
        current = Array(kept[..<end]) + new + Array(kept[end...])
    }

    mutating func settle(isOrdered: Bool) {
        guard current == nil else { return }
        var keys = (base ?? []).filter { !removed.contains($0) && !movedToEnd.contains($0) }
        keys +=
            appended.isEmpty
            ? added.filter { !baseKeys.contains($0) }.sorted()
            : appended.filter { !baseKeys.contains($0) || movedToEnd.contains($0) }
        if !isOrdered { keys.sort() }
        current = keys
    }

    mutating func reorder(_ keys: [Int64]) {
        current = keys
        isReordered = true
    }

    /// Discards the stored members, and the differences that concern the given objects.
    mutating func retract(_ keys: Set<Int64>) {
        added.subtract(keys)
        removed.subtract(keys)
        movedToEnd.subtract(keys)
        appended.removeAll { keys.contains($0) }
        current?.removeAll { keys.contains($0) }
        forgetBase()
    }

    /// Discards the stored members, but not the differences.
    mutating func forgetBase() {
        (base, baseKeys) = (nil, [])
        if !isReordered { current = nil }
    }

    /// Replaces the temporary key of an inserted object with its final key.
    mutating func replace(_ old: Int64, by new: Int64) {
        if added.remove(old) != nil { added.insert(new) }
        if removed.remove(old) != nil { removed.insert(new) }
        if movedToEnd.remove(old) != nil { movedToEnd.insert(new) }
        appended = appended.map { $0 == old ? new : $0 }
        current = current?.map { $0 == old ? new : $0 }
    }

    mutating func commit() {
        if base != nil { base = current ?? base }
        if current == nil { base = nil }
        baseKeys = base.map { Set($0) } ?? []
        (added, removed, appended, movedToEnd, isReordered) = ([], [], [], [], false)
    }

    // MARK: Undo

    enum Difference: UInt8 {
        case none
        case added
        case removed
    }

    struct Order {
        /// The members, or nil if they were not read.
        var current: [Int64]?
        /// The members that were added at the end.
        var appended: [Int64]
    }

    func difference(of key: Int64) -> Difference {
        added.contains(key) ? .added : removed.contains(key) ? .removed : .none
    }

    /// Returns whether an object is a stored member, or nil if the members were not read.
    func isStored(_ key: Int64) -> Bool? { base == nil ? nil : baseKeys.contains(key) }

    var order: Order { Order(current: current, appended: appended) }

    /// Sets the pending change of a member.
    ///
    /// For an ordered relationship, call ``arrange(_:)`` afterwards.
    mutating func set(_ difference: Difference, of key: Int64, isOrdered: Bool) {
        added.remove(key)
        removed.remove(key)
        switch difference {
        case .none: break
        case .added: added.insert(key)
        case .removed: removed.insert(key)
        }
        if difference != .added, movedToEnd.remove(key) != nil { appended.removeAll { $0 == key } }
        if !isOrdered { current = nil }
    }

    /// Restores a former order of members.
    ///
    /// A member that is missing in `former` stays after its current predecessor.
    mutating func arrange(_ former: Order) {
        appended = Self.unique(former.appended + appended + added.sorted()).filter { added.contains($0) }
        movedToEnd.formIntersection(appended)
        guard let order = former.current ?? current else {
            // The members were not read, and never reordered.
            isReordered = !added.isEmpty
            return
        }
        let isKnown = base != nil
        let candidates = order + (current ?? []) + (base ?? []) + appended
        let keys = Self.unique(candidates).filter { key in
            // If the stored members are unknown, a later read of them removes keys that are not stored.
            added.contains(key) || !removed.contains(key) && (!isKnown || baseKeys.contains(key))
        }
        current = Self.inserting(keys, into: order.filter(Set(keys).contains), following: current ?? base ?? [])
        let stored = (base ?? []).filter { !removed.contains($0) }
        isReordered = !added.isEmpty || !isKnown || current != stored
    }

    private static func unique(_ keys: [Int64]) -> [Int64] {
        var seen: Set<Int64> = []
        return keys.filter { seen.insert($0).inserted }
    }

    /// Inserts keys into a list, each after its predecessor in another list.
    private static func inserting(_ keys: [Int64], into list: [Int64], following other: [Int64]) -> [Int64] {
        let known = Set(list)
        let new = keys.filter { !known.contains($0) }
        guard !new.isEmpty else { return list }
        let wanted = Set(new)
        // For each key of `list`, the new keys that follow it in `other` before the next key of `list`.
        var followers: [Int64: [Int64]] = [:]
        var start: [Int64] = []
        var last: Int64?
        var placed: Set<Int64> = []
        for key in other {
            if known.contains(key) {
                last = key
            } else if wanted.contains(key) {
                placed.insert(key)
                if let last { followers[last, default: []].append(key) } else { start.append(key) }
            }
        }
        return start + list.flatMap { [$0] + (followers[$0] ?? []) } + new.filter { !placed.contains($0) }
    }

    // MARK: Background saves

    /// Marks the differences as being saved.
    ///
    /// The differences also remain in ``added`` and ``removed`` until ``land()``.
    mutating func takeOff() {
        inFlight = hasDifferences ? (added, removed, isReordered) : nil
        isReordered = false
    }

    /// Makes all differences pending again after a failed save.
    mutating func abort() {
        guard let flight = inFlight else { return }
        inFlight = nil
        // Of two opposite changes of a key, the later one remains.
        added.formUnion(flight.added.subtracting(removed))
        removed.formUnion(flight.removed.subtracting(added))
        isReordered = isReordered || flight.isReordered
        // A change that restores the stored state is not a difference.
        guard base != nil else { return }
        added.subtract(baseKeys)
        removed.formIntersection(baseKeys)
    }

    /// Marks the differences of a background save as stored, but not later differences.
    mutating func land() {
        guard let flight = inFlight else { return }
        inFlight = nil
        added.subtract(flight.added)
        removed.subtract(flight.removed)
        appended.removeAll { !added.contains($0) }
        movedToEnd.formIntersection(appended)
        (base, baseKeys) = (nil, [])
        if !isReordered { current = nil }
    }
}

extension [Int64] {
    /// Removes a key that is in the list at most once, with a fast search at both ends.
    fileprivate mutating func drop(_ key: Int64) {
        if last == key {
            removeLast()
        } else if let index = firstIndex(of: key) {
            remove(at: index)
        }
    }
}
