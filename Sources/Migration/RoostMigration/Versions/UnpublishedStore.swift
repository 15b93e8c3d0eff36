internal import RoostCore
internal import RoostFiles

/// A new, open store at a temporary location.
struct UnpublishedStore: Sendable {
    /// The location, with an empty path for a store that exists only while it is open.
    let location: StoreLocation
    let store: any PersistentStore

    /// Creates an empty store beside a location, with the location's type and the UUID and user
    /// metadata of `identity`.
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
