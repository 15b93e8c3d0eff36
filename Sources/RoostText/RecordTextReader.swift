public import RoostCore

/// Reads what ``RecordTextWriter`` writes, or a person: one record out of one JSON object.
///
/// The members may come in any order. `id` must be there, `version` may be missing and is 1 then; a property that is missing or
/// null is null. Names are resolved once, when the reader is made. It is used again and again, so that reading a record
/// allocates nothing.
///
/// Not `Sendable`: use it from one thread at a time.
public struct RecordTextReader {
    /// What a key of a record means.
    enum Member {
        case id
        case version
        case entity
        /// A field, and the node of its elements where it is a composite.
        case field(RecordLayout.Field, elements: Int?)
    }

    /// The keys of a record, or of a composite in it.
    struct Node {
        var names: JSONNameTable
        var members: [Member]
    }

    /// A value that was read and not yet put into the batch, which wants the fields in their order.
    struct Slot {
        /// The record that the value belongs to; it is there only for the current one.
        var stamp = 0
        var bits: UInt64 = 0
        /// The entity of a reference; the position of a decimal.
        var number = 0
        /// Bytes in `bytes`.
        var bytes = 0..<0
    }

    let model: ManagedObjectModel
    let entityNames: JSONNameTable
    /// For each entity its nodes; the first is the record itself.
    let nodes: [[Node]]
    var slots: [Slot]
    var stamp = 0
    var bytes: [UInt8] = []
    var decimals: [DecimalNumber] = []

    /// Makes a reader of the records of a model.
    public init(model: ManagedObjectModel) {
        self.model = model
        entityNames = JSONNameTable(model.entities.map(\.name.text))
        nodes = model.entities.map { Self.nodes(of: $0.layout) }
        slots = Array(repeating: Slot(), count: model.entities.map(\.layout.fields.count).max() ?? 0)
    }

    private static func nodes(of layout: RecordLayout) -> [Node] {
        let composites = layout.fields.filter { $0.kind == .composite }
        func member(_ field: RecordLayout.Field) -> Member {
            .field(field, elements: composites.firstIndex { $0.index == field.index }.map { $0 + 1 })
        }
        // An element stands at the top, by its path, where it has a value although its composite is null.
        let root = Node(
            names: JSONNameTable(RecordText.reservedKeys + layout.fields.map(RecordText.key)),
            members: [.id, .version, .entity] + layout.fields.map(member))
        return [root]
            + composites.map { composite in
                let prefix = composite.name + "."
                let elements = layout.fields.filter {
                    $0.name.hasPrefix(prefix) && !$0.name.dropFirst(prefix.count).contains(".")
                }
                return Node(
                    names: JSONNameTable(elements.map { String($0.name.dropFirst(prefix.count)) }),
                    members: elements.map(member))
            }
    }

    /// The number of the entity that the current token of a reader, a string or a key, names; nil where there is none.
    public func entity(_ reader: borrowing JSONTokenReader) -> Int? { reader.index(in: entityNames) }

    /// Reads a record, whose object begins with the next token, and appends it to a batch.
    ///
    /// - Parameters:
    ///   - entity: The number of the record's entity, which is not abstract.
    ///   - reader: Stands before the object, and behind it on return.
    ///   - batch: A batch of the reader's model.
    /// - Throws: What the token reader throws, and its ``JSONTokenReader/errorCode`` with line, column, entity, id (where it was
    ///   read already) and property: for a property that does not exist, with the nearest one that does; a value of the wrong
    ///   type or out of range; an object without `id`. The batch is unchanged after an error.
    public mutating func read(
        _ entity: Int, from reader: inout JSONTokenReader, into batch: inout RecordBatch
    ) throws(StoreError) {
        guard try reader.next() == .beginObject else { throw reader.mismatch("a record, an object,") }
        try readMembers(entity, from: &reader, into: &batch)
    }

    /// Reads the members of a record whose `{`, and perhaps its `entity`, were read already.
    ///
    /// - Parameters:
    ///   - entity: The number of the record's entity, which is not abstract.
    ///   - reader: Stands before a key or the end of the object, and behind the object on return.
    ///   - batch: A batch of the reader's model.
    /// - Throws: As ``read(_:from:into:)``.
    public mutating func readMembers(
        _ entity: Int, from reader: inout JSONTokenReader, into batch: inout RecordBatch
    ) throws(StoreError) {
        stamp += 1
        bytes.removeAll(keepingCapacity: true)
        decimals.removeAll(keepingCapacity: true)
        let layout = model.entities[entity].layout
        var header = Header(entity: layout.entity)
        while try reader.nextKey() { try readMember(in: 0, of: entity, &header, from: &reader) }
        guard let key = header.key else {
            throw reader.error("a record of '\(layout.entity)' has no \"id\"; give every record its key")
        }
        batch.beginRecord(layout, key: key, version: header.version)
        do throws(StoreError) {
            for field in layout.fields where slots[field.index].stamp == stamp { try set(field, in: &batch) }
        } catch {
            batch.abandonRecord()
            throw reader.error(error.message, code: error.code)
        }
        batch.endRecord()
    }

    /// What of a record is no property.
    struct Header {
        let entity: EntityName
        var key: Int64?
        var version: UInt32 = 1

        /// The record, for messages.
        var description: String { key.map { "\(ObjectID(entity, $0))" } ?? "a record of '\(entity)'" }
    }

    /// Reads the member whose key is the reader's current token.
    private mutating func readMember(
        in node: Int, of entity: Int, _ header: inout Header, from reader: inout JSONTokenReader
    ) throws(StoreError) {
        guard let index = reader.index(in: nodes[entity][node].names) else {
            throw unknown(reader, nodes[entity][node].names.names, header)
        }
        switch nodes[entity][node].members[index] {
        case .id:
            _ = try reader.next()
            guard let key = reader.integer, key > 0 else {
                throw reader.mismatch("\"id\" of \(header.description): a whole number above 0")
            }
            header.key = key
        case .version:
            _ = try reader.next()
            guard let version = reader.integer.flatMap(UInt32.init(exactly:)) else {
                throw reader.mismatch("\"version\" of \(header.description): a whole number of 32 bits")
            }
            header.version = version
        case .entity:
            throw reader.error("\"entity\" may only be the first key of a record, where the record says its own entity")
        case .field(let field, let elements):
            guard try reader.next() != .null else { return }
            guard slots[field.index].stamp != stamp else {
                throw reader.error("property '\(field.name)' of \(header.description) is given twice")
            }
            slots[field.index].stamp = stamp
            guard let elements else {
                return try readValue(of: field, header, from: &reader)
            }
            guard reader.token == .beginObject else { throw wrongValue(reader, field, header) }
            while try reader.nextKey() { try readMember(in: elements, of: entity, &header, from: &reader) }
        }
    }

    // MARK: Errors

    @inline(never)
    private func unknown(
        _ reader: borrowing JSONTokenReader, _ names: [String], _ header: Header
    ) -> StoreError {
        let key = reader.text
        let hint = nearestName(to: key, among: names).map { "; did you mean '\($0)'?" } ?? ""
        return reader.error("\(header.description) has no property '\(Self.printable(key))'\(hint)")
    }

    @inline(never)
    func wrongValue(
        _ reader: borrowing JSONTokenReader, _ field: RecordLayout.Field, _ header: Header
    ) -> StoreError {
        let expected = RecordText.expectation(field.kind)
        let what = "property '\(field.name)' of \(header.description)"
        // A token of the right kind has the wrong content, and is not to be called the opposite of what is expected.
        return reader.error("\(what): \(expected) is expected, and \(reader.tokenDescription) stands here")
    }

    /// A name from a text, short and without anything that disturbs a terminal.
    private static func printable(_ name: String) -> String {
        let scalars = name.unicodeScalars.prefix(60).map { scalar in
            scalar.properties.generalCategory == .control ? "\u{FFFD}" : String(scalar)
        }
        return scalars.joined() + (name.unicodeScalars.count > 60 ? "…" : "")
    }
}
