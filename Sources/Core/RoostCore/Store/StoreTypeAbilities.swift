// Abilities that a type of store need not have. Each is a protocol of its own; other modules call
// the extension of `PersistentStoreType`, which has an answer for every type.

/// A type that makes a store's file smaller while other programs have it open.
public protocol CompactingStoreType: PersistentStoreType {
    /// Makes a store's file as small as possible in one atomic step.
    ///
    /// Readers continue; other writers wait. After an error or a crash the store holds the same
    /// content. The content, the identity and the generation never change.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - options: The options to open it with.
    ///   - isCancelled: Called now and then on the calling thread; if it returns true, the call
    ///     throws `cancelled` and leaves the store as it was.
    /// - Returns: Whether the file is already smaller; false if readers of the old state keep the
    ///   space until they end.
    /// - Throws: `busy` if a writer does not end in time; `noSpace`; `verificationFailed` if the
    ///   content differs afterwards, which a damaged disk can cause.
    func compactWhileOpen(
        _ location: StoreLocation, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool
}

/// A type whose stores may not hold the model that they were made with.
public protocol ModelMatchingStoreType: PersistentStoreType {
    /// Returns which of several models a store without a model can have been made with.
    ///
    /// Changes nothing.
    ///
    /// - Parameters:
    ///   - models: The versions of a model.
    ///   - location: The store.
    ///   - options: The options to open it with; ``StoreOptions/model`` is not used.
    /// - Returns: The positions of the models that describe everything in the store, and nothing
    ///   that it lacks; nil if the store holds a model, or the options name one.
    /// - Throws: Errors of opening the store.
    func fittingModels(
        among models: [ManagedObjectModel], storeAt location: StoreLocation, options: StoreOptions
    ) throws(StoreError) -> [Int]?
}

/// A type whose stores are on a server, so that the path of a store says nothing about the names
/// beside it.
package protocol ServerStoreType: PersistentStoreType {
    /// The location of a new store that is to replace the store at `location`, on the same server.
    ///
    /// - Throws: `invalidRequest` for a location that cannot be read.
    func temporaryLocation(beside location: StoreLocation) throws(StoreError) -> StoreLocation

    /// The location that the store at `location` gets when it is kept after it was replaced.
    ///
    /// - Throws: `invalidRequest` for a location that cannot be read.
    func backupLocation(beside location: StoreLocation) throws(StoreError) -> StoreLocation

    /// Replaces a store by another store on the same server, in one transaction, if no commit has
    /// changed it.
    ///
    /// - Parameters:
    ///   - destination: The store to replace, which is not open anywhere.
    ///   - generation: The generation that the store must have.
    ///   - source: The new store, closed.
    ///   - backup: The location that the replaced store gets; nil removes it.
    /// - Throws: `busy` if a store is open anywhere or `destination` has another generation.
    func replace(
        _ destination: StoreLocation, at generation: Generation, with source: StoreLocation,
        keepingAs backup: StoreLocation?
    ) throws(StoreError)
}

extension StoreRegistry {
    /// The types whose stores need no server.
    package var withoutServers: [any PersistentStoreType] { all.filter { !($0 is any ServerStoreType) } }
}

extension PersistentStoreType {
    /// Makes a store's file smaller while other programs have it open; throws `busy` for a type
    /// that is not a ``CompactingStoreType``.
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

    /// Returns which of several models a store without a model can have been made with; nil for a
    /// type that is not a ``ModelMatchingStoreType``.
    package func matchingModels(
        among models: [ManagedObjectModel], storeAt location: StoreLocation, options: StoreOptions
    ) throws(StoreError) -> [Int]? {
        try (self as? any ModelMatchingStoreType)?.fittingModels(among: models, storeAt: location, options: options)
    }
}
