internal import RoostCore
internal import RoostFiles

/// A new store at a temporary location, open for filling and changes.
struct UnpublishedStore: Sendable {
    /// The location, with an empty path for a store that exists only while it is open.
    let location: StoreLocation
    let store: any PersistentStore

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - place: The location beside which the store is created, and which determines its type.
    ///   - model: The store's model.
    ///   - identity: The metadata with the identity and user metadata for the store.
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

    /// Closes and removes the store, and returns `first`, the error to report.
    ///
    /// The next process that writes to the destination removes remaining files.
    func discard(after first: StoreError) -> StoreError {
        let error = store.closed(after: first)
        try? store.type.destroy(location)
        return error
    }
}
