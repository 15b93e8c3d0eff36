import Roost
import RoostConformance
import RoostCore
import RoostGraph
import RoostStores

extension StoreMeter {
    /// The error of the calls that fail.
    static let error = StoreError(.busy, "The call fails, because the test says so.")

    func failNextRead(after count: Int = 0) { failNextRead(with: Self.error, after: count) }
    func failNextCommit() { failNextCommit(with: Self.error) }

    /// Creates a store and opens a container for it.
    func makeContainer(_ location: StoreLocation) throws -> PersistentContainer {
        try makeContainer(location, model: try Music.model(), types: Music.types)
    }

    func makeContainer(
        _ location: StoreLocation, model: ManagedObjectModel, types: [any ManagedObjectClass.Type] = []
    ) throws -> PersistentContainer {
        let inner = try PersistentContainer(location, model: model, types: types)
        guard let store = inner.stores.first?.persistentStore else {
            throw StoreError(.invalidRequest, "The container has no store.")
        }
        return try PersistentContainer(
            try Store(MeteredStore(store, meter: self), registry: StoreRegistry([store.type])), model: model,
            types: types)
    }
}
