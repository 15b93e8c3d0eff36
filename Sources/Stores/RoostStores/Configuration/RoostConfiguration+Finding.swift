internal import Foundation
internal import RoostCore
internal import RoostFiles

extension RoostConfiguration {
    /// The name of the configuration file for which a search looks.
    package static let fileName = "roost.json"
    /// The environment variable with the path of the configuration file.
    package static let fileVariable = "ROOST_CONFIG"
    /// The environment variable with the default store.
    package static let storeVariable = "ROOST_STORE"

    /// Returns whether a text can be the name of a store.
    ///
    /// No name looks like a URL, or like a path with a directory or an extension.
    package static func isStoreName(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix("-")
            && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }

    /// Returns the configuration file and the origin of its path, or nil if no file is found.
    static func find(_ file: String?, directory: String, environment: [String: String]) -> Setting? {
        if let file { return Setting(key: "file", value: absolute(file, in: directory), origin: .caller) }
        if let file = environment[fileVariable] {
            return Setting(key: "file", value: absolute(file, in: directory), origin: .environment(fileVariable))
        }
        guard directory.hasPrefix("/") else { return nil }
        var directory = directory
        while true {
            let candidate = absolute(fileName, in: directory)
            // If the user has no permission to search a directory, the directory counts as having
            // no file. An unreadable file or a dangling link counts as found. Otherwise, the search
            // would find the file of a parent directory, with other stores.
            if StoreFile.hasEntry(at: candidate) {
                return Setting(key: "file", value: candidate, origin: .search)
            }
            let parent = StoreFile.directory(of: directory)
            guard parent != directory else { return nil }
            directory = parent
        }
    }

    static func absolute(_ path: String, in directory: String) -> String {
        // If the working directory was removed, `directory` is empty. The system then resolves the relative path.
        guard !path.hasPrefix("/"), !directory.isEmpty else { return path }
        let relative = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return directory.hasSuffix("/") ? directory + relative : "\(directory)/\(relative)"
    }

    /// Returns the store that the value of `ROOST_STORE` identifies by its URL, name or path.
    static func store(
        _ text: String, stores: [Store], directory: String, registry: StoreRegistry
    ) throws(StoreError) -> Store {
        if let store = stores.first(where: { $0.name == text }) { return store }
        var location: StoreLocation
        do throws(StoreError) {
            location = try registry.resolve(StoreLocation(text: text) == nil ? absolute(text, in: directory) : text)
        } catch {
            let hint =
                nearestName(to: text, among: stores.compactMap(\.name)).map { "did you mean '\($0)'?" }
                ?? error.message
            throw StoreError(
                .invalidConfiguration,
                "\(storeVariable) is '\(text)', which is neither type:path, nor a store of the configuration, nor the path of a store; \(hint)"
            )
        }
        if try registry.type(named: location.type).capabilities.contains(.file) {
            guard !location.path.isEmpty else {
                throw StoreError(
                    .invalidConfiguration,
                    "\(storeVariable) is '\(text)', which has no path; stores of type '\(location.type)' are files.")
            }
            location = StoreLocation(type: location.type, path: absolute(location.path, in: directory))
        }
        return Store(name: nil, location: location, origin: .environment(storeVariable), options: [:])
    }
}
