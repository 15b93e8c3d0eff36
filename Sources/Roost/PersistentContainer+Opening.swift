public import RoostCore
public import RoostGraph
public import RoostMigration
public import RoostStores

extension PersistentContainer {
    /// Opens the store at a location.
    ///
    /// Creates a missing store, unless `options.isReadOnly` is set.
    ///
    /// ```swift
    /// let container = try PersistentContainer(.sqlite("music.sqlite"), model: model)
    /// ```
    ///
    /// - Parameters:
    ///   - location: The location and the type of the store.
    ///   - model: The program's model.
    ///   - types: The classes of the entities.
    ///   - options: The options for opening the store.
    ///   - incompatible: The rule for a store of another version of the model.
    /// - Throws: The errors of `Store.open(_:model:options:ifMissing:ifIncompatible:)`;
    ///   `invalidModel` if a class does not match its entity.
    public convenience init(
        _ location: StoreLocation, model: ManagedObjectModel, types: [any ManagedObjectClass.Type] = [],
        options: StoreOptions = StoreOptions(), ifIncompatible incompatible: IncompatibleStoreRule = .refuse
    ) throws(StoreError) {
        let store = try Store.open(location, model: model, options: options, ifIncompatible: incompatible)
        do throws(StoreError) { try self.init(store, model: model, types: types) } catch {
            throw store.persistentStore.closed(after: error)
        }
    }

    /// Opens configured stores.
    ///
    /// Creates missing stores.
    ///
    /// ```swift
    /// let container = try PersistentContainer(configuration: nil, types: MusicModel.types)
    /// ```
    ///
    /// - Parameters:
    ///   - configuration: The configuration; nil to search for it (see ``RoostConfiguration``).
    ///   - names: The names of the stores in `configuration`; nil for the default store. The model
    ///     must have a configuration with each of these names.
    ///   - model: The program's model; nil for the configured model.
    ///   - types: The classes of the entities.
    ///   - incompatible: The rule for a store of another version of the model.
    /// - Throws: `invalidConfiguration`; `notFound` for an unknown name; `invalidRequest` for a
    ///   name that is not a configuration of the model; the errors of
    ///   ``init(_:model:types:options:ifIncompatible:)``.
    public convenience init(
        configuration: RoostConfiguration?, stores names: [String]? = nil, model: ManagedObjectModel? = nil,
        types: [any ManagedObjectClass.Type] = [], ifIncompatible incompatible: IncompatibleStoreRule = .refuse
    ) throws(StoreError) {
        let configuration = if let configuration { configuration } else { try RoostConfiguration() }
        var opened: [Store] = []
        do throws(StoreError) {
            for name in names.map({ $0.map(Optional.some) }) ?? [nil] {
                opened.append(
                    try Store.open(named: name, in: configuration, model: model, ifIncompatible: incompatible))
            }
            try self.init(opened, model: model, types: types, configurations: names ?? [])
        } catch {
            var error = error
            for store in opened { error = store.persistentStore.closed(after: error) }
            throw error
        }
    }

    /// Opens a store on a thread of Roost.
    public static func open(
        _ location: StoreLocation, model: ManagedObjectModel, types: [any ManagedObjectClass.Type] = [],
        options: StoreOptions = StoreOptions(), ifIncompatible incompatible: IncompatibleStoreRule = .refuse
    ) async throws(StoreError) -> PersistentContainer {
        try await Store.onStoreThread { () throws(StoreError) in
            try PersistentContainer(
                location, model: model, types: types, options: options, ifIncompatible: incompatible)
        }
    }
}
