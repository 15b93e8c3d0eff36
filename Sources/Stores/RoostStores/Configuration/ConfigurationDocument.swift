internal import Foundation
internal import RoostCore
internal import RoostFiles
internal import RoostJSONText

struct ConfigurationDocument {
    static let maximumByteCount = 1 << 20

    static let keys = ["model", "stores", "default"]
    static let storeKeys = ["type", "path", "url", "options"]

    var model: RoostConfiguration.Setting?
    var stores: [RoostConfiguration.Store] = []
    var defaultStore: (store: RoostConfiguration.Store, origin: RoostConfiguration.Origin)?

    /// Reads a file, and throws all its problems in one error.
    static func read(
        _ file: RoostConfiguration.Setting, registry: StoreRegistry
    ) throws(StoreError) -> ConfigurationDocument {
        let bytes: [UInt8]
        do throws(StoreError) {
            bytes = try SmallFile.bytes(
                at: file.value, maximumByteCount: maximumByteCount, noun: "a configuration")
        } catch {
            var source = ""
            if case .environment(let name) = file.origin { source = " that \(name) names" }
            throw StoreError(
                .invalidConfiguration, "The configuration\(source) cannot be read: \(error.message)",
                underlying: error)
        }
        let node = try JSONNode.document(
            bytes, acceptsJSON5: true, as: "The configuration '\(file.value)'", code: .invalidConfiguration)
        let problems = JSONProblems(of: bytes)
        let document = ConfigurationReader(
            path: file.value, lineEnds: bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }, registry: registry,
            problems: problems
        ).document(node)
        guard problems.messages.isEmpty else {
            throw StoreError(
                .invalidConfiguration,
                "The configuration '\(file.value)' is not valid:\n"
                    + problems.messages.map { "  \($0)" }.joined(separator: "\n"))
        }
        return document
    }
}

/// A reader that converts the JSON tree of a file to settings, and collects problems.
private struct ConfigurationReader {
    typealias Setting = RoostConfiguration.Setting
    typealias Store = RoostConfiguration.Store

    let path: String
    /// The byte offsets of the text's line ends, in ascending order.
    let lineEnds: [Int]
    let registry: StoreRegistry
    let problems: JSONProblems

    func document(_ node: JSONNode) -> ConfigurationDocument {
        let reader = JSONObjectReader(node, path: "", keys: ConfigurationDocument.keys, problems: problems)
        var document = ConfigurationDocument()
        document.model = model(reader)
        // `names` includes stores whose settings have problems. Otherwise, a default store with a
        // problem would be reported as unknown too.
        var names: [String] = []
        for member in reader.members("stores") {
            let path = JSONObjectReader.join("stores", with: member.key)
            guard RoostConfiguration.isStoreName(member.key) else {
                problems.add(
                    "a store's name has only letters, digits, '-' and '_', and does not start with '-'.", path: path,
                    at: member.keyOffset)
                continue
            }
            names.append(member.key)
            if let store = store(member, path: path) { document.stores.append(store) }
        }
        if let name = reader.string("default"), let node = reader.node("default") {
            if let store = document.stores.first(where: { $0.name == name }) {
                document.defaultStore = (store, origin(node.byteOffset))
            } else if names.isEmpty {
                problems.add("the file has no stores.", path: "default", at: node.byteOffset)
            } else if !names.contains(name) {
                reader.addUnknown(among: names, instead: name, path: "default", at: node)
            }
        } else if let only = document.stores.first, document.stores.count == 1 {
            document.defaultStore = (only, .standard)
        }
        return document
    }

    private func origin(_ byteOffset: Int) -> RoostConfiguration.Origin {
        // A binary search avoids quadratic time for a file with a store on each line.
        var (low, high) = (0, lineEnds.count)
        while low < high {
            let middle = (low + high) / 2
            if lineEnds[middle] < byteOffset { low = middle + 1 } else { high = middle }
        }
        return .file(path: path, line: low + 1)
    }

    /// Returns the absolute form of a path that is relative to the file's directory.
    private func absolute(_ text: String) -> String {
        RoostConfiguration.absolute(text, in: StoreFile.directory(of: path))
    }

    private func model(_ reader: JSONObjectReader) -> Setting? {
        guard let node = reader.node("model"), let text = reader.string("model") else { return nil }
        let path = absolute(text)
        guard !text.isEmpty, FileManager.default.fileExists(atPath: path) else {
            problems.add("the file '\(path)' does not exist.", path: "model", at: node.byteOffset)
            return nil
        }
        return Setting(key: "model", value: path, origin: origin(node.byteOffset))
    }

    private func store(_ member: JSONMember, path: String) -> Store? {
        let reader = JSONObjectReader(
            member.value, path: path, keys: ConfigurationDocument.storeKeys, problems: problems)
        guard case .object = member.value.content, let location = location(reader, at: member.value) else { return nil }
        guard let type = registry.all.first(where: { $0.name == location.type }) else {
            let key = reader.node("url") == nil ? "type" : "url"
            reader.addUnknown(
                among: registry.all.map(\.name), instead: location.type, path: reader.path(key),
                at: reader.node(key) ?? member.value)
            return nil
        }
        let isFile = type.capabilities.contains(.file)
        let options = options(reader, type: type)
        if isFile, location.path.isEmpty {
            problems.add(
                "the path of the store is missing; stores of type '\(type.name)' are files.", path: path,
                at: member.value.byteOffset)
            return nil
        }
        return Store(
            name: member.key,
            location: StoreLocation(type: type.name, path: isFile ? absolute(location.path) : location.path),
            origin: origin(member.keyOffset), options: options)
    }

    /// Returns the store's location from `url`, or from `type` and `path`.
    private func location(_ reader: JSONObjectReader, at node: JSONNode) -> StoreLocation? {
        guard let urlNode = reader.node("url") else {
            guard reader.node("type") != nil else {
                problems.add(
                    "the location of the store is missing; write 'type' and 'path', or 'url'.", path: reader.path,
                    at: node.byteOffset)
                return nil
            }
            // If `type` or `path` is not a string, `reader` adds this problem.
            guard let type = reader.string("type") else { return nil }
            guard reader.node("path") != nil else { return StoreLocation(type: type, path: "") }
            return reader.string("path").map { StoreLocation(type: type, path: $0) }
        }
        for key in ["type", "path"] {
            guard let node = reader.node(key) else { continue }
            problems.add(
                "'url' already contains the type and the path; remove 'url' or '\(key)'.", path: reader.path(key),
                at: node.byteOffset)
            return nil
        }
        guard let text = reader.string("url") else { return nil }
        guard let location = StoreLocation(text: text) else {
            problems.add("a URL is written type:path.", path: reader.path("url"), at: urlNode.byteOffset)
            return nil
        }
        return location
    }

    private func options(_ reader: JSONObjectReader, type: any PersistentStoreType) -> [String: Setting] {
        var options: [String: Setting] = [:]
        for member in reader.members("options") {
            let path = JSONObjectReader.join(reader.path("options"), with: member.key)
            let historyOption =
                type.capabilities.contains(.history)
                ? HistoryOptions.descriptions.first { $0.name == member.key } : nil
            let description = historyOption ?? type.optionDescriptions.first { $0.name == member.key }
            // A null value counts as absent, but an unknown name is a problem even with null.
            guard let text = text(member.value, path: path) ?? (description == nil ? "" : nil) else { continue }
            let problem =
                historyOption.map { $0.problem(withValue: text, of: type) }
                ?? type.problem(withOption: member.key, value: text)
            if let problem {
                problems.add(problem, path: path, at: description == nil ? member.keyOffset : member.value.byteOffset)
                continue
            }
            options[member.key] = Setting(
                key: path, value: description?.values == .path ? absolute(text) : text,
                origin: origin(member.keyOffset))
        }
        return options
    }

    /// Returns the text of an option, which may be written as a number or a boolean.
    private func text(_ node: JSONNode, path: String) -> String? {
        switch node.content {
        case .string(let text), .number(let text): return text
        case .bool(let value): return "\(value)"
        case .null: return nil
        case .array, .object:
            problems.addMismatch(node, expected: "a string, a number or a boolean", path: path)
            return nil
        }
    }
}
