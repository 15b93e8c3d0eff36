public import RoostCore
public import RoostMigration

extension RoostConfiguration {
    /// Reads the model that the configuration names; returns nil if it names none.
    ///
    /// - Throws: As reading the model's file: `ModelFile.read`.
    public func model() throws(StoreError) -> ManagedObjectModel? {
        guard let modelPath else { return nil }
        return try readModel(modelPath)
    }

    /// Returns the location and the options of a store.
    ///
    /// Neither opens the store nor reads a model.
    ///
    /// - Parameter name: The store's name; nil for the default store.
    /// - Returns: A description whose options are those of the configuration, the others as they
    ///   are by default.
    /// - Throws: `notFound` when the configuration has no such store, or no default, with the names
    ///   that it has.
    public func storeDescription(_ name: String? = nil) throws(StoreError) -> PersistentStoreDescription {
        let store = try store(name)
        return PersistentStoreDescription(
            store.location, options: HistoryOptions.options(store.options.mapValues(\.value)))
    }

    /// Opens a store that exists.
    ///
    /// - Parameters:
    ///   - name: The store's name; nil for the default store.
    ///   - model: The model that the program expects; nil for the configuration's, if it names one.
    ///   - isReadOnly: Whether changes are refused.
    /// - Returns: The open store.
    /// - Throws: `notFound` for a name that the configuration does not have and for a store that
    ///   does not exist, and whatever opening throws: `modelMismatch` when the store was made with
    ///   another model.
    public func openStore(
        _ name: String? = nil, model: ManagedObjectModel? = nil, isReadOnly: Bool = false
    ) throws(StoreError) -> any PersistentStore {
        var description = try storeDescription(name)
        description.options.isReadOnly = isReadOnly
        description.options.model = if let model { model } else { try self.model() }
        return try registry.open(description)
    }

    /// Opens a store, or creates it when it does not exist.
    ///
    /// When another process creates it at the same moment, its store is opened.
    ///
    /// - Parameters:
    ///   - name: The store's name; nil for the default store.
    ///   - model: The program's model; nil for the configuration's.
    ///   - rule: The rule for a store that was made with another model.
    /// - Returns: The open store.
    /// - Throws: As ``openStore(_:model:isReadOnly:)``, but for a store that does not exist: then
    ///   as ``PersistentStoreType/create(_:model:options:)``, and `invalidModel` when there is no
    ///   model to create it with. As `MigrationManager.openOrCreateStore` where the rule asks for
    ///   something to be done.
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
            "Cannot create the store '\(description.location)': it needs a model. Name one in the configuration (model: \"…\"), or pass one."
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
