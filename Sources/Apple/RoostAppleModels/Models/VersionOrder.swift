internal import RoostCore

/// The order in which the versions of a model were created, derived from evidence.
///
/// Evidence that contradicts more certain evidence is ignored.
package struct VersionOrder {
    /// The reasons why one version follows another, from most to least certain.
    package enum Reason: Int, CaseIterable, Comparable, Sendable {
        /// The caller stated the order.
        case stated
        /// The first difference between the names is in a number, or the newer name is the older
        /// name followed by a text with a number.
        case numbers
        /// The older version is the source of a mapping model, and the newer one its destination.
        case mappingModel
        /// The newer name begins with the same word as the current version's name, and the older
        /// name does not.
        ///
        /// Or the newer version is current, and neither name has a number.
        case currentVersion
        /// A store of the older version is to be migrated to the newer version.
        ///
        /// If their first words differ, all versions with the older word precede all with the newer
        /// word.
        case store
        /// Both names begin with the same word, and natural order decides.
        case names
        /// No evidence gives an order.
        case unknown

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The names in natural order.
    private let names: [String]
    /// For each position in ``names``, the positions of later versions, each with a reason.
    ///
    /// Positions beyond ``names`` are boundaries, each between two groups of versions.
    private var later: [[(position: Int, reason: Reason)]]

    /// Creates an order without evidence.
    package init(_ names: [String]) {
        self.names = names.sorted(by: CoreDataModelReader.precedesNaturally)
        later = names.map { _ in [] }
    }

    /// Derives the order from the names and the evidence that ``Reason`` describes.
    package init(
        _ names: [String], current: String?, stated: [String] = [], mappings: [(older: String, newer: String)] = [],
        store: (older: String, newer: String)? = nil
    ) {
        self.init(names)
        for (older, newer) in zip(stated, stated.dropFirst()) { add(older, before: newer, reason: .stated) }
        for (older, newer) in zip(self.names, self.names.dropFirst()) where Self.isNumbered(older, newer: newer) {
            add(older, before: newer, reason: .numbers)
        }
        for (older, newer) in mappings { add(older, before: newer, reason: .mappingModel) }
        let words = Dictionary(grouping: self.names, by: Self.firstWord)
        // After a renaming of the model, versions with the current version's first word come last.
        if let current {
            let word = Self.firstWord(current)
            let alike = words[word] ?? []
            add(self.names.filter { Self.firstWord($0) != word }, before: alike, reason: .currentVersion)
            // Names without a number, such as `Notes old`, reveal no order. The current version counts as newer.
            if !Self.hasNumber(current) {
                for name in alike where !Self.hasNumber(name) { add(name, before: current, reason: .currentVersion) }
            }
        }
        if let store {
            add(store.older, before: store.newer, reason: .store)
            let (older, newer) = (Self.firstWord(store.older), Self.firstWord(store.newer))
            if older != newer { add(words[older] ?? [], before: words[newer] ?? [], reason: .store) }
        }
        for word in words.keys.sorted() {
            let alike = words[word] ?? []
            for (older, newer) in zip(alike, alike.dropFirst()) { add(older, before: newer, reason: .names) }
        }
    }

    /// Records that a version precedes another, unless earlier evidence contradicts this.
    private mutating func add(_ older: String, before newer: String, reason: Reason) {
        guard let from = names.firstIndex(of: older), let to = names.firstIndex(of: newer) else { return }
        add(from, before: to, reason: reason)
    }

    /// Records that all versions of a group precede all of another group.
    private mutating func add(_ older: [String], before newer: [String], reason: Reason) {
        guard !older.isEmpty, !newer.isEmpty else { return }
        let boundary = later.count
        later.append([])
        for name in newer {
            if let position = names.firstIndex(of: name) { add(boundary, before: position, reason: reason) }
        }
        for name in older {
            if let position = names.firstIndex(of: name) { add(position, before: boundary, reason: reason) }
        }
    }

    private mutating func add(_ from: Int, before to: Int, reason: Reason) {
        guard from != to, !isBefore(to, to: from, reason: .unknown) else { return }
        later[from].append((to, reason))
    }

    /// Returns whether a version precedes another by reasons at least as certain as `reason`.
    private func isBefore(_ from: Int, to: Int, reason: Reason) -> Bool {
        var (open, seen) = ([from], Set([from]))
        while let position = open.popLast() {
            if position == to { return true }
            for next in later[position] where next.reason <= reason && seen.insert(next.position).inserted {
                open.append(next.position)
            }
        }
        return false
    }

    /// The versions, oldest first, or in natural order without evidence.
    package var sorted: [String] { positions.map { names[$0] } }

    /// The reason why each version except the oldest follows its predecessor.
    package var reasons: [Reason] {
        zip(positions, positions.dropFirst()).map { older, newer in
            Reason.allCases.first { isBefore(older, to: newer, reason: $0) } ?? .unknown
        }
    }

    private var positions: [Int] {
        var count = later.map { _ in 0 }
        for next in later.joined() { count[next.position] += 1 }
        var (rest, sorted): ([Int], [Int]) = (Array(later.indices), [])
        // `add` rejects cycles, so a version without a predecessor exists until `rest` is empty.
        while let index = rest.firstIndex(where: { count[$0] == 0 }) ?? rest.indices.first {
            let position = rest.remove(at: index)
            if names.indices.contains(position) { sorted.append(position) }
            for next in later[position] { count[next.position] -= 1 }
        }
        return sorted
    }

    /// Returns whether the numbers in two names show that `newer` follows `older`.
    private static func isNumbered(_ older: String, newer: String) -> Bool {
        guard firstWord(older) == firstWord(newer) else { return false }
        if newer.hasPrefix(older) { return hasNumber(String(newer.dropFirst(older.count))) }
        let (left, right) = (CoreDataModelReader.parts(older), CoreDataModelReader.parts(newer))
        guard let first = zip(left, right).first(where: { $0.text != $1.text }) else { return false }
        return first.0.number != nil && first.1.number != nil
    }

    private static func hasNumber(_ name: String) -> Bool {
        CoreDataModelReader.parts(name).contains { $0.number != nil }
    }

    /// Returns the letters at the start of a name.
    private static func firstWord(_ name: String) -> Substring { name.prefix(while: \.isLetter) }
}
