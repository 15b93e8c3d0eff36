/// A reader of related objects, for predicates that follow relationships.
///
/// All reads see one snapshot. Use a graph from one thread at a time.
public protocol ObjectGraph: AnyObject {
    /// Replaces the contents of `batch` with the records of `keys`, in the same order.
    ///
    /// Keys without an object are skipped.
    ///
    /// - Parameters:
    ///   - keys: Keys of one hierarchy.
    ///   - root: The number of the hierarchy's root entity.
    ///   - batch: The batch to fill; all records are added, however many there are.
    /// - Throws: `corrupted` for a damaged record; other errors of reading the store.
    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError)

    /// Appends the keys of one object's destinations in a to-many relationship, in the order of
    /// ``StoreSnapshot/links(of:from:)``.
    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError)
}
