public import RoostCore
public import RoostGraph
public import RoostMigration
public import RoostStores

extension PersistentContainer {
    /// Opens the store at a location, and creates it if it does not exist.
    ///
    /// ```swift
    /// let container = try PersistentContainer(.sqlite("music.sqlite"), model: model)
    /// ```
    ///
    /// - Parameters:
    ///   - location: The place and the type of the store.
    ///   - model: The program's model.
    ///   - types: The classes of the entities.
    ///   - options: How to open the store.
    ///   - incompatible: The rule for a store of another version of the model.
    /// - Throws: As `Store.open(_:model:options:ifMissing:ifIncompatible:)`; `invalidModel` if a
    ///   class does not fit its entity.
    public convenience init(
        _ location: StoreLocation, model: ManagedObjectModel, types: [any ManagedObjectClass.Type] = [],
        options: StoreOptions = StoreOptions(), ifIncompatible incompatible: IncompatibleStoreRule = .refuse
    ) throws(StoreError) {
        let store = try Store.open(location, model: model, options: options, ifIncompatible: incompatible)
        do throws(StoreError) { try self.init(store, model: model, types: types) } catch {
            throw store.persistentStore.closed(after: error)
        }
    }

    /// Opens stores that the configuration names; creates missing stores.
    ///
    /// ```swift
    /// let container = try PersistentContainer(configuration: nil, types: MusicModel.types)
    /// ```
    ///
    /// - Parameters:
    ///   - configuration: The configuration; nil to find it (see ``RoostConfiguration``).
    ///   - names: The names of stores in the configuration, each also the name of a configuration
    ///     of the model if there are several; nil for the default store.
    ///   - model: The program's model; nil for the model that the configuration names.
    ///   - types: The classes of the entities.
    ///   - incompatible: The rule for a store of another version of the model.
    /// - Throws: `invalidConfiguration`; `notFound` for an unknown name; as
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

    /// Opens the store at a location on a thread of Roost's own; the asynchronous form.
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
