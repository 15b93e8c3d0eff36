internal import Foundation
public import RoostCore

/// The stores and the model that a program uses, from `roost.json` and the environment.
///
/// ```json5
/// {
///   model: "Models/Music.xcdatamodeld",
///   stores: {
///     main:  { type: "sqlite", path: "data/music.sqlite", options: { synchronous: "full" } },
///     cache: { url: "lmdb:data/cache.lmdb" },
///   },
///   default: "main",
/// }
/// ```
///
/// The file is JSON, or JSON5 as above. The caller or the variable `ROOST_CONFIG` names it;
/// otherwise it is the first `roost.json` in the working directory or a directory above it. Finding
/// none is not an error: the configuration then has no stores. The variable `ROOST_STORE` overrides
/// the file's default store: by `type:path`, by a name in the file, or by the path of an existing
/// store. An empty variable counts as unset. Relative paths in the file are relative to its
/// directory; `~` is an ordinary character. The documentation page `docs/configuration.md` has
/// every key and every option.
///
/// The initializer reads and checks all settings, without opening or changing a store: keys, types,
/// names, options and their values, and whether the model's file exists. It reads the file once;
/// later changes of the file do not show.
public struct RoostConfiguration: Sendable {
    /// The origin of a value.
    package enum Origin: Sendable, Hashable, CustomStringConvertible {
        /// The caller gave it; on the command line with an option.
        case caller
        /// An environment variable, by name.
        case environment(String)
        /// Found in the working directory or above it.
        case search
        /// A line of the configuration's file.
        case file(path: String, line: Int)
        /// The default value, because no other was given.
        case standard

        /// The origin for people: `/project/roost.json:4`, `ROOST_STORE`, `default`.
        package var description: String {
            switch self {
            case .caller: "given"
            case .environment(let name): name
            case .search: "found"
            case .file(let path, let line): "\(path):\(line)"
            case .standard: "default"
            }
        }
    }

    /// A value in force, and its origin.
    package struct Setting: Sendable, Hashable {
        /// The setting's key: `model`, `default`, `stores.main`, `stores.main.options.synchronous`.
        package let key: String
        /// The value; of `stores.main` the store's URL.
        package let value: String
        /// The origin of the value.
        package let origin: Origin
    }

    /// A store of the configuration.
    struct Store: Sendable {
        /// The store's name; nil for one that `ROOST_STORE` names in another way.
        var name: String?
        var location: StoreLocation
        var origin: Origin
        /// The options that were given, by name.
        var options: [String: Setting]
    }

    /// The configuration's file and how it was found, or nil.
    let fileSetting: Setting?
    /// The path of the model; nil when the file says none.
    let modelSetting: Setting?
    /// The stores in the order of the file.
    let stores: [Store]
    /// The default store.
    let defaultStore: (store: Store, origin: Origin)?
    /// The types of store that the configuration may name.
    package let registry: StoreRegistry

    /// Reads the model's file, for the model that the configuration names.
    let readModel: @Sendable (String) throws(StoreError) -> ManagedObjectModel

    /// Finds, reads and checks the configuration.
    ///
    /// - Parameters:
    ///   - file: The path of the file; nil to look for it.
    ///   - workingDirectory: The directory in which the search begins, and to which `file` and
    ///     paths in variables are relative; nil for the process's.
    ///   - environment: The environment; nil for the process's.
    ///   - registry: The types of store that the configuration may name.
    ///   - readModel: Reads a model's file.
    /// - Throws: `invalidConfiguration` for a file that is named but cannot be read, and with every
    ///   problem of the file, each with its key, line and column; nothing else.
    package init(
        file: String?, workingDirectory: String?, environment: [String: String]?, registry: StoreRegistry,
        readModel: @escaping @Sendable (String) throws(StoreError) -> ManagedObjectModel
    ) throws(StoreError) {
        self.readModel = readModel
        let directory = workingDirectory ?? FileManager.default.currentDirectoryPath
        let environment = (environment ?? ProcessInfo.processInfo.environment).filter { !$0.value.isEmpty }
        let fileSetting = Self.find(file, directory: directory, environment: environment)
        var document = ConfigurationDocument()
        if let fileSetting { document = try ConfigurationDocument.read(fileSetting, registry: registry) }
        self.registry = registry
        self.fileSetting = fileSetting
        modelSetting = document.model
        stores = document.stores
        if let text = environment[Self.storeVariable] {
            let store = try Self.store(text, stores: document.stores, directory: directory, registry: registry)
            defaultStore = (store, .environment(Self.storeVariable))
        } else {
            defaultStore = document.defaultStore
        }
    }

    /// The path of the configuration's file, or nil.
    package var file: String? { fileSetting?.value }

    /// The path of the model's file; nil when the configuration names none.
    package var modelPath: String? { modelSetting?.value }

    /// The names of the stores, in the order of the file.
    package var storeNames: [String] { stores.compactMap(\.name) }

    /// The name of the default store; nil without a default, or if `ROOST_STORE` gives one without
    /// a name.
    package var defaultStoreName: String? { defaultStore?.store.name }

    /// All values in force with their origins, including options that were not given.
    package var settings: [Setting] {
        var settings = [fileSetting, modelSetting].compactMap { $0 }
        if let (store, origin) = defaultStore {
            settings.append(Setting(key: "default", value: store.name ?? store.location.description, origin: origin))
        }
        for store in stores {
            let key = "stores.\(store.name ?? "")"
            settings.append(Setting(key: key, value: store.location.description, origin: store.origin))
            guard let type = registry.all.first(where: { $0.name == store.location.type }) else { continue }
            settings += type.optionDescriptions.map { option in
                store.options[option.name]
                    ?? Setting(key: "\(key).options.\(option.name)", value: option.standard, origin: .standard)
            }
        }
        return settings
    }
}

extension StoreError.Code {
    /// The configuration has errors, or names something that does not exist.
    ///
    /// The message lists all problems. Nothing was opened.
    public static let invalidConfiguration = Self("invalidConfiguration")
}
