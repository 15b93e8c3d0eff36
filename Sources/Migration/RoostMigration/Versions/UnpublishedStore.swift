internal import RoostCore
internal import RoostFiles

/// A new store under a temporary name, open to be filled and changed.
struct UnpublishedStore: Sendable {
    /// The location; its path is empty for a store that lives as long as it is open.
    let location: StoreLocation
    /// The open store.
    let store: any PersistentStore

    /// Makes an empty store.
    ///
    /// - Parameters:
    ///   - place: The store beside which it is made, and whose type it gets.
    ///   - model: Its model.
    ///   - identity: The metadata whose identity and user metadata it gets.
    ///   - options: How it is created.
    ///   - registry: The types of store.
    /// - Throws: What creating a store throws.
    init(
        beside place: StoreLocation, model: ManagedObjectModel, identity: StoreMetadata, options: ConversionOptions,
        registry: StoreRegistry
    ) throws(StoreError) {
        location =
            place.path.isEmpty
            ? place : try StoreFile.temporaryLocation(beside: place, of: try registry.type(named: place.type))
        store = try registry.create(
            location, model: model,
            options: StoreOptions(
                timeoutSeconds: options.timeoutSeconds, typeOptions: options.destinationTypeOptions
            ).with {
                $0.storeUUID = identity.storeUUID
                $0.userMetadata = identity.userMetadata
                $0.isUnpublished = true
            })
    }

    /// Closes and removes it.
    func discard() throws(StoreError) {
        try store.close()
        try store.type.destroy(location)
    }

    /// Closes and removes it, and returns `first`, the error that counts; the next process that
    /// writes there sweeps what remains.
    func discard(after first: StoreError) -> StoreError {
        let error = store.closed(after: first)
        try? store.type.destroy(location)
        return error
    }
}
