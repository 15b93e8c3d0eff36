/// A store that knows a shorter way for batch requests than working out a change set on a snapshot.
///
/// RoostStores executes batch requests on every store; it asks a store that conforms first. What a request does is the same either way.
/// Defaults and delete rules are those of the `model` that is passed, which is compatible with the
/// store's own.
public protocol BatchExecutingStore: PersistentStore {
    /// Inserts objects from values by property name, in one transaction; nil where the usual way is to be taken.
    func executeDirectly(
        _ request: BatchInsertRequest, model: ManagedObjectModel
    ) throws(StoreError) -> BatchResult?

    /// Sets properties of objects to constants or the values of expressions, in one transaction; nil where the usual way is to be taken.
    func executeDirectly(
        _ request: BatchUpdateRequest, model: ManagedObjectModel
    ) throws(StoreError) -> BatchResult?

    /// Deletes objects with what their delete rules take along, in one transaction; nil where the usual way is to be taken.
    func executeDirectly(
        _ request: BatchDeleteRequest, model: ManagedObjectModel
    ) throws(StoreError) -> BatchResult?
}
