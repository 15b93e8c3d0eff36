extension ConformanceCheck {
    /// Returns whether the check's ID contains `filter` or, if `filter` has asterisks, matches it.
    ///
    /// An asterisk matches any text. `links` finds `links.order` and `bulk.links-any-order`;
    /// `links.*` finds only checks of group `links`.
    package func matches(_ filter: String) -> Bool { id.isFound(by: filter) }

    /// The part of the ID before the first dot.
    package var group: String { String(id.prefix { $0 != "." }) }
}

extension FaultyStoreType.Fault {
    /// Returns whether `filter` matches the fault's name, or the ID of the check that must detect
    /// it.
    package func matches(_ filter: String) -> Bool { description.isFound(by: filter) || caughtBy.isFound(by: filter) }
}

extension String {
    fileprivate func isFound(by filter: String) -> Bool {
        let parts = filter.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return contains(filter) }
        guard hasPrefix(first), hasSuffix(last), utf8.count >= first.utf8.count + last.utf8.count else {
            return false
        }
        var rest = dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}
