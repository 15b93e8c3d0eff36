internal import RoostCore
internal import RoostQuery
internal import RoostStores

/// The stores of a container, and the store of each entity hierarchy.
final class StoreSet: Sendable {
    let stores: [Store]
    /// The index of each entity's store, by entity number.
    let storeOfEntity: [Int]

    init(_ stores: [Store], storeOfEntity: [Int]) {
        (self.stores, self.storeOfEntity) = (stores, storeOfEntity)
    }

    func store(ofEntity number: Int) -> Store { stores[storeOfEntity[number]] }
}

/// A reader for one event or one pin, with one snapshot of each store for consistent reads.
final class EventReader {
    private let stores: StoreSet
    /// The parent from which a child reads, or nil to read from the stores.
    private let parent: ManagedObjectContext?
    private var snapshots: [(any StoreSnapshot)?]
    private var graphs: [(any ObjectGraph)?]

    init(_ stores: StoreSet, parent: ManagedObjectContext? = nil) {
        (self.stores, self.parent) = (stores, parent)
        snapshots = Array(repeating: nil, count: stores.stores.count)
        graphs = Array(repeating: nil, count: stores.stores.count)
    }

    deinit { for snapshot in snapshots { snapshot?.close() } }

    func snapshot(ofEntity number: Int) throws(StoreError) -> any StoreSnapshot {
        try snapshot(ofStore: stores.storeOfEntity[number])
    }

    func snapshot(ofStore position: Int) throws(StoreError) -> any StoreSnapshot {
        if let snapshot = snapshots[position] { return snapshot }
        let fresh: any StoreSnapshot
        if let parent, !isPlanted(.childReadsStore) {
            fresh = ParentSnapshot(parent, reader: try parent.core.openReader(), store: position)
        } else {
            fresh = try stores.stores[position].persistentStore.snapshot()
        }
        snapshots[position] = fresh
        return fresh
    }

    func graph(ofEntity number: Int) throws(StoreError) -> any ObjectGraph {
        let position = stores.storeOfEntity[number]
        if let graph = graphs[position] { return graph }
        let fresh = try snapshot(ofStore: position).objectGraph()
        graphs[position] = fresh
        return fresh
    }

    func openAll() throws(StoreError) {
        for position in snapshots.indices { _ = try snapshot(ofStore: position) }
    }
}
