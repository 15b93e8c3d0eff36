internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostStores

/// The stores and models of a command line.
enum StoreArguments {
    /// The options of commands that open an existing store.
    static let openingOptions = [
        CommandOption(
            "timeout", value: "SECONDS", help: "How long to wait for a store that is in use (default: 10)."),
        CommandOption(
            "model", letter: "m", value: "FILE", help: "The store's model, if the store does not contain it."),
        CommandOption(
            "model-version", value: "NAME", needs: "model",
            help: "The version in a bundle of models (default: the version that STORE was made with)."),
        CommandOption("accept-links", help: "Read a store file that has other names (hard links)."),
        CommandOption(
            "accept-changes", help: "Accept objects that another program changed, instead of reporting damage."),
    ]

    static func configuration(_ arguments: ParsedArguments) throws -> RoostConfiguration {
        try RoostConfiguration(file: arguments.value("config"))
    }

    static func defaultStore(_ arguments: ParsedArguments) throws -> String? {
        let configuration = try configuration(arguments)
        return configuration.settings.first { $0.key == "default" }?.value
    }

    /// Returns the store given by `text`, with the options of the configuration and of the command
    /// line.
    ///
    /// `text` is `type:path`, the name of a configured store, or the path of an existing store.
    static func store(
        _ text: String, arguments: ParsedArguments, forWriting: Bool = false
    ) throws -> PersistentStoreDescription {
        var store =
            try named(text, arguments: arguments)
            ?? PersistentStoreDescription(try location(text, arguments: arguments))
        if !forWriting { store = store.readOnly }
        store.options.acceptsLinks = arguments.has("accept-links")
        store.options.acceptsChanges = arguments.has("accept-changes")
        if let seconds = try arguments.integer("timeout", minimum: 0) {
            store.options.timeoutSeconds = Double(seconds)
        }
        guard let path = arguments.value("model") else { return store }
        let type = try StoreRegistry.standard.type(named: store.location.type)
        if type.optionDescriptions.contains(where: { $0.name == "model" }) {
            // For a Core Data store, the store type finds the model version in the bundle.
            store.options.typeOptions["model"] = path
            store.options.typeOptions["modelVersion"] = arguments.value("model-version")
        } else {
            let version = arguments.value("model-version")
            store.options.model = try UsageError.readingModel(at: path, version: version) {
                if let version { return try ModelFile.read(path, version: version).model }
                return try ModelFile.read(path, forStore: store).model
            }
        }
        return store
    }

    /// Returns the new store that `text` describes.
    ///
    /// A bare path where no store exists must end with the name of a type, as in `music.lmdb`.
    static func newStore(_ text: String, arguments: ParsedArguments) throws -> PersistentStoreDescription {
        if let store = try typedStore(text, arguments: arguments) {
            guard try StoreRegistry.standard.type(named: store.location.type).capabilities.contains(.persistence) else {
                throw UsageError(
                    "a \(store.location.type) store ends with this command, so nothing could read it; choose another type for '\(text)'"
                )
            }
            return store
        }
        // A new store must not replace a file that is not a store.
        try StoreFile.requireAbsent(at: text)
        if let type = fileTypes.first(where: { text.hasSuffix(".\($0)") }) {
            return PersistentStoreDescription(StoreLocation(type: type, path: text))
        }
        throw UsageError(
            "'\(text)' does not say what type of store to make; write type:path, for example sqlite:\(text)\(try hint(text, arguments: arguments) ?? "")"
        )
    }

    private static var fileTypes: [String] {
        StoreRegistry.standard.all.filter { $0.capabilities.contains(.file) && $0.capabilities.contains(.writing) }
            .map(\.name)
    }

    /// Returns the destination given by `text`, or nil for a bare path where no store exists.
    static func typedStore(_ text: String, arguments: ParsedArguments) throws -> PersistentStoreDescription? {
        var store = try named(text, arguments: arguments)
        if store == nil {
            do throws(StoreError) {
                store = PersistentStoreDescription(try StoreRegistry.standard.resolve(text))
            } catch {
                guard error.code != .notAStore else { return nil }
                throw UsageError(error.message)
            }
        }
        guard let store else { return nil }
        try requirePath(store.location)
        guard try StoreRegistry.standard.type(named: store.location.type).capabilities.contains(.writing) else {
            throw UsageError(
                "stores of type '\(store.location.type)' can only be read; choose another type for the destination")
        }
        return store
    }

    static func requireDifferent(_ source: StoreLocation, destination: StoreLocation) throws {
        guard source != destination, !StoreFile.sameFile(source.path, destination.path) else {
            throw UsageError("the destination '\(destination)' is the source; choose another path")
        }
    }

    private static func requirePath(_ location: StoreLocation) throws {
        guard location.path.isEmpty, try StoreRegistry.standard.type(named: location.type).capabilities.contains(.file)
        else {
            return
        }
        throw UsageError("'\(location)' names no file; write \(location.type):path")
    }

    /// Opens a store, runs `body`, and closes the store, also after an error.
    ///
    /// `closingFailed` receives the error of closing the store, and returns whether the command
    /// still succeeds.
    static func withStore<Result>(
        _ text: String, arguments: ParsedArguments, forWriting: Bool = false,
        closingFailed: (StoreError) -> Bool = { _ in false }, _ body: (any PersistentStore) throws -> Result
    ) throws -> Result {
        try Interruption.shared.withOpenStore {
            let store = try StoreRegistry.standard.open(try store(text, arguments: arguments, forWriting: forWriting))
            let result: Result
            do {
                try Interruption.shared.check()
                result = try body(store)
            } catch {
                // The first error is thrown, not the error of closing the store.
                do throws(StoreError) { try store.close() } catch let closing { _ = closingFailed(closing) }
                throw error
            }
            do throws(StoreError) { try store.close() } catch  where closingFailed(error) {}
            return result
        }
    }

    /// Returns the model of the configured store named `text`, or of the model file at path `text`.
    static func model(
        _ text: String, version: String?, arguments: ParsedArguments
    ) throws -> (model: ManagedObjectModel, warnings: [String]) {
        guard let store = try named(text, arguments: arguments) else {
            return try UsageError.readingModel(at: text, version: version) {
                try ModelFile.read(text, version: version)
            }
        }
        let type = try StoreRegistry.standard.type(named: store.location.type)
        return (try type.metadata(at: store.location, options: store.options).model, [])
    }

    /// Returns the names of a store's entities; empty if the store cannot be read.
    static func entityNames(_ text: String, arguments: ParsedArguments) -> [String] {
        guard let store = try? store(text, arguments: arguments),
            let type = try? StoreRegistry.standard.type(named: store.location.type),
            let model = try? type.metadata(at: store.location, options: store.options).model
        else { return [] }
        return model.entities.map(\.name.text)
    }

    /// Returns the configured store with the given name, or nil.
    private static func named(
        _ text: String, arguments: ParsedArguments
    ) throws -> PersistentStoreDescription? {
        guard RoostConfiguration.isStoreName(text) || arguments.value("config") != nil else { return nil }
        let configuration = try configuration(arguments)
        return configuration.storeNames.contains(text) ? try configuration.storeDescription(text) : nil
    }

    private static func location(_ text: String, arguments: ParsedArguments) throws -> StoreLocation {
        let location: StoreLocation
        do throws(StoreError) {
            location = try StoreRegistry.standard.resolve(text)
        } catch {
            guard error.code != .unknownStoreType else { throw UsageError(error.message) }
            guard error.code == .notAStore else { throw error }
            do throws(StoreError) {
                try StoreFile.requireRegularFile(at: text, forWriting: false)
            } catch {
                guard let stores = StoresInDirectory(text).sentence else {
                    throw error.withMessage(error.message + (try hint(text, arguments: arguments) ?? ""))
                }
                throw error.withMessage("'\(text)' is a directory, not a store file; \(stores)")
            }
            try refuseForeignFile(at: text)
            throw error
        }
        try requirePath(location)
        return location
    }

    /// Refuses an SQLite database with the error of its store type, which says why it is not a store.
    private static func refuseForeignFile(at path: String) throws(StoreError) {
        guard StoreFile.read(prefix: 16, of: path) == Array("SQLite format 3\0".utf8),
            let type = StoreRegistry.standard.all.first(where: { $0.name == "sqlite" })
        else { return }
        _ = try type.metadata(
            at: StoreLocation(type: type.name, path: path), options: StoreOptions(isReadOnly: true))
    }

    /// Returns the end of a message that suggests the configured store with the nearest name.
    private static func hint(_ text: String, arguments: ParsedArguments) throws -> String? {
        guard RoostConfiguration.isStoreName(text) else { return nil }
        let names = try configuration(arguments).storeNames
        return nearestName(to: text, among: names).map { "; did you mean the store '\($0)' of the configuration?" }
    }
}

extension PersistentStoreDescription {
    var readOnly: Self {
        var description = self
        description.options = options.forReading
        return description
    }
}
