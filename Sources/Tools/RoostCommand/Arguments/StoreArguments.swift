internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostStores

/// What the subcommands have in common: stores and models that are named on the command line.
enum StoreArguments {
    /// The options of every command that opens a store.
    static let openingOptions = [
        CommandOption(
            "timeout", value: "SECONDS", help: "How long to wait for a store that is in use; 10 unless given."),
        CommandOption(
            "model", letter: "m", value: "FILE", help: "The store's model, where the store does not hold it."),
        CommandOption(
            "model-version", value: "NAME", needs: "model",
            help: "The version in a bundle of models (default: the version that STORE was made with)."),
        CommandOption("accept-links", help: "Read a store file that has other names (hard links)."),
        CommandOption(
            "accept-changes", help: "Take objects that another program changed as they are, instead of as damage."),
    ]

    /// The configuration that `--config` names, or the one that is found.
    static func configuration(_ arguments: ParsedArguments) throws -> RoostConfiguration {
        try RoostConfiguration(file: arguments.value("config"))
    }

    /// What names the default store where a command's STORE was left out; nil when there is none.
    static func defaultStore(_ arguments: ParsedArguments) throws -> String? {
        let configuration = try configuration(arguments)
        return configuration.settings.first { $0.key == "default" }?.value
    }

    /// The store that `text` means, to be opened read-only unless it is to be written, with the
    /// options of the configuration and of the user.
    ///
    /// `text` is `type:path`, else the name of a store in the configuration, else a bare path whose
    /// type is recognized by the file's content. A missing path, and one that
    /// is not a file, has an error of its own.
    static func store(
        _ text: String, arguments: ParsedArguments, forWriting: Bool = false
    ) throws -> PersistentStoreDescription {
        var store =
            try named(text, arguments: arguments)
            ?? PersistentStoreDescription(try location(text, arguments: arguments))
        if !forWriting {
            store.options.isReadOnly = true
            // What a configuration wants of writers is not done by a command that reads.
            (store.options.tracksHistory, store.options.historyRetention) = (nil, nil)
        }
        store.options.acceptsLinks = arguments.has("accept-links")
        store.options.acceptsChanges = arguments.has("accept-changes")
        if let seconds = try arguments.integer("timeout", minimum: 0) {
            store.options.timeoutSeconds = Double(seconds)
        }
        guard let path = arguments.value("model") else { return store }
        let type = try StoreRegistry.standard.type(named: store.location.type)
        if type.optionDescriptions.contains(where: { $0.name == "model" }) {
            // Apple's stores are read with exactly the version of the model that wrote them, which is looked for in a bundle.
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

    /// The store that `text` means and that may not exist yet, so that nothing can recognize it.
    static func newStore(_ text: String, arguments: ParsedArguments) throws -> PersistentStoreDescription {
        if let store = try typedStore(text, arguments: arguments) {
            guard try StoreRegistry.standard.type(named: store.location.type).capabilities.contains(.persistence) else {
                throw UsageError(
                    "a \(store.location.type) store ends with this command, so nothing could read it; choose another type for '\(text)'"
                )
            }
            return store
        }
        // What exists without being a store is not going to be replaced by one.
        try StoreFile.requireAbsent(at: text)
        // `music.lmdb`, as the type is called.
        if let type = fileTypes.first(where: { text.hasSuffix(".\($0)") }) {
            return PersistentStoreDescription(StoreLocation(type: type, path: text))
        }
        throw UsageError(
            "'\(text)' does not say what type of store to make; write type:path, for example sqlite:\(text)\(try hint(text, arguments: arguments) ?? "")"
        )
    }

    /// The names of the types whose stores are files and can be made.
    private static var fileTypes: [String] {
        StoreRegistry.standard.all.filter { $0.capabilities.contains(.file) && $0.capabilities.contains(.writing) }
            .map(\.name)
    }

    /// Returns the store to be made that `text` means; nil for a bare path without a store.
    ///
    /// - Throws: `UsageError` for a type that is not known or cannot be written, and for a path
    ///   that is missing.
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

    /// Refuses a destination that is the source.
    static func requireDifferent(_ source: StoreLocation, destination: StoreLocation) throws {
        guard source != destination, !StoreFile.sameFile(source.path, destination.path) else {
            throw UsageError("the destination '\(destination)' is the source; choose another path")
        }
    }

    /// Refuses the URL of a file without the file's name.
    private static func requirePath(_ location: StoreLocation) throws {
        guard location.path.isEmpty, try StoreRegistry.standard.type(named: location.type).capabilities.contains(.file)
        else {
            return
        }
        throw UsageError("'\(location)' names no file; write \(location.type):path")
    }

    /// Opens a store for the time of `body`, read-only unless it is to be written, and closes it
    /// however `body` ends.
    ///
    /// - Parameters:
    ///   - text: The store.
    ///   - arguments: The command's arguments.
    ///   - forWriting: Whether it is to be written.
    ///   - closingFailed: Gets the error of closing the store; returns whether the command succeeds
    ///     all the same.
    ///   - body: What is done with the store.
    /// - Returns: What `body` returns.
    /// - Throws: What opening the store, `body` or closing it throws, whichever comes first;
    ///   `cancelled` after a signal.
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
                // The first error is the one that counts.
                do throws(StoreError) { try store.close() } catch let closing { _ = closingFailed(closing) }
                throw error
            }
            do throws(StoreError) { try store.close() } catch  where closingFailed(error) {}
            return result
        }
    }

    /// The model that `text` names: a store of the configuration, else what ``ModelFile`` reads.
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

    /// The names of the entities of a store; empty for a store that cannot be read.
    static func entityNames(_ text: String, arguments: ParsedArguments) -> [String] {
        guard let store = try? store(text, arguments: arguments),
            let type = try? StoreRegistry.standard.type(named: store.location.type),
            let model = try? type.metadata(at: store.location, options: store.options).model
        else { return [] }
        return model.entities.map(\.name.text)
    }

    /// The store of that name in the configuration.
    ///
    /// The configuration is not even read for a text that can be no name, unless `--config` asks
    /// for it.
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

    /// Throws the error of the store type whose files begin as this one does, which says more.
    private static func refuseForeignFile(at path: String) throws(StoreError) {
        guard StoreFile.read(prefix: 16, of: path) == Array("SQLite format 3\0".utf8),
            let type = StoreRegistry.standard.all.first(where: { $0.name == "sqlite" })
        else { return }
        _ = try type.metadata(
            at: StoreLocation(type: type.name, path: path), options: StoreOptions(isReadOnly: true))
    }

    /// The store of the configuration that a mistyped name most likely meant, as the end of a
    /// message.
    private static func hint(_ text: String, arguments: ParsedArguments) throws -> String? {
        guard RoostConfiguration.isStoreName(text) else { return nil }
        let names = try configuration(arguments).storeNames
        return nearestName(to: text, among: names).map { "; did you mean the store '\($0)' of the configuration?" }
    }
}
