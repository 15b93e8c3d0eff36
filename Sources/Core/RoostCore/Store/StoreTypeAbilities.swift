// Optional abilities of store types. Other modules call extensions of `PersistentStoreType`.

/// A type that can make a store's file smaller while other programs have it open.
public protocol CompactingStoreType: PersistentStoreType {
    /// Makes a store's file as small as possible in one atomic step.
    ///
    /// Readers continue, but other writers wait. The content, the identity and the generation never
    /// change, even after an error or a crash.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - options: The options for opening it.
    ///   - isCancelled: A function, called repeatedly on the calling thread. If it returns true,
    ///     the call throws `cancelled` and leaves the store unchanged.
    /// - Returns: Whether the file is already smaller; false if readers of the old state still use
    ///   its space.
    /// - Throws: `busy` if a writer does not end in time; `noSpace`; `verificationFailed` if the
    ///   content differs afterwards.
    func compactWhileOpen(
        _ location: StoreLocation, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool
}

/// A type whose stores can lack a model.
public protocol ModelMatchingStoreType: PersistentStoreType {
    /// Finds the models that fit a store without a model, and changes nothing.
    ///
    /// - Parameters:
    ///   - models: The versions of a model.
    ///   - location: The store.
    ///   - options: The options for opening it. ``StoreOptions/model`` is ignored.
    /// - Returns: The positions of the models that describe exactly the store's content; nil if the
    ///   store contains a model, or a type option specifies one.
    /// - Throws: Errors of opening the store.
    func fittingModels(
        among models: [ManagedObjectModel], storeAt location: StoreLocation, options: StoreOptions
    ) throws(StoreError) -> [Int]?
}

/// A type whose stores are on a server instead of at a file path.
package protocol ServerStoreType: PersistentStoreType {
    /// Returns a location on the server for a new store that will replace the store at `location`.
    func temporaryLocation(beside location: StoreLocation) throws(StoreError) -> StoreLocation

    /// Returns the location to which the store at `location` is moved when it is replaced.
    func backupLocation(beside location: StoreLocation) throws(StoreError) -> StoreLocation

    /// Replaces a store with another store on the same server, in one transaction.
    ///
    /// The replaced store moves to `backup`; if `backup` is nil, that store is removed.
    ///
    /// - Throws: `busy` if either store is open anywhere, or `destination` does not have
    ///   `generation`.
    func replace(
        _ destination: StoreLocation, at generation: Generation, with source: StoreLocation,
        keepingAs backup: StoreLocation?
    ) throws(StoreError)
}

extension StoreRegistry {
    package var withoutServers: [any PersistentStoreType] { all.filter { !($0 is any ServerStoreType) } }
}

extension PersistentStoreType {
    package func compactOpenStore(
        _ location: StoreLocation, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool {
        guard let type = self as? any CompactingStoreType else {
            throw StoreError(
                .busy,
                "'\(location.path)' is open in another program, or elsewhere in this one; a store of type '\(name)' can be compacted only while no program has it open. Close it there and try again."
            )
        }
        return try type.compactWhileOpen(location, options: options, isCancelled: isCancelled)
    }

    package func matchingModels(
        among models: [ManagedObjectModel], storeAt location: StoreLocation, options: StoreOptions
    ) throws(StoreError) -> [Int]? {
        try (self as? any ModelMatchingStoreType)?.fittingModels(among: models, storeAt: location, options: options)
    }
}
