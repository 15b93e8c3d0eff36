internal import RoostCore

/// The parts of an object that few objects have.
final class Extra {
    /// The to-many relationships that were read or changed.
    var members: [(relationship: Int, state: Members)] = []
    /// The values of transient attributes.
    var transients: [String: Value] = [:]
    /// The values of transformable attributes, decoded, with the bytes that they were decoded from.
    var decoded: [Int: any Sendable] = [:]
    /// The row at the beginning of the event, of an object that changed before it.
    var eventRow: UnsafeRawPointer?
    /// The row that is being saved in the background.
    var rowInFlight: UnsafeRawPointer?
    /// Whether the object is inserted again after its deletion was saved.
    ///
    /// Stores can have objects that refer to it then.
    var isReturning = false

    /// Whether all changes of the object are in its row.
    var hasRowOnly: Bool { members.isEmpty && transients.isEmpty && rowInFlight == nil }

    deinit {
        if let eventRow { RowPage.release(eventRow) }
        if let rowInFlight { RowPage.release(rowInFlight) }
    }
}

/// The members of a to-many relationship of one object: what the store has, and the differences.
struct Members {
    /// The keys that the store has, in their order, or nil until they are read.
    private(set) var base: [Int64]?
    private var baseKeys: Set<Int64> = []
    /// The keys that are members although the store does not have them.
    private(set) var added: Set<Int64> = []
    /// The keys that are not members although the store may have them.
    private(set) var removed: Set<Int64> = []
    /// The added keys of an ordered relationship, in the order in which they were added.
    private var appended: [Int64] = []
    /// The keys of an ordered relationship that were removed and added again, so that they are at
    /// the end wherever the store has them.
    private var movedToEnd: Set<Int64> = []
    /// The current members in their order, or nil until they are read.
    private(set) var current: [Int64]?
    /// Whether an ordered relationship needs new places.
    private(set) var isReordered = false
    /// The number of the last undo record that has the order.
    var recordWithOrder = 0
    /// The differences that are being saved in the background.
    var inFlight: (added: Set<Int64>, removed: Set<Int64>, isReordered: Bool)?

    var hasDifferences: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

    /// Whether an object is a member, or nil if only the store knows.
    func knows(_ key: Int64) -> Bool? {
        if added.contains(key) { return true }
        if removed.contains(key) { return false }
        return base == nil ? nil : baseKeys.contains(key)
    }

    private func storeHas(_ key: Int64) -> Bool {
        baseKeys.contains(key) || inFlight?.added.contains(key) ?? false
    }

    /// Adds a member, at the end of an ordered relationship.
    mutating func add(_ key: Int64, isOrdered: Bool) {
        let isMember = knows(key) ?? false
        if isOrdered, removed.contains(key) { movedToEnd.insert(key) }
        // What was removed here need not be in the store, if that was not read. What is being saved
        // is shown as added.
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

    /// Removes a member.
    mutating func remove(_ key: Int64, isOrdered: Bool) {
        // What was added here can be in the store too, if that was not read.
        if added.remove(key) == nil || base == nil || storeHas(key) { removed.insert(key) }
        guard isOrdered else {
            current = nil
            return
        }
        movedToEnd.remove(key)
        appended.removeAll { $0 == key }
        current?.removeAll { $0 == key }
    }

    /// Sets the stored members, as they were read.
    mutating func setBase(_ keys: [Int64]) {
        base = keys
        baseKeys = Set(keys)
        // What another context did too is no difference any more. What is being saved will be in
        // the store.
        added = added.filter { !baseKeys.contains($0) || inFlight?.removed.contains($0) ?? false }
        removed = removed.filter { baseKeys.contains($0) || inFlight?.added.contains($0) ?? false }
        guard isReordered, let own = current else { return settle() }
        // The program's order holds. What others added comes before what was added here at the end.
        let kept = own.filter { baseKeys.contains($0) || added.contains($0) }
        let known = Set(kept)
        let new = keys.filter { !known.contains($0) && !removed.contains($0) }
        let end = kept.lastIndex { !added.contains($0) }.map { $0 + 1 } ?? 0
        current = Array(kept[..<end]) + new + Array(kept[end...])
    }

    private mutating func settle() {
        var keys = (base ?? []).filter { !removed.contains($0) && !movedToEnd.contains($0) }
        keys +=
            appended.isEmpty
            ? added.filter { !baseKeys.contains($0) }.sorted()
            : appended.filter { !baseKeys.contains($0) || movedToEnd.contains($0) }
        current = keys
    }

    /// Computes the current members of a relationship whose stored members are known.
    mutating func settle(isOrdered: Bool) {
        guard current == nil else { return }
        settle()
        if !isOrdered { current?.sort() }
    }

    /// Sets the order of the current members.
    mutating func reorder(_ keys: [Int64]) {
        current = keys
        isReordered = true
    }

    /// Forgets the stored members, and the changes to the membership of some objects.
    mutating func retract(_ keys: Set<Int64>) {
        added.subtract(keys)
        removed.subtract(keys)
        movedToEnd.subtract(keys)
        appended.removeAll { keys.contains($0) }
        current?.removeAll { keys.contains($0) }
        forgetBase()
    }

    /// Forgets the stored members; differences stay.
    mutating func forgetBase() {
        (base, baseKeys) = (nil, [])
        if !isReordered { current = nil }
    }

    /// Replaces a key, when the store gave an inserted object its final one.
    mutating func replace(_ old: Int64, by new: Int64) {
        if added.remove(old) != nil { added.insert(new) }
        if removed.remove(old) != nil { removed.insert(new) }
        if movedToEnd.remove(old) != nil { movedToEnd.insert(new) }
        appended = appended.map { $0 == old ? new : $0 }
        current = current?.map { $0 == old ? new : $0 }
    }

    /// Notes that the store has the current members now.
    mutating func commit() {
        if base != nil { base = current ?? base }
        if current == nil { base = nil }
        baseKeys = base.map { Set($0) } ?? []
        (added, removed, appended, movedToEnd, isReordered) = ([], [], [], [], false)
    }

    // MARK: Undo

    /// The change of a context to one member.
    enum Difference: UInt8 {
        case none
        case added
        case removed
    }

    /// The order of an ordered relationship.
    struct Order {
        /// The members, or nil if they were unread.
        var current: [Int64]?
        /// The members that were added at the end.
        var appended: [Int64]
    }

    /// Returns the change to a member.
    func difference(of key: Int64) -> Difference {
        added.contains(key) ? .added : removed.contains(key) ? .removed : .none
    }

    /// Whether the store has an object as a member, or nil if that was not read.
    func isStored(_ key: Int64) -> Bool? { base == nil ? nil : baseKeys.contains(key) }

    var order: Order { Order(current: current, appended: appended) }

    /// Sets the change to a member.
    ///
    /// An ordered relationship needs ``arrange(_:)`` afterwards.
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

    /// Puts the members of an ordered relationship into an order that they had.
    ///
    /// A member that was not in that order still follows its predecessor.
    mutating func arrange(_ former: Order) {
        appended = Self.unique(former.appended + appended + added.sorted()).filter { added.contains($0) }
        movedToEnd.formIntersection(appended)
        guard let order = former.current ?? current else {
            // Unread, and never put into an order.
            isReordered = !added.isEmpty
            return
        }
        let isKnown = base != nil
        let candidates = order + (current ?? []) + (base ?? []) + appended
        let keys = Self.unique(candidates).filter { key in
            // What the store does not have is left out when its members are read.
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

    /// Adds keys to a list, each after the key that it follows in another list.
    private static func inserting(_ keys: [Int64], into list: [Int64], following other: [Int64]) -> [Int64] {
        let known = Set(list)
        let new = keys.filter { !known.contains($0) }
        guard !new.isEmpty else { return list }
        let wanted = Set(new)
        // By key: the new keys directly after it.
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

    // MARK: Saves in the background

    /// Notes that the differences are being saved.
    ///
    /// Later ones are noted beside them.
    mutating func takeOff() {
        inFlight = hasDifferences ? (added, removed, isReordered) : nil
        isReordered = false
    }

    /// Notes that the differences were not saved: all of them are pending.
    mutating func abort() {
        guard let flight = inFlight else { return }
        inFlight = nil
        // What was removed and added again, or the reverse, is in neither set.
        added.formUnion(flight.added.subtracting(removed))
        removed.formUnion(flight.removed.subtracting(added))
        isReordered = isReordered || flight.isReordered
    }

    /// Notes that the store has what was being saved; later differences stay.
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
