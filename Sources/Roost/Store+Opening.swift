public import RoostCore
public import RoostMigration
public import RoostStores

/// The rule for opening a store that does not exist.
public enum MissingStoreRule: Sendable {
    /// An empty store is created.
    case create
    /// Opening throws `notFound`.
    case fail
}

extension Store {
    /// Opens a store.
    ///
    /// Creates a missing store, unless `missing` is `fail` or `options.isReadOnly` is set.
    ///
    /// ```swift
    /// let store = try Store.open(.sqlite("music.sqlite"), model: model)
    /// ```
    ///
    /// - Parameters:
    ///   - location: The location and the type of the store.
    ///   - model: The program's model; nil for the model in an existing store.
    ///   - options: The options for opening the store.
    ///   - missing: The rule for a store that does not exist.
    ///   - incompatible: The rule for a store of another version of the model.
    /// - Returns: The open store.
    /// - Throws: `notFound`; `modelMismatch` with the differences; `invalidModel` if the store must
    ///   be created and no model was passed; other errors of opening, creating and migrating.
    public static func open(
        _ location: StoreLocation, model: ManagedObjectModel? = nil, options: StoreOptions = StoreOptions(),
        ifMissing missing: MissingStoreRule = .create, ifIncompatible incompatible: IncompatibleStoreRule = .refuse
    ) throws(StoreError) -> Store {
        var options = options
        if let model { options.model = model }
        let description = PersistentStoreDescription(location, options: options)
        let registry = StoreRegistry.standard
        let hasModel = options.model != nil
        let creates = if case .create = missing { hasModel && !options.isReadOnly } else { false }
        let refuses = if case .refuse = incompatible { true } else { false }
        let store: any PersistentStore
        if creates {
            store = try MigrationManager().openOrCreateStore(description, ifIncompatible: incompatible)
        } else if hasModel, !refuses {
            // Check first, because the next call would create a missing store.
            try requireExisting(description)
            store = try MigrationManager().openOrCreateStore(description, ifIncompatible: incompatible)
        } else {
            do throws(StoreError) { store = try registry.open(description) } catch {
                guard error.code == .notFound, case .create = missing, !hasModel, !options.isReadOnly else {
                    throw error
                }
                throw StoreError(
                    .invalidModel,
                    "The store '\(location)' does not exist, and no model was passed to create it. Pass the model.")
            }
        }
        return try opened(store, model: options.model)
    }

    /// Opens a configured store.
    ///
    /// Creates a missing store.
    ///
    /// ```swift
    /// let store = try Store.open(named: "cache")
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the store in the configuration; nil for the default store.
    ///   - configuration: The configuration; nil to search for it (see ``RoostConfiguration``).
    ///   - model: The program's model; nil for the configured model.
    ///   - incompatible: The rule for a store of another version of the model.
    /// - Returns: The open store.
    /// - Throws: `invalidConfiguration`; `notFound` for an unknown name; the errors of
    ///   `open(_:model:options:ifMissing:ifIncompatible:)`.
    public static func open(
        named name: String? = nil, in configuration: RoostConfiguration? = nil, model: ManagedObjectModel? = nil,
        ifIncompatible incompatible: IncompatibleStoreRule = .refuse
    ) throws(StoreError) -> Store {
        let configuration = if let configuration { configuration } else { try RoostConfiguration() }
        let chosen = if let model { model } else { try configuration.model() }
        let store = try configuration.openOrCreateStore(name, model: chosen, ifIncompatible: incompatible)
        return try opened(store, model: chosen)
    }

    /// Opens a store on a thread of Roost.
    public static func open(
        _ location: StoreLocation, model: ManagedObjectModel? = nil, options: StoreOptions = StoreOptions(),
        ifMissing missing: MissingStoreRule = .create, ifIncompatible incompatible: IncompatibleStoreRule = .refuse
    ) async throws(StoreError) -> Store {
        try await onStoreThread { () throws(StoreError) in
            try open(
                location, model: model, options: options, ifMissing: missing, ifIncompatible: incompatible)
        }
    }

    /// Opens a configured store on a thread of Roost.
    public static func open(
        named name: String? = nil, in configuration: RoostConfiguration? = nil, model: ManagedObjectModel? = nil,
        ifIncompatible incompatible: IncompatibleStoreRule = .refuse
    ) async throws(StoreError) -> Store {
        try await onStoreThread { () throws(StoreError) in
            try open(named: name, in: configuration, model: model, ifIncompatible: incompatible)
        }
    }

    private static func opened(
        _ store: any PersistentStore, model: ManagedObjectModel?
    ) throws(StoreError) -> Store {
        do throws(StoreError) {
            return try Store(store, model: model, registry: .standard)
        } catch { throw store.closed(after: error) }
    }

    /// Throws `notFound` for a missing store.
    ///
    /// Ignores other errors of reading the metadata, because opening the store reports them.
    private static func requireExisting(_ description: PersistentStoreDescription) throws(StoreError) {
        let type = try StoreRegistry.standard.type(named: description.location.type)
        do throws(StoreError) {
            _ = try type.metadata(at: description.location, options: description.options)
        } catch {
            if error.code == .notFound { throw error }
        }
    }
}
