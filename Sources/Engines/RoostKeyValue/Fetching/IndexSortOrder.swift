internal import RoostCore

/// A mapping from the order of an index's entries to a request's order.
///
/// Entries are ordered by the index's properties, then by object key. A group consists of entries
/// with equal values in all sort properties of the request. A group is returned in key order.
struct IndexOrder: Sendable {
    /// Whether the index is read from its end.
    let isReversed: Bool
    /// The number of leading properties that distinguish groups.
    let groupCount: Int
    /// Whether all properties of the index distinguish groups, so that groups are already in key
    /// order.
    let isWhole: Bool

    /// Creates the mapping; nil if the entries cannot provide the request's order.
    ///
    /// Sort descriptors must name the index's properties in order, all in the index's directions or
    /// all in the opposite directions. Leading properties with one value in all entries may be
    /// omitted.
    init?(_ request: FetchRequest, entries: IndexEntries) {
        // Keys of unique values do not end with the object's key, and objects with a null have no entry. An index has
        // the order of comparisons without options.
        guard entries.space == .indexes, request.sortDescriptors.allSatisfy(\.options.isEmpty) else { return nil }
        let values = entries.values
        let constant = Set(values.fields.prefix(entries.equalCount).map(\.name))
        var (seen, count) = (constant, entries.equalCount)
        var isReversed: Bool?
        for descriptor in request.sortDescriptors where seen.insert(descriptor.key).inserted {
            guard count < values.fields.count, values.fields[count].name == descriptor.key else { return nil }
            let isOther = values.isAscending[count] != descriptor.isAscending
            guard isReversed ?? isOther == isOther else { return nil }
            isReversed = isOther
            count += 1
        }
        isWhole = count == values.fields.count
        // If the request sorts by no property of the index, the entries must be in key order.
        guard isReversed != nil || (isWhole && entries.ranges.count <= 1) else { return nil }
        // A group is read as a whole, so a group must not span two ranges.
        guard entries.ranges.count <= 1 || count >= entries.listCount else { return nil }
        self.isReversed = isReversed ?? false
        groupCount = count
    }
}
