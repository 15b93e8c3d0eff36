internal import RoostCore
internal import RoostFiles

/// A new, open store at a temporary location.
struct UnpublishedStore: Sendable {
    /// The location, with an empty path for a store that exists only while it is open.
    let location: StoreLocation
    let store: any PersistentStore

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - place: The location beside which the store is created. The new store has the location's
    ///     type.
    ///   - model: The store's model.
    ///   - identity: The metadata from which the store gets its UUID and user metadata.
    ///   - options: The options for creating the store.
    ///   - registry: The registry of store types.
    /// - Throws: Errors from creating the store.
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

    /// Closes and removes the store.
    func discard() throws(StoreError) {
        try store.close()
        try store.type.destroy(location)
    }

    /// Closes and removes the store after an error, and returns that error.
    ///
    /// The next process that writes to the destination removes remaining files.
    func discard(after first: StoreError) -> StoreError {
        let error = store.closed(after: first)
        try? store.type.destroy(location)
        return error
    }
}
