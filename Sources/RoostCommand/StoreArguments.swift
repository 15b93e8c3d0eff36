internal import Roost
internal import RoostFiles

/// What the subcommands have in common: stores and models that are named on the command line.
enum StoreArguments {
    /// The URL that `text` means: `type:path`, or a bare path recognised by the file's content.
    ///
    /// A path that leads to nothing, or to something other than a file, gets the error that says so.
    static func url(_ text: String) throws -> StoreURL {
        do throws(StoreError) {
            return try StoreRegistry.builtIn.resolve(text)
        } catch {
            guard error.code == .notAStore else { throw error }
            try StoreFile.requireRegularFile(at: text, forWriting: false)
            throw error
        }
    }

    /// The URL of a store that may not exist yet, so that nothing can recognise it.
    static func newStoreURL(_ text: String) throws -> StoreURL {
        do throws(StoreError) {
            return try StoreRegistry.builtIn.resolve(text)
        } catch {
            guard error.code == .notAStore else { throw error }
            // What exists without being a store is not going to be replaced by one.
            try StoreFile.requireAbsent(at: text)
            throw StoreError(
                .notAStore,
                "'\(text)' does not say what type of store to make; write type:path, for example sqlite:\(text).")
        }
    }

    /// The options of every command that opens a store.
    static let openingOptions = [
        CommandOption(
            "timeout", value: "SECONDS", help: "How long to wait for a store that is in use; 10 unless given."),
        CommandOption("model", "m", value: "FILE", help: "The store's model, where the store does not hold it."),
        CommandOption(
            "model-version", value: "NAME", needs: "model",
            help: "The version in a bundle of models; the current one unless given."),
    ]

    /// How to open a store read-only, with the model of `--model` if it was given, and other options of the user.
    static func options(_ arguments: ParsedArguments, for url: StoreURL) throws -> StoreOptions {
        var options = StoreOptions(isReadOnly: true)
        if let seconds = try arguments.integer("timeout", minimum: 0) { options.timeoutSeconds = Double(seconds) }
        guard let path = arguments.value("model") else { return options }
        if url.type == "coredata" {
            // Apple's stores are read with exactly the version of the model that wrote them.
            options.typeOptions["model"] = path
            options.typeOptions["modelVersion"] = arguments.value("model-version")
        } else {
            options.model = try ModelFile.read(path, version: arguments.value("model-version")).model
        }
        return options
    }

    /// Opens a store read-only for the time of `body`.
    static func withStore<Result>(
        _ text: String, _ arguments: ParsedArguments, _ body: (any PersistentStore) throws -> Result
    ) throws -> Result {
        let url = try url(text)
        let store = try StoreRegistry.builtIn.open(url, options: try options(arguments, for: url))
        let result: Result
        do {
            result = try body(store)
        } catch {
            // The first error is the one that counts.
            try? store.close()
            throw error
        }
        try store.close()
        return result
    }
}
