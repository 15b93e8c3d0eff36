/// The types of store a program knows, by name.
///
/// The umbrella module `Roost` registers the built-in ones in ``shared``; third parties add theirs.
public final class StoreRegistry: Sendable {
    /// The registry that everything uses unless told otherwise.
    public static let shared = StoreRegistry()

    private let types: Mutex<[any PersistentStoreType]>

    /// A registry of these types.
    public init(_ types: [any PersistentStoreType] = []) { self.types = Mutex(types) }

    /// Adds a type, in the place of one with the same name if there is one.
    public func register(_ type: any PersistentStoreType) {
        types.withLock { types in
            types.removeAll { $0.name == type.name }
            types.append(type)
        }
    }

    /// All types, in the order of their registration.
    public var all: [any PersistentStoreType] { types.withLock { $0 } }

    /// The type with this name; throws code `unknownStoreType`, listing the known ones.
    public func type(named name: String) throws(StoreError) -> any PersistentStoreType {
        let known = all
        if let type = known.first(where: { $0.name == name }) { return type }
        let names = known.map(\.name)
        let hint =
            nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
            ?? "known types: \(names.joined(separator: ", "))"
        throw StoreError(.unknownStoreType, "There is no store type '\(name)'; \(hint)")
    }

    /// The URL that `text` means: `type:path`, or a bare path whose type is recognised by the file's content.
    ///
    /// A file whose own name looks like `type:path` is recognised as a bare path only when no such type is registered.
    /// - Throws: `unknownStoreType` for a type that is not registered; `notAStore` for a bare path that no type recognises.
    public func resolve(_ text: String) throws(StoreError) -> StoreURL {
        let known = all
        if let url = StoreURL(text), known.contains(where: { $0.name == url.type }) { return url }
        if let type = known.first(where: { $0.recognises(fileAt: text) }) {
            return StoreURL(type: type.name, path: text)
        }
        if let url = StoreURL(text) { _ = try type(named: url.type) }
        throw StoreError(
            .notAStore,
            "'\(text)' is not the path of a store that any registered type recognises; write type:path to name the type (\(known.map(\.name).joined(separator: ", ")))."
        )
    }

    /// Opens the store at `url`; see ``PersistentStoreType/open(_:options:)``.
    public func open(_ url: StoreURL, options: StoreOptions = StoreOptions()) throws(StoreError) -> any PersistentStore
    {
        try type(named: url.type).open(url, options: options)
    }

    /// Creates an empty store at `url`; see ``PersistentStoreType/create(_:model:options:)``.
    public func create(
        _ url: StoreURL, model: ManagedObjectModel, options: StoreOptions = StoreOptions()
    ) throws(StoreError) -> any PersistentStore {
        try type(named: url.type).create(url, model: model, options: options)
    }
}
