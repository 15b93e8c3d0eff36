/// A predicate's access to related objects: those at the other ends of a record's relationships.
///
/// One consistent view, that of the snapshot it comes from. Use it from one thread at a time.
public protocol ObjectGraph: AnyObject {
    /// Replaces the contents of `batch` by the records with these keys, in this order, without
    /// missing objects.
    ///
    /// - Parameters:
    ///   - keys: Keys of one hierarchy.
    ///   - root: The number of the entity at its top.
    ///   - batch: The batch to fill; it may grow beyond the batches of a cursor.
    /// - Throws: `corrupted` for a damaged record, and what the store's own reading throws.
    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError)

    /// Appends the keys of one object's destinations in a to-many relationship, in the order of
    /// ``StoreSnapshot/links(of:from:)``.
    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError)
}
