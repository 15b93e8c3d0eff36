internal import RoostCore

/// A mapping from the order of an index's entries to a request's order.
///
/// Entries are ordered by the index's properties, then by key. For a request, the entries form
/// groups with equal values in all properties that the request sorts by. The entries of a group
/// must be returned in key order.
struct IndexOrder: Sendable {
    /// Whether the index is read from its end.
    let isReversed: Bool
    /// The number of leading properties that distinguish groups.
    let groupCount: Int
    /// Whether the groups are distinguished by all properties.
    ///
    /// If so, the entries of a group are in key order.
    let isWhole: Bool

    /// Creates the mapping; nil if the entries cannot provide the request's order.
    ///
    /// Sort descriptors must name the index's properties in order, with all directions as in the
    /// index or all reversed. Leading properties with one value in all entries need not be named.
    init?(_ request: FetchRequest, entries: IndexEntries) {
        // Entries of unique values do not end with the object's key, and omit objects with a null.
        // Index entries are in the order of values compared without options.
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
