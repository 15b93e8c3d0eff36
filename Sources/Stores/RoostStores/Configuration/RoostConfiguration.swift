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
/// The file is JSON, or JSON5 as above. Its path comes from the caller or the variable
/// `ROOST_CONFIG`. If both are missing, a search looks for `roost.json` in the working directory,
/// and then in each directory above. Without a file, the configuration has no stores, which is not
/// an error. The variable `ROOST_STORE` overrides the file's default store. Its value is
/// `type:path`, a name in the file, or the path of an existing store. An empty variable counts as
/// unset. Relative paths in the file are relative to the file's directory, and `~` is an ordinary
/// character in a path. The documentation page `docs/configuration.md` lists every key and every
/// option.
///
/// The initializer reads the file once. It checks keys, types, names, options and their values, and
/// whether the model's file exists. These checks neither open nor change a store. Later changes of
/// the file have no effect.
public struct RoostConfiguration: Sendable {
    package enum Origin: Sendable, Hashable, CustomStringConvertible {
        /// The caller, such as a command-line option.
        case caller
        case environment(String)
        /// A search in the working directory and the directories above.
        case search
        case file(path: String, line: Int)
        case standard

        /// A text for people: `/project/roost.json:4`, `ROOST_STORE`, `default`.
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

    /// An effective value and its origin.
    package struct Setting: Sendable, Hashable {
        /// The setting's key: `model`, `default`, `stores.main`, `stores.main.options.synchronous`.
        package let key: String
        /// The value; for a store, its URL.
        package let value: String
        package let origin: Origin
    }

    struct Store: Sendable {
        /// The store's name, or nil if `ROOST_STORE` gives a URL or a path.
        var name: String?
        var location: StoreLocation
        var origin: Origin
        var options: [String: Setting]
    }

    let fileSetting: Setting?
    let modelSetting: Setting?
    /// The stores in the order of the file.
    let stores: [Store]
    let defaultStore: (store: Store, origin: Origin)?
    /// The store types that the configuration may use.
    package let registry: StoreRegistry

    let readModel: @Sendable (String) throws(StoreError) -> ManagedObjectModel

    /// Finds, reads and checks the configuration.
    ///
    /// The search for the file, and relative paths in `file` and in variables, begin at
    /// `workingDirectory`. Nil as working directory or environment means that of the process.
    ///
    /// - Throws: Only `invalidConfiguration`. The message lists every problem of the file with its
    ///   key, line and column.
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

    package var file: String? { fileSetting?.value }

    package var modelPath: String? { modelSetting?.value }

    package var storeNames: [String] { stores.compactMap(\.name) }

    /// The name of the default store.
    ///
    /// Nil without a default store, or if `ROOST_STORE` gives a store without a name.
    package var defaultStoreName: String? { defaultStore?.store.name }

    /// All effective values with their origins.
    ///
    /// Unset options of store types have their defaults. Unset history options are missing, because
    /// their values are in the store.
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
            settings += HistoryOptions.descriptions.compactMap { store.options[$0.name] }
        }
        return settings
    }
}

extension StoreError.Code {
    /// The configuration has errors, or refers to something that does not exist.
    ///
    /// The message lists all problems. Nothing was opened.
    public static let invalidConfiguration = Self("invalidConfiguration")
}
