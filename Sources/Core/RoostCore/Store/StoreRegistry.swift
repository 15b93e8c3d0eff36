/// The types of store that a program can use, by name.
///
/// `StoreRegistry.standard` of the module `Roost` contains the built-in types. Add your own types
/// to it, or create a registry:
///
/// ```swift
/// let registry = StoreRegistry([CSVStoreType(), SortedFileStoreType()])
/// let store = try registry.open(try registry.resolve("cities.csv"))
/// ```
public final class StoreRegistry: Sendable {
    private let types: Mutex<[any PersistentStoreType]>

    /// Creates a registry of these types.
    public init(_ types: [any PersistentStoreType] = []) { self.types = Mutex(types) }

    /// Adds a type, and removes any other type with the same name.
    public func register(_ type: any PersistentStoreType) {
        types.withLock { types in
            types.removeAll { $0.name == type.name }
            types.append(type)
        }
    }

    /// All types in the order of their registration.
    public var all: [any PersistentStoreType] { types.withLock { $0 } }

    package var companionSuffixes: [String] {
        var known: Set<String> = []
        return all.flatMap(\.companionSuffixes).filter { known.insert($0).inserted }
    }

    /// Returns the type with this name.
    ///
    /// - Throws: `unknownStoreType`. The message suggests a similar name or lists the known types.
    public func type(named name: String) throws(StoreError) -> any PersistentStoreType {
        let known = all
        if let type = known.first(where: { $0.name == name }) { return type }
        let names = known.map(\.name)
        let hint =
            nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
            ?? "known types: \(names.joined(separator: ", "))"
        throw StoreError(.unknownStoreType, "The store type '\(name)' is unknown; \(hint)")
    }

    /// Returns the location for `text`, which is `type:path` or the path of an existing store.
    ///
    /// For a path, the file's content determines the type. A text `type:path` counts as a path only
    /// if the type is not registered.
    ///
    /// - Throws: `unknownStoreType` for a type that is not registered; `notAStore` for a path that
    ///   no type recognizes.
    public func resolve(_ text: String) throws(StoreError) -> StoreLocation {
        let known = all
        if let location = StoreLocation(text: text), known.contains(where: { $0.name == location.type }) {
            return location
        }
        if let type = known.first(where: { $0.recognizes(fileAt: text) }) {
            return StoreLocation(type: type.name, path: text)
        }
        if let location = StoreLocation(text: text) { _ = try type(named: location.type) }
        throw StoreError(
            .notAStore,
            "'\(text)' is not the path of a store that any registered type recognizes; write type:path to name the type (\(known.map(\.name).joined(separator: ", ")))."
        )
    }

    /// Opens the store at `location`; see ``PersistentStoreType/open(_:options:)``.
    public func open(_ location: StoreLocation, options: StoreOptions = StoreOptions()) throws(StoreError)
        -> any PersistentStore
    {
        let type = try type(named: location.type)
        try options.requireHistory(of: type)
        return try type.open(location, options: options)
    }

    /// Creates an empty store at `location`; see ``PersistentStoreType/create(_:model:options:)``.
    public func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions = StoreOptions()
    ) throws(StoreError) -> any PersistentStore {
        let type = try type(named: location.type)
        try options.requireHistory(of: type)
        return try type.create(location, model: model, options: options)
    }
}
