public import RoostCore

/// Reads what ``RecordTextWriter`` writes, or a person: one record out of one JSON object.
///
/// The members may come in any order. `id` must be there, `version` may be missing and is 1 then; a property that is missing or
/// null is null. Names are resolved once, when the reader is made. It is used again and again, so that reading a record
/// allocates nothing.
///
/// Not `Sendable`: use it from one thread at a time.
public struct RecordTextReader {
    /// The keys of a record, or of a composite in it, and what each means: a field's position, or one of the numbers below.
    ///
    /// A class, so that finding a key copies no tables.
    final class Node {
        static let id = -1
        static let version = -2
        static let entity = -3

        let names: JSONNameTable
        let members: [Int]

        init(_ names: [String], _ members: [Int]) {
            self.names = JSONNameTable(names)
            self.members = members
        }
    }

    /// What can be read into the records of an entity.
    final class Plan {
        let layout: RecordLayout
        /// The record itself, then its composites.
        let nodes: [Node]
        /// For each field that is a composite, its node; 0 for any other.
        let nodeOfField: [Int]

        init(_ layout: RecordLayout) {
            self.layout = layout
            let fields = layout.fields
            // An element stands at the top, by its path, where it has a value although its composite is null.
            var nodes = [
                Node(
                    RecordText.reservedKeys + fields.map(RecordText.key),
                    [Node.id, Node.version, Node.entity] + Array(fields.indices))
            ]
            var nodeOfField = Array(repeating: 0, count: fields.count)
            for composite in fields where composite.kind == .composite {
                let prefix = composite.name + "."
                let elements = fields.filter {
                    $0.name.hasPrefix(prefix) && !$0.name.dropFirst(prefix.count).contains(".")
                }
                nodeOfField[composite.index] = nodes.count
                nodes.append(Node(elements.map { String($0.name.dropFirst(prefix.count)) }, elements.map(\.index)))
            }
            self.nodes = nodes
            self.nodeOfField = nodeOfField
        }
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
    let plans: [Plan]
    var slots: [Slot]
    var stamp = 0
    var bytes: [UInt8] = []
    var decimals: [DecimalNumber] = []

    /// Makes a reader of the records of a model.
    public init(model: ManagedObjectModel) {
        self.model = model
        entityNames = JSONNameTable(model.entities.map(\.name.text))
        plans = model.entities.map { Plan($0.layout) }
        slots = Array(repeating: Slot(), count: model.entities.map(\.layout.fields.count).max() ?? 0)
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
        let plan = plans[entity]
        let layout = plan.layout
        var header = Header(entity: layout.entity)
        while try reader.nextKey() { try readMember(in: plan.nodes[0], plan, &header, from: &reader) }
        guard let key = header.key else {
            throw reader.error("a record of '\(layout.entity)' has no \"id\"; give every record its key")
        }
        batch.beginRecord(layout, key: key, version: header.version)
        do throws(StoreError) {
            for index in layout.fields.indices where slots[index].stamp == stamp {
                try set(layout.fields[index], in: &batch)
            }
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
        in node: Node, _ plan: Plan, _ header: inout Header, from reader: inout JSONTokenReader
    ) throws(StoreError) {
        guard let index = reader.index(in: node.names) else { throw unknown(reader, node.names.names, header) }
        let member = node.members[index]
        guard member >= 0 else { return try readHeader(member, &header, from: &reader) }
        guard try reader.next() != .null else { return }
        guard slots[member].stamp != stamp else {
            throw reader.error("property '\(plan.layout.fields[member].name)' of \(header.description) is given twice")
        }
        slots[member].stamp = stamp
        let elements = plan.nodeOfField[member]
        guard elements > 0 else { return try readValue(of: plan.layout.fields[member], header, from: &reader) }
        guard reader.token == .beginObject else { throw wrongValue(reader, plan.layout.fields[member], header) }
        let composite = plan.nodes[elements]
        // As deep as the model's composites, whatever the text.
        while try reader.nextKey() { try readMember(in: composite, plan, &header, from: &reader) }
    }

    /// Reads a member that is no property.
    private func readHeader(
        _ member: Int, _ header: inout Header, from reader: inout JSONTokenReader
    ) throws(StoreError) {
        guard member != Node.entity else {
            throw reader.error("\"entity\" may only be the first key of a record, where the record says its own entity")
        }
        _ = try reader.next()
        if member == Node.id {
            guard let key = reader.integer, key > 0 else {
                throw reader.mismatch("\"id\" of \(header.description): a whole number above 0")
            }
            header.key = key
        } else {
            guard let version = reader.integer.flatMap(UInt32.init(exactly:)) else {
                throw reader.mismatch("\"version\" of \(header.description): a whole number of 32 bits")
            }
            header.version = version
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
