package import RoostCore
internal import RoostKeyValue

/// The type of stores in memory.
///
/// The location `memory:` creates a new unnamed store each time. `memory:name` refers to a named
/// store that the whole process shares.
///
/// A named store lives until it is destroyed or the process ends. An unnamed store lives until it
/// is closed, and cannot be opened again.
package struct MemoryStoreType: PersistentStoreType {
    private struct Entry {
        let contents: MemoryContents
        var openCount: Int
    }

    private static let stores = Mutex<[String: Entry]>([:])

    /// Creates a value; all values share the named stores.
    package init() {}

    package var name: String { "memory" }

    /// All capabilities except `persistence`, `multipleProcesses` and `file`.
    package var capabilities: StoreCapabilities {
        StoreCapabilities(.writing, .totalOrder, .digest, .uniquenessConstraints, .fetchIndexes, .history)
    }

    /// The costs, measured with `make bench`.
    package var estimatedCosts: StoreCosts {
        StoreCosts(readingMicroseconds: 0.1, writingMicroseconds: 0.5)
    }

    /// Returns false, because no file is a store of this type.
    package func recognizes(fileAt path: String) -> Bool { false }

    package func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        try requireKnown(options.typeOptions)
        try options.requireValidTimeout()
        let storage = try openStorage(location)
        do throws(StoreError) {
            let metadata = try KeyValueStore.metadata(in: storage, type: self, location: location)
            try storage.close()
            return metadata
        } catch {
            try storage.close()
            throw error
        }
    }

    /// Opens a named store, even if it is already open.
    ///
    /// Throws `notFound` if no store has the name, so always for `memory:`.
    package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try requireKnown(options.typeOptions)
        try options.requireValidTimeout()
        return try KeyValueStore(opening: try openStorage(location), type: self, location: location, options: options)
    }

    /// Creates a store.
    ///
    /// Throws `alreadyExists` if the name is in use.
    package func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try requireKnown(options.typeOptions)
        try options.requireValidTimeout()
        try options.requireWritable()
        guard !location.path.isEmpty else {
            return try KeyValueStore(
                creating: MemoryStorage(), type: self, location: location, model: model, options: options)
        }
        guard Self.stores.withLock({ $0[location.path] == nil }) else { throw alreadyExists(location) }
        // The store gets its name only after `KeyValueStore` has created its contents. So no other
        // thread sees an incomplete store.
        let contents = MemoryContents()
        let path = location.path
        let storage = MemoryStorage(contents: contents) { Self.noteClosed(path, contents: contents) }
        let store = try KeyValueStore(creating: storage, type: self, location: location, model: model, options: options)
        let isNew = Self.stores.withLock { stores in
            guard stores[path] == nil else { return false }
            stores[path] = Entry(contents: contents, openCount: 1)
            return true
        }
        guard isNew else {
            try store.close()
            throw alreadyExists(location)
        }
        return store
    }

    /// Removes a named store.
    ///
    /// Throws `busy` if the store is open.
    package func destroy(_ location: StoreLocation) throws(StoreError) {
        try Self.stores.withLock { (stores) throws(StoreError) in
            guard let entry = stores[location.path] else { return }
            try requireClosed(entry, location: location)
            stores[location.path] = nil
        }
    }

    /// Renames the source store to the destination's name.
    ///
    /// An existing destination is replaced if `overwriting` is true.
    package func replace(
        _ destination: StoreLocation, with source: StoreLocation, overwriting: Bool
    ) throws(StoreError) {
        guard !destination.path.isEmpty else {
            throw StoreError(.invalidRequest, "A store cannot be renamed to 'memory:'. Add a name: memory:name.")
        }
        try Self.stores.withLock { (stores) throws(StoreError) in
            guard let entry = stores[source.path] else { throw notFound(source) }
            try requireClosed(entry, location: source)
            guard destination.path != source.path else {
                throw StoreError(.invalidRequest, "'\(destination)' cannot be replaced with itself.")
            }
            if let old = stores[destination.path] {
                guard overwriting else { throw alreadyExists(destination) }
                try requireClosed(old, location: destination)
            }
            stores[destination.path] = entry
            stores[source.path] = nil
        }
    }

    private func openStorage(_ location: StoreLocation) throws(StoreError) -> MemoryStorage {
        let path = location.path
        let contents = Self.stores.withLock { stores in
            stores[path]?.openCount += 1
            return stores[path]?.contents
        }
        guard let contents else { throw notFound(location) }
        return MemoryStorage(contents: contents) { Self.noteClosed(path, contents: contents) }
    }

    private static func noteClosed(_ path: String, contents: MemoryContents) {
        stores.withLock { stores in
            if stores[path]?.contents === contents { stores[path]?.openCount -= 1 }
        }
    }

    private func requireClosed(_ entry: Entry, location: StoreLocation) throws(StoreError) {
        if entry.openCount > 0 { throw StoreError(.busy, "The store '\(location)' is open. Close it first.") }
    }

    private func notFound(_ location: StoreLocation) -> StoreError {
        StoreError(.notFound, "The store '\(location)' does not exist in this process. Create it first.")
    }

    private func alreadyExists(_ location: StoreLocation) -> StoreError {
        StoreError(.alreadyExists, "The store '\(location)' exists already in this process. Open or destroy it.")
    }
}
