public import RoostCore

/// The place of an object in a result: a section's index, and the object's index in this section.
///
/// ```swift
/// let first = ResultsPlace(section: 0, item: 0)
/// print(controller[first].objectID)
/// ```
public struct ResultsPlace: Hashable, Comparable, Sendable {
    /// The index of the section, from 0.
    public var section: Int
    /// The index of the object in its section, from 0.
    public var item: Int

    /// Creates a place.
    public init(section: Int, item: Int) { (self.section, self.item) = (section, item) }

    /// Returns whether one place comes before another.
    public static func < (left: ResultsPlace, right: ResultsPlace) -> Bool {
        (left.section, left.item) < (right.section, right.item)
    }
}

/// The difference between two states of a result.
///
/// Applying the difference to the old state gives the new state.
///
/// ```swift
/// controller.onChange = { change in
///     for item in change.deleted { print("\(item.id) was at \(item.place)") }
///     for item in change.inserted { print("\(item.id) is at \(item.place)") }
/// }
/// ```
///
/// A difference guarantees:
///
/// - An object is in at most one of ``deleted``, ``inserted``, ``moved`` and ``updated``. An
///   unchanged object that stays in the result without moving is in none of these lists.
/// - If one object moves past others, only the object that moves is in ``moved``.
/// - As in collection views, old places refer to the state before the whole difference, and new
///   places to the state after it.
/// - Each object of a removed section is in ``deleted`` or ``moved``. Each object of an inserted
///   section is in ``inserted`` or ``moved``.
public struct ResultsChange: Hashable, Sendable {
    /// An object that entered or left the result.
    public struct Item: Hashable, Sendable {
        /// The object.
        public let id: ObjectID
        /// The old place of a deleted object, or the new place of an inserted object.
        public let place: ResultsPlace

        package init(id: ObjectID, place: ResultsPlace) { (self.id, self.place) = (id, place) }
    }

    /// An object that is in both the old and the new result.
    public struct Move: Hashable, Sendable {
        /// The object.
        public let id: ObjectID
        /// The object's place in the old result.
        public let from: ResultsPlace
        /// The object's place in the new result.
        public let to: ResultsPlace

        package init(id: ObjectID, from: ResultsPlace, to: ResultsPlace) {
            (self.id, self.from, self.to) = (id, from, to)
        }
    }

    /// The old indexes of the sections that are not in the new result, ascending.
    public internal(set) var deletedSections: [Int] = []
    /// The new indexes of the sections that are not in the old result, ascending.
    public internal(set) var insertedSections: [Int] = []
    /// The objects that left the result, sorted by old place.
    public internal(set) var deleted: [Item] = []
    /// The objects that entered the result, sorted by new place.
    public internal(set) var inserted: [Item] = []
    /// The objects that moved relative to other objects, sorted by new place.
    ///
    /// Their values may also have changed.
    public internal(set) var moved: [Move] = []
    /// The objects that changed without moving relative to other objects, sorted by new place.
    public internal(set) var updated: [Move] = []
    /// The whole new result, or nil if the lists contain the difference.
    ///
    /// Slow readers of ``ResultsChanges`` get the whole result, as do programs that fetch while a
    /// difference is reported. All lists are then empty.
    public internal(set) var reload: [ResultsSection]?

    package init() {}

    var isEmpty: Bool {
        reload == nil && deletedSections.isEmpty && insertedSections.isEmpty && entryCount == 0
    }

    package var entryCount: Int { deleted.count + inserted.count + moved.count + updated.count }

    /// Applies the difference to the old result, and returns the new result.
    ///
    /// ```swift
    /// var rows: [[ObjectID]] = controller.sections.map { Array($0) }
    /// for await change in controller.changes { rows = change.applying(to: rows) }
    /// ```
    ///
    /// If `sections` is not the old result of the difference, the return value is meaningless, but
    /// the method does not trap.
    ///
    /// - Parameter sections: The IDs of each section of the old result.
    /// - Returns: The IDs of each section of the new result.
    /// - Complexity: O(*n* + *m* log *m*) for *n* objects in the result and *m* in the difference.
    public func applying(to sections: [[ObjectID]]) -> [[ObjectID]] {
        if let reload { return reload.map { Array($0) } }
        var leaving: [Int: Set<Int>] = [:]
        for item in deleted { leaving[item.place.section, default: []].insert(item.place.item) }
        for move in moved { leaving[move.from.section, default: []].insert(move.from.item) }
        let removed = Set(deletedSections)
        var result: [[ObjectID]] = []
        for (number, section) in sections.enumerated() where !removed.contains(number) {
            guard let leaving = leaving[number] else {
                result.append(section)
                continue
            }
            result.append(section.enumerated().filter { !leaving.contains($0.offset) }.map(\.element))
        }
        for number in insertedSections where number <= result.count { result.insert([], at: number) }
        let coming = (inserted.map { ($0.place, $0.id) } + moved.map { ($0.to, $0.id) }).sorted { $0.0 < $1.0 }
        var position = 0
        while position < coming.count {
            let section = coming[position].0.section
            let end = coming[position...].firstIndex { $0.0.section != section } ?? coming.count
            if result.indices.contains(section) {
                result[section] = Self.merging(coming[position..<end], into: result[section])
            }
            position = end
        }
        return result
    }

    private static func merging(
        _ coming: ArraySlice<(ResultsPlace, ObjectID)>, into section: [ObjectID]
    ) -> [ObjectID] {
        var result: [ObjectID] = []
        result.reserveCapacity(section.count + coming.count)
        var rest = section[...]
        for (place, id) in coming {
            let count = min(max(0, place.item - result.count), rest.count)
            result += rest.prefix(count)
            rest = rest.dropFirst(count)
            result.append(id)
        }
        return result + rest
    }
}
