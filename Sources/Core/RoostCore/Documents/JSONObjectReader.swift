package import RoostJSONText

/// The problems of a document, which are collected so that one error can report all of them.
package final class JSONProblems {
    /// The maximum number of described problems.
    ///
    /// Further problems are only counted, to limit the cost of a hostile text.
    package static let maximumCount = 100

    /// The problems, one line each: path, position, description.
    ///
    /// The last line may contain the number of further problems.
    package var messages: [String] {
        count > Self.maximumCount ? described + ["… and \(count - Self.maximumCount) more."] : described
    }

    private var described: [String] = []
    private var count = 0
    private let bytes: [UInt8]

    package init(of bytes: [UInt8]) { self.bytes = bytes }

    package func add(_ message: String, path: String, at byteOffset: Int) {
        count += 1
        guard count <= Self.maximumCount else { return }
        let place = path.isEmpty ? "the document" : path
        described.append("\(place) (\(TextPosition(of: byteOffset, in: bytes))): \(message)")
    }

    package func addMismatch(_ node: JSONNode, expected: String, path: String) {
        add("\(expected) is expected, not \(node.kindDescription).", path: path, at: node.byteOffset)
    }
}

extension JSONProblems {
    package func addOutOfRange(_ node: JSONNode, expected: String, path: String) {
        add("\(expected) is expected, and this number is out of range.", path: path, at: node.byteOffset)
    }
}

/// A reader of one object's members by key.
///
/// Adds wrong types and unknown keys to ``problems`` instead of throwing. For a wrong type, a
/// method returns nil, an empty value or the given default, as for an absent key. A member with the
/// value `null` counts as absent.
package struct JSONObjectReader {
    /// The path of the object, such as `entities.Track`.
    package let path: String
    package let problems: JSONProblems
    private let members: [String: JSONNode]

    /// Reads an object whose keys must be in `keys`.
    package init(_ node: JSONNode, path: String, keys: [String], problems: JSONProblems) {
        self.path = path
        self.problems = problems
        // A set is faster only for many keys. The value of a composite may have thousands of keys;
        // all other objects have few.
        let known = keys.count > 64 ? Set(keys) : nil
        var members: [String: JSONNode] = [:]
        for member in Self.members(of: node, path: path, problems: problems) {
            guard known?.contains(member.key) ?? keys.contains(member.key) else {
                let hint = nearestName(to: member.key, among: keys).map { "did you mean '\($0)'?" }
                problems.add(
                    "the key is unknown; \(hint ?? "known are \(keys.joined(separator: ", ")).")",
                    path: Self.join(path, with: member.key), at: member.keyOffset)
                continue
            }
            if case .null = member.value.content { continue }
            members[member.key] = member.value
        }
        self.members = members
    }

    package static func members(of node: JSONNode, path: String, problems: JSONProblems) -> [JSONMember] {
        guard case .object(let members) = node.content else {
            problems.addMismatch(node, expected: "an object", path: path)
            return []
        }
        return members
    }

    /// Returns `path.key`, the path of a key in the object at `path`.
    ///
    /// A very long key is shortened in the middle.
    package static func join(_ path: String, with key: String) -> String {
        let key = MessageText.bounded(key)
        return path.isEmpty ? key : path + "." + key
    }

    package func path(_ key: String) -> String { Self.join(path, with: key) }

    package func node(_ key: String) -> JSONNode? { members[key] }

    package func members(_ key: String) -> [JSONMember] {
        guard let node = members[key] else { return [] }
        return Self.members(of: node, path: path(key), problems: problems)
    }

    package func items(_ key: String) -> [JSONNode] {
        guard let node = members[key] else { return [] }
        return Self.items(of: node, path: path(key), problems: problems)
    }

    package static func items(of node: JSONNode, path: String, problems: JSONProblems) -> [JSONNode] {
        guard case .array(let nodes) = node.content else {
            problems.addMismatch(node, expected: "an array", path: path)
            return []
        }
        return nodes
    }

    package func string(_ key: String) -> String? {
        guard let node = members[key] else { return nil }
        return Self.string(node, path: path(key), problems: problems)
    }

    package static func string(_ node: JSONNode, path: String, problems: JSONProblems) -> String? {
        guard case .string(let text) = node.content else {
            problems.addMismatch(node, expected: "a string", path: path)
            return nil
        }
        return text
    }

    package func strings(_ key: String) -> [String] {
        guard let node = members[key] else { return [] }
        return Self.strings(of: node, path: path(key), problems: problems)
    }

    /// Returns the texts of an array; reports and skips other items.
    package static func strings(of node: JSONNode, path: String, problems: JSONProblems) -> [String] {
        items(of: node, path: path, problems: problems).enumerated().compactMap { index, item in
            string(item, path: "\(path)[\(index)]", problems: problems)
        }
    }

    package func stringDictionary(_ key: String) -> [String: String] {
        var result: [String: String] = [:]
        for member in members(key) {
            result[member.key] = Self.string(
                member.value, path: Self.join(path(key), with: member.key), problems: problems)
        }
        return result
    }

    package func bool(_ key: String, default standard: Bool) -> Bool {
        guard let node = members[key] else { return standard }
        guard case .bool(let value) = node.content else {
            problems.addMismatch(node, expected: "true or false", path: path(key))
            return standard
        }
        return value
    }

    package func int(_ key: String) -> Int? {
        guard let node = members[key] else { return nil }
        if case .number(let text) = node.content, let value = Int(text) { return value }
        if node.isWholeNumber {
            problems.addOutOfRange(node, expected: "a whole number of 64 bits", path: path(key))
        } else {
            problems.addMismatch(node, expected: "a whole number of 64 bits", path: path(key))
        }
        return nil
    }

    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, default standard: Choice
    ) -> Choice where Choice.RawValue == String {
        guard let node = members[key], let text = string(key) else { return standard }
        guard let value = Choice(rawValue: text) else {
            addUnknown(among: Choice.allCases.map(\.rawValue), instead: text, path: path(key), at: node)
            return standard
        }
        return value
    }

    /// Returns the text at a mandatory key, or an empty text.
    package func required(_ key: String, at node: JSONNode) -> String {
        if members[key] == nil, case .object = node.content {
            problems.add("'\(key)' is missing.", path: path, at: node.byteOffset)
        }
        return string(key) ?? ""
    }

    /// Throws `unsupportedVersion` for a document whose `formatVersion` is newer than `newest`.
    package static func requireVersion(_ newest: Int, of node: JSONNode, named name: String) throws(StoreError) {
        guard case .object(let members) = node.content,
            let version = members.first(where: { $0.key == "formatVersion" }),
            case .number(let text) = version.value.content, let number = Int(text), number > newest
        else { return }
        throw StoreError(
            .unsupportedVersion,
            "The \(name) has format version \(number); this program reads up to \(newest). Use a newer program.")
    }

    /// Reports a `formatVersion` that is absent, below 1 or not a whole number.
    package func checkVersion(_ newest: Int, of node: JSONNode) {
        if members["formatVersion"] == nil, case .object = node.content {
            problems.add("'formatVersion' is missing; the newest is \(newest).", path: "", at: 0)
        } else if let version = int("formatVersion"), version < 1 {
            problems.add(
                "format versions start at 1.", path: "formatVersion", at: members["formatVersion"]?.byteOffset ?? 0)
        }
    }

    package func addUnknown(among names: [String], instead text: String, path: String, at node: JSONNode) {
        let hint = nearestName(to: text, among: names).map { "; did you mean '\($0)'?" }
        problems.add(
            "one of \(names.joined(separator: ", ")) is expected\(hint ?? ".")", path: path, at: node.byteOffset)
    }
}
