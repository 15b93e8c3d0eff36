internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostStores

/// The stores and containers of one run of a graph check.
package final class GraphBench {
    /// The workbench that creates the stores and removes them afterwards.
    let workbench: Workbench

    init(_ workbench: Workbench) { self.workbench = workbench }

    /// Creates a store and returns a container for it, with the classes of the suite.
    func makeContainer(_ model: ManagedObjectModel? = nil, name: String = "store") throws -> PersistentContainer {
        try container(for: try workbench.create(try model ?? GraphModel.standard.get(), name: name))
    }

    func container(for store: any PersistentStore) throws -> PersistentContainer {
        let types = GraphCheck.types.filter { store.model.entity($0.entityName) != nil }
        return try PersistentContainer(try wrapped(store), types: types)
    }

    func wrapped(_ store: any PersistentStore) throws -> Store {
        try Store(store, registry: StoreRegistry([workbench.type]))
    }

    /// Creates a store, fills it, and returns a container whose reads and commits are counted and
    /// can fail.
    func makeMetered(
        _ model: ManagedObjectModel? = nil, name: String = "store",
        fill: (ManagedObjectContext) throws -> Void = { _ in }
    ) throws -> (container: PersistentContainer, meter: StoreMeter) {
        let store = try workbench.create(try model ?? GraphModel.standard.get(), name: name)
        let context = try container(for: store).makeContext()
        try fill(context)
        try context.save()
        let meter = StoreMeter()
        return (try container(for: MeteredStore(store, meter: meter)), meter)
    }

    /// Closes the store of a container and opens it again, in a new container.
    ///
    /// If closing would discard the store's content, the store stays open.
    func reopen(_ container: PersistentContainer) throws -> PersistentContainer {
        let store = try require(container.stores.first, "a store in the container")
        return try self.container(for: try workbench.reopen(store.persistentStore))
    }

    func store(of container: PersistentContainer) throws -> any PersistentStore {
        try require(container.stores.first, "a store in the container").persistentStore
    }

    /// Returns the stored values of an object, read without a context; nil if the object does not
    /// exist.
    func storedValues(_ id: ObjectID, in container: PersistentContainer) throws -> [String: Value]? {
        let snapshot = try store(of: container).snapshot()
        defer { snapshot.close() }
        var batch = RecordBatch(model: snapshot.model)
        guard try snapshot.record(with: id, into: &batch) else { return nil }
        return batch.values(at: 0)
    }

    func storedVersion(_ id: ObjectID, in container: PersistentContainer) throws -> UInt32? {
        let snapshot = try store(of: container).snapshot()
        defer { snapshot.close() }
        var batch = RecordBatch(model: snapshot.model)
        guard try snapshot.record(with: id, into: &batch) else { return nil }
        return batch.version(at: 0)
    }

    func storedCount(_ entity: EntityName, in container: PersistentContainer) throws -> Int {
        let snapshot = try store(of: container).snapshot()
        defer { snapshot.close() }
        return try snapshot.count(FetchRequest(entity))
    }

    /// Returns a text that changes with every commit that changes anything.
    ///
    /// The text is the generation if the store records it, otherwise the digest.
    func generation(of container: PersistentContainer) throws -> String { try generation(of: try store(of: container)) }

    func generation(of store: any PersistentStore) throws -> String {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        if let tally = try snapshot.recordedTally() { return "\(tally.generation)" }
        return "\(try snapshot.computeTally().digest)"
    }

    /// Changes objects in a new context and saves it.
    func change(_ container: PersistentContainer, _ body: (ManagedObjectContext) throws -> Void) throws {
        let context = container.makeContext("other")
        try body(context)
        try context.save()
    }
}
