internal import RoostCore

/// A mapping from the order of an index's entries to a request's order.
///
/// Entries are ordered by the index's properties, then by key. In the order of a request they come
/// in groups: the entries of a group have the same values in all properties the request sorts by,
/// and are to be ordered by key.
struct IndexOrder: Sendable {
    /// Whether the index is read from its end.
    let isReversed: Bool
    /// The number of leading properties that distinguish groups.
    let groupCount: Int
    /// Whether these are all properties, so that the entries of a group are in the order of their
    /// keys.
    let isWhole: Bool

    /// Nil when the entries have no such order.
    ///
    /// Sort descriptors must name the index's properties in order, all in its direction or all in
    /// the other. Properties with one value in all entries may come before them.
    init?(_ request: FetchRequest, entries: IndexEntries) {
        // An entry of a unique value does not end with the object's key, and objects with a null
        // have none. Shortened entries are sorted by their records, which do not have the order of
        // folded text.
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
        // If the request sorts by no property of the index, the entries must be in the order of
        // keys.
        guard isReversed != nil || (isWhole && entries.ranges.count <= 1) else { return nil }
        // A group is read as a whole, so it must not contain two ranges.
        guard entries.ranges.count <= 1 || count >= entries.listCount else { return nil }
        self.isReversed = isReversed ?? false
        groupCount = count
    }
}
