public import RoostCore
public import RoostMigration

extension RoostConfiguration {
    /// Reads the model of the configuration, or returns nil if the configuration has none.
    ///
    /// - Throws: The errors of `ModelFile.read`.
    public func model() throws(StoreError) -> ManagedObjectModel? {
        guard let modelPath else { return nil }
        return try readModel(modelPath)
    }

    /// Returns the location and the options of a store.
    ///
    /// This method neither opens the store nor reads a model.
    ///
    /// - Parameter name: The store's name, or nil for the default store.
    /// - Returns: A description with the options that the configuration sets, and the defaults of
    ///   all other options.
    /// - Throws: `notFound` with the existing names if the configuration has no such store or no
    ///   default store.
    public func storeDescription(_ name: String? = nil) throws(StoreError) -> PersistentStoreDescription {
        let store = try store(name)
        return PersistentStoreDescription(
            store.location, options: HistoryOptions.options(store.options.mapValues(\.value)))
    }

    /// Opens an existing store.
    ///
    /// - Parameters:
    ///   - name: The store's name, or nil for the default store.
    ///   - model: The model that the program expects, or nil for the configuration's model, if any.
    ///   - isReadOnly: Whether to open the store read-only, without the configured history options.
    /// - Returns: The open store.
    /// - Throws: `notFound` if the name is not in the configuration or the store does not exist;
    ///   errors of reading the model and of opening, such as `modelMismatch` if the store has
    ///   another model.
    public func openStore(
        _ name: String? = nil, model: ManagedObjectModel? = nil, isReadOnly: Bool = false
    ) throws(StoreError) -> any PersistentStore {
        var description = try storeDescription(name)
        if isReadOnly { description.options = description.options.forReading }
        description.options.model = if let model { model } else { try self.model() }
        return try registry.open(description)
    }

    /// Opens a store, or creates it if it does not exist.
    ///
    /// If another process creates the store at the same time, that store is opened.
    ///
    /// - Parameters:
    ///   - name: The store's name, or nil for the default store.
    ///   - model: The program's model, or nil for the configuration's model.
    ///   - rule: The rule for a store with an incompatible model.
    /// - Returns: The open store.
    /// - Throws: The errors of ``openStore(_:model:isReadOnly:)`` for an existing store, and of
    ///   ``PersistentStoreType/create(_:model:options:)`` for a new one; `invalidModel` if the
    ///   store is new and neither the caller nor the configuration has a model; the errors of
    ///   `MigrationManager.openOrCreateStore` if the rule requires an action.
    public func openOrCreateStore(
        _ name: String? = nil, model: ManagedObjectModel? = nil, ifIncompatible rule: IncompatibleStoreRule = .refuse
    ) throws(StoreError) -> any PersistentStore {
        var description = try storeDescription(name)
        description.options.model = if let model { model } else { try self.model() }
        guard description.options.model == nil else {
            return try MigrationManager(registry: registry).openOrCreateStore(description, ifIncompatible: rule)
        }
        do throws(StoreError) {
            return try registry.open(description)
        } catch {
            guard error.code == .notFound else { throw error }
        }
        throw StoreError(
            .invalidModel,
            "Cannot create the store '\(description.location)': it needs a model. Name a model in the configuration (model: \"…\"), or pass a model to openOrCreateStore."
        )
    }

    private func store(_ name: String?) throws(StoreError) -> Store {
        if let name {
            if let store = stores.first(where: { $0.name == name }) { return store }
        } else if let defaultStore {
            return defaultStore.store
        }
        guard let file else {
            throw StoreError(
                .notFound,
                "Cannot find \(name.map { "store '\($0)'" } ?? "a default store"): no configuration was found. Write one to \(Self.fileName), or set \(Self.storeVariable) in the environment."
            )
        }
        guard let name else {
            throw StoreError(
                .notFound,
                "The configuration '\(file)' has no default store. Set 'default' in it, or \(Self.storeVariable) in the environment."
            )
        }
        let hint =
            nearestName(to: name, among: storeNames).map { "did you mean '\($0)'?" }
            ?? (storeNames.isEmpty ? "it has none." : "it has \(storeNames.joined(separator: ", ")).")
        throw StoreError(.notFound, "The configuration '\(file)' has no store '\(name)'; \(hint)")
    }
}
