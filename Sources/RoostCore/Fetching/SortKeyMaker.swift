/// Makes the keys of an order that records alone do not show: through to-one relationships, or of folded text.
///
/// A key is made once for each record, not for each comparison.
struct SortKeyMaker: Sendable {
    /// One level of the order.
    struct Level: Sendable {
        let relationships: [ManagedObjectModel.Relationship]
        /// Where the value is, by the number of the entity the path ends at.
        let slots: PlainArray<FieldSlot?>
        let options: FetchRequest.Comparison.Options
        let isAscending: Bool
    }

    let levels: [Level]

    /// Appends a key for each record of `batch` from the position on where `related` was loaded, up to `end`.
    func append(
        _ range: Range<Int>, of batch: RecordBatch, _ related: RelatedRecordBatches, _ paths: [Int], to keys: inout SortKeys
    ) {
        for index in range {
            keys.append { key in
                for (level, path) in zip(levels, paths) {
                    let start = key.count
                    let isFound: Bool? = related.withRecord(at: index, of: batch, path) { record in
                        guard let slot = level.slots[record.entityNumber] else { return false }
                        OrderedBytes.append(slot, of: record, level.options, to: &key)
                        return true
                    }
                    // No object on the way: null.
                    if isFound != true { key.append(0) }
                    if !level.isAscending { OrderedBytes.complement(&key, from: start) }
                }
            }
        }
    }
}
