/// What a predicate sees of a store beside the record it looks at: the objects at the other ends of relationships.
///
/// One consistent view, that of the snapshot it comes from. Use it from one thread at a time.
public protocol ObjectGraph: AnyObject {
    /// Replaces the contents of `batch` by the records with these keys, in this order; those that do not exist are left out.
    ///
    /// - Parameters:
    ///   - keys: Keys of one hierarchy.
    ///   - root: The number of the entity at its top.
    ///   - batch: What is filled; it may grow beyond what a cursor gives at once.
    /// - Throws: `corrupted` for a damaged record, and what the store's own reading throws.
    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError)

    /// Appends the keys of the objects a to-many relationship leads to from one object, in the order of
    /// ``StoreSnapshot/links(of:from:)``.
    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError)
}
