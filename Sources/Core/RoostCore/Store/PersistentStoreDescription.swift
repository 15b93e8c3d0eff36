/// The location and options of a store.
///
/// ```swift
/// var description = PersistentStoreDescription(.sqlite("music.sqlite"))
/// description.options.isReadOnly = true
/// let store = try StoreRegistry.standard.open(description)
/// ```
public struct PersistentStoreDescription: Sendable {
    /// The location of the store.
    public var location: StoreLocation
    /// The options for opening or creating the store.
    public var options: StoreOptions

    /// Creates a description.
    public init(_ location: StoreLocation, options: StoreOptions = StoreOptions()) {
        self.location = location
        self.options = options
    }
}

extension StoreRegistry {
    /// Opens the store with this description; see ``PersistentStoreType/open(_:options:)``.
    public func open(_ description: PersistentStoreDescription) throws(StoreError) -> any PersistentStore {
        try open(description.location, options: description.options)
    }
}
