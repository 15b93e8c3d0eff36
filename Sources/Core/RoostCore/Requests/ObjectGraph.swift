/// A predicate's access to the objects at the other ends of a record's relationships.
///
/// All reads have the consistent view of one snapshot. Use a graph from one thread at a time.
public protocol ObjectGraph: AnyObject {
    /// Replaces the contents of `batch` with the records with these keys, in this order. Missing
    /// objects are skipped.
    ///
    /// - Parameters:
    ///   - keys: Keys of one hierarchy.
    ///   - root: The number of the hierarchy's root entity.
    ///   - batch: The batch to fill; it may become larger than the batches of a cursor.
    /// - Throws: `corrupted` for a damaged record; other errors of reading the store.
    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError)

    /// Appends the keys of one object's destinations in a to-many relationship, in the order of
    /// ``StoreSnapshot/links(of:from:)``.
    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError)
}
