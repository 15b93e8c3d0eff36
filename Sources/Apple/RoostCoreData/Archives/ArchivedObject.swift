internal import RoostCore

/// One object of a keyed archive, with the object numbers of its fields by name.
struct ArchivedObject {
    let archive: KeyedArchive
    let uid: Int
    let fields: [String: Int]

    var className: String {
        get throws(StoreError) {
            guard let field = fields["$class"] else { return "" }
            return try archive.className(field: field)
        }
    }

    func node(_ name: String) throws(StoreError) -> KeyedArchive.Node {
        guard let field = fields[name] else { return .null }
        return try archive.node(field: field)
    }

    func string(_ name: String) throws(StoreError) -> String? { try node(name).string }
    /// Returns the string in the field `name`, or else in the field `inner` of the object in the
    /// field `object`.
    func string(_ name: String, or object: String, inner: String) throws(StoreError) -> String? {
        if let text = try string(name) { return text }
        return try self.object(object)?.string(inner)
    }
    func integer(_ name: String) throws(StoreError) -> Int64? { try node(name).integer }
    func flag(_ name: String) throws(StoreError) -> Bool { try node(name).integer.map { $0 != 0 } ?? false }
    func object(_ name: String) throws(StoreError) -> ArchivedObject? { try node(name).object }

    func list(_ name: String) throws(StoreError) -> [KeyedArchive.Node] {
        guard let field = fields[name] else { return [] }
        if let object = try archive.node(field: field).object { return try object.members() }
        return try archive.nodes(field: field)
    }

    /// Returns the members of this archived list or set.
    func members() throws(StoreError) -> [KeyedArchive.Node] {
        guard let field = fields["NS.objects"] else { return [] }
        return try archive.nodes(field: field)
    }

    func dictionary(_ name: String) throws(StoreError) -> [(key: String, value: KeyedArchive.Node)] {
        guard let object = try object(name) else { return [] }
        return try object.pairs()
    }

    /// Returns this archived dictionary's members that have string keys.
    ///
    /// The object is an ordinary dictionary, or a Core Data dictionary with a fixed set of keys.
    func pairs() throws(StoreError) -> [(key: String, value: KeyedArchive.Node)] {
        var keys: [KeyedArchive.Node]
        var values: [KeyedArchive.Node]
        var empty: String?
        if let field = fields["NS.keys"] {
            keys = try archive.nodes(field: field)
            values = try list("NS.objects")
        } else if let mapping = try object("searchMapping") {
            keys = try mapping.list("keys")
            values = try list("values")
            empty = try string("emptyToken")
        } else {
            keys = try list("keys")
            values = try list("values")
        }
        guard keys.count == values.count else {
            throw StoreError(
                .corrupted,
                "\(archive.file) is damaged: a dictionary has \(keys.count) keys and \(values.count) values.")
        }
        var pairs: [(key: String, value: KeyedArchive.Node)] = []
        for (key, value) in zip(keys, values) {
            // A key without a value is stored with a placeholder.
            if let empty, value.string == empty { continue }
            if let name = key.string { pairs.append((name, value)) }
        }
        return pairs
    }

    // MARK: Objects that wrap a plain value

    /// Whether the object is Foundation's wrapper for a string, data, date or number.
    var isPlain: Bool {
        get throws(StoreError) {
            fields["NS.string"] != nil || fields["NS.bytes"] != nil || fields["NS.data"] != nil
                || fields["NS.time"] != nil
                || fields["NS.intval"] != nil || fields["NS.dblval"] != nil || fields["NS.boolval"] != nil
        }
    }

    func plainNode() throws(StoreError) -> KeyedArchive.Node {
        for name in ["NS.string", "NS.bytes", "NS.data", "NS.intval", "NS.dblval", "NS.boolval"] {
            guard let field = fields[name] else { continue }
            let node = try archive.plainNode(field: field)
            if name == "NS.bytes", case .data(let bytes) = node, try className.hasSuffix("String") {
                return .string(String(decoding: bytes, as: UTF8.self))
            }
            return node
        }
        guard let field = fields["NS.time"] else { return .null }
        switch try archive.plainNode(field: field) {
        case .real(let seconds): return .date(seconds)
        case .integer(let seconds): return .date(Double(seconds))
        default: return .null
        }
    }
}
