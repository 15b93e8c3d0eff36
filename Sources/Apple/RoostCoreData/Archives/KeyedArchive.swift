internal import RoostAppleModels
internal import RoostCore

/// The object graph of an `NSKeyedArchiver` archive, read as data.
///
/// Archived classes are never instantiated. Graphs may have cycles, so code that walks a graph must
/// limit the walk.
final class KeyedArchive {
    enum Node {
        case null
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        case string(String)
        case data([UInt8])
        case date(Double)
        case object(ArchivedObject)
    }

    private let list: BinaryPropertyList
    private let objects: [Int]
    private let root: Int
    /// A cache of field names, by the object numbers of their strings.
    private var names: [Int: String] = [:]
    var file: String { list.file }

    /// Reads the top level of an archive; several archives of one file may share a budget.
    init(_ bytes: [UInt8], file: String, budget: DecodingBudget = DecodingBudget()) throws(StoreError) {
        list = try BinaryPropertyList(bytes, file: file, budget: budget)
        guard case .dictionary(let members) = try list.object(list.topObject) else {
            throw StoreError(.corrupted, "\(file) is not a keyed archive.")
        }
        var objects: [Int]?
        var root: Int?
        for (key, value) in members {
            switch (try list.object(key), try list.object(value)) {
            case (.string("$objects"), .array(let numbers)): objects = numbers
            case (.string("$top"), .dictionary(let tops)):
                for (name, top) in tops {
                    if case (.string("root"), .uid(let uid)) = (try list.object(name), try list.object(top)) {
                        root = uid
                    }
                }
            default: continue
            }
        }
        guard let objects, let root else {
            throw StoreError(.corrupted, "\(file) is not a keyed archive of one object.")
        }
        self.objects = objects
        self.root = root
    }

    func rootObject() throws(StoreError) -> ArchivedObject {
        guard case .object(let object) = try node(uid: root) else {
            throw StoreError(.corrupted, "\(file) is an archive without an object.")
        }
        return object
    }

    func node(uid: Int) throws(StoreError) -> Node {
        guard uid >= 0, uid < objects.count else {
            throw StoreError(.corrupted, "\(file) is damaged: it refers to object \(uid), which does not exist.")
        }
        switch try list.object(objects[uid]) {
        case .string("$null") where uid == 0: return .null
        case .dictionary(let members):
            var fields: [String: Int] = [:]
            for (key, value) in members { if let name = try name(key) { fields[name] = value } }
            let object = ArchivedObject(archive: self, uid: uid, fields: fields)
            return try object.isPlain ? object.plainNode() : .object(object)
        case let other: return plain(other)
        }
    }

    /// Returns the plain value of a field, following a UID once.
    ///
    /// Lists, dictionaries and further UIDs become null.
    func plainNode(field: Int) throws(StoreError) -> Node {
        let object = try list.object(field)
        guard case .uid(let uid) = object else { return plain(object) }
        guard uid > 0, uid < objects.count else { return .null }
        return plain(try list.object(objects[uid]))
    }

    private func name(_ key: Int) throws(StoreError) -> String? {
        if let known = names[key] { return known }
        guard case .string(let name) = try list.object(key) else { return nil }
        names[key] = name
        return name
    }

    /// Returns the value of a field, or the object that its UID refers to.
    func node(field: Int) throws(StoreError) -> Node {
        let object = try list.object(field)
        if case .uid(let uid) = object { return try node(uid: uid) }
        return plain(object)
    }

    /// Returns the values of the list in a field.
    func nodes(field: Int) throws(StoreError) -> [Node] {
        guard case .array(let members) = try list.object(field) else { return [] }
        var nodes: [Node] = []
        nodes.reserveCapacity(members.count)
        for member in members { nodes.append(try node(field: member)) }
        return nodes
    }

    func className(field: Int) throws(StoreError) -> String {
        guard case .uid(let uid) = try list.object(field), uid >= 0, uid < objects.count,
            case .dictionary(let members) = try list.object(objects[uid])
        else { return "" }
        for (key, value) in members {
            if case (.string("$classname"), .string(let name)) = (try list.object(key), try list.object(value)) {
                return name
            }
        }
        return ""
    }

    private func plain(_ object: BinaryPropertyList.Object) -> Node {
        switch object {
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .date(let value): .date(value)
        case .data(let range): .data(Array(list.bytes[range]))
        case .string(let text): .string(text)
        case .null, .uid, .array, .dictionary: .null
        }
    }
}

extension KeyedArchive.Node {
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var object: ArchivedObject? { if case .object(let object) = self { object } else { nil } }
    var isNull: Bool { if case .null = self { true } else { false } }
    /// The text of a user info value; nil if the value is neither text nor a number.
    var userInfoText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .boolean(let flag): flag ? "1" : "0"
        case .null, .data, .date, .object: nil
        }
    }
    var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .boolean(let value): value ? 1 : 0
        case .real(let value): Int64(exactly: value)
        default: nil
        }
    }
}
