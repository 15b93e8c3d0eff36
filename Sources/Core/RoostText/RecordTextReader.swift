package import RoostCore
internal import RoostJSONText

/// Reads what ``RecordTextWriter`` writes, or a person: one record out of one JSON object.
///
/// The members may come in any order. `id` must be there, `version` may be missing and is 1 then; a
/// property that is missing or null is null. Names are resolved once, when the reader is made. It
/// is used again and again, so that reading a record allocates nothing.
///
/// Not `Sendable`: use it from one thread at a time.
package struct RecordTextReader {
    /// The keys of a record, or of a composite in it, and what each means: a field's position, or
    /// one of the numbers below.
    ///
    /// A class, so that finding a key copies no tables.
    final class Node {
        static let id = -1
        static let version = -2
        static let entity = -3

        let names: JSONNameTable
        let members: [Int]
        // One thread uses a node, and only here: no access can overlap another.
        /// For each key, the record that had it last.
        @exclusivity(unchecked) fileprivate var stamps: [Int]
        /// For each key, the index of the key that last followed it, as a guess for the next time;
        /// the last element is the first key's index.
        @exclusivity(unchecked) fileprivate var followers: [Int]

        init(_ names: [String], members: [Int]) {
            self.names = JSONNameTable(names)
            self.members = members
            stamps = Array(repeating: 0, count: names.count)
            followers = Array(repeating: 0, count: names.count + 1)
        }

        /// Finds the key that is the reader's current token, and remembers which key it followed.
        ///
        /// - Parameters:
        ///   - reader: A reader at the key.
        ///   - previous: The index of the key before it; the number of names for the first key.
        /// - Returns: The index of the key; nil for an unknown key.
        fileprivate func index(of reader: borrowing JSONTokenReader, after previous: Int) -> Int? {
            reader.withText { key in
                let guess = followers[previous]
                if names.holds(key, at: guess) { return guess }
                guard let index = names.index(of: key) else { return nil }
                followers[previous] = index
                return index
            }
        }
    }

    /// The properties that the records of an entity can have in a text.
    final class Plan {
        let layout: RecordLayout
        /// The record itself, then its composites.
        let nodes: [Node]
        /// For each field that is a composite, its node; 0 for any other.
        let nodeOfField: [Int]

        init(_ layout: RecordLayout) {
            self.layout = layout
            let fields = layout.fields
            // An element with a value in a null composite is written at the top, by its path.
            var nodes = [
                Node(
                    RecordText.reservedKeys + fields.map(RecordText.key),
                    members: [Node.id, Node.version, Node.entity] + Array(fields.indices))
            ]
            var nodeOfField = Array(repeating: 0, count: fields.count)
            for composite in fields where composite.kind == .composite {
                let prefix = composite.name + "."
                let elements = fields.filter {
                    $0.name.hasPrefix(prefix) && !$0.name.dropFirst(prefix.count).contains(".")
                }
                nodeOfField[composite.index] = nodes.count
                nodes.append(
                    Node(elements.map { String($0.name.dropFirst(prefix.count)) }, members: elements.map(\.index)))
            }
            self.nodes = nodes
            self.nodeOfField = nodeOfField
        }
    }

    let model: ManagedObjectModel
    let entityNames: JSONNameTable
    let plans: [Plan]
    /// The form in which records are written, for reading it faster.
    let written: RecordTextWriter
    let draft: RecordDraft

    /// Makes a reader of the records of a model.
    package init(model: ManagedObjectModel) {
        self.model = model
        entityNames = JSONNameTable(model.entities.map(\.name.text))
        plans = model.entities.map { Plan($0.layout) }
        written = RecordTextWriter(model: model)
        draft = RecordDraft(model.entities.map(\.layout))
    }

    /// Returns the number of the entity that a reader's current token, a string or a key, names;
    /// nil for an unknown name.
    package func entity(_ reader: borrowing JSONTokenReader) -> Int? { reader.index(in: entityNames) }

    /// Reads a record, whose object begins with the next token, and appends it to a batch.
    ///
    /// - Parameters:
    ///   - entity: The number of the record's entity, which is not abstract.
    ///   - reader: A reader before the object; after it on return.
    ///   - batch: A batch of the reader's model.
    /// - Throws: The token reader's errors, and its ``JSONTokenReader/errorCode`` with line,
    ///   column, entity, id (if read already) and property: for an unknown property, with the
    ///   nearest known one; a value of the wrong type or out of range; an object without `id`. The
    ///   batch is unchanged after an error.
    package mutating func read(
        _ entity: Int, from reader: inout JSONTokenReader, into batch: inout RecordBatch
    ) throws(StoreError) {
        guard try reader.next() == .beginObject else { throw reader.mismatch("a record, an object,") }
        try readMembers(entity, from: &reader, into: &batch)
    }

    /// Reads the members of a record whose `{`, and perhaps its `entity`, were read already.
    ///
    /// - Parameters:
    ///   - entity: The number of the record's entity, which is not abstract.
    ///   - reader: A reader before a key or the end of the object; after the object on return.
    ///   - batch: A batch of the reader's model.
    /// - Throws: As ``read(_:from:into:)``.
    package mutating func readMembers(
        _ entity: Int, from reader: inout JSONTokenReader, into batch: inout RecordBatch
    ) throws(StoreError) {
        let plan = plans[entity]
        let layout = plan.layout
        draft.begin(layout)
        var header = Header(entity: layout.entity)
        try readMembers(of: plan.nodes[0], plan: plan, header: &header, from: &reader)
        guard let key = header.key else {
            throw reader.error("a record of '\(layout.entity)' has no \"id\"; give every record its key")
        }
        do throws(StoreError) {
            try draft.finish(key: key, version: header.version, into: &batch)
        } catch {
            throw error.withMessage(reader.error(error.message).message)
        }
    }

    /// The parts of a record that are not properties.
    struct Header {
        let entity: EntityName
        var key: Int64?
        var version: UInt32 = 1

        /// The record, for messages.
        var description: String { key.map { "\(ObjectID(entity, key: $0))" } ?? "a record of '\(entity)'" }
    }

    /// Reads the members of a record or of a composite in it, up to the end of the object.
    ///
    /// As deep as the model's composites, whatever the text.
    private mutating func readMembers(
        of node: Node, plan: Plan, header: inout Header, from reader: inout JSONTokenReader
    ) throws(StoreError) {
        let fields = plan.layout.fields
        var previous = node.members.count
        while try reader.nextKnownKey() {
            guard let index = node.index(of: reader, after: previous) else {
                throw unknown(reader, names: node.names.names, header: header)
            }
            guard node.stamps[index] != draft.stamp else { throw reader.repeatedKey }
            node.stamps[index] = draft.stamp
            previous = index
            let member = node.members[index]
            guard member >= 0 else {
                try readHeader(member, header: &header, from: &reader)
                continue
            }
            guard try reader.next() != .null else { continue }
            // Out of a span, because an element of an array would be copied, name and all.
            try readProperty(fields.span[member], plan: plan, header: &header, from: &reader)
        }
    }

    /// Reads a value that is not null, whose first token is the reader's current one.
    private mutating func readProperty(
        _ field: borrowing RecordLayout.Field, plan: Plan, header: inout Header, from reader: inout JSONTokenReader
    ) throws(StoreError) {
        guard draft.isNull(field) else {
            throw reader.error("property '\(field.name)' of \(header.description) is given twice")
        }
        guard field.kind == .composite else { return try readValue(of: field, header: header, from: &reader) }
        guard reader.token == .beginObject else { throw wrongValue(reader, field: field, header: header) }
        draft.setPresent(field)
        try readMembers(of: plan.nodes[plan.nodeOfField[field.index]], plan: plan, header: &header, from: &reader)
    }

    /// Reads a member that is not a property.
    private func readHeader(
        _ member: Int, header: inout Header, from reader: inout JSONTokenReader
    ) throws(StoreError) {
        guard member != Node.entity else {
            throw reader.error("\"entity\" may only be the first key of a record, where the record says its own entity")
        }
        _ = try reader.next()
        if member == Node.id {
            guard let key = reader.integer, key > 0 else {
                throw reader.integerMismatch("\"id\" of \(header.description): a whole number above 0")
            }
            header.key = key
        } else {
            guard let version = reader.integer.flatMap(UInt32.init(exactly:)) else {
                throw reader.integerMismatch("\"version\" of \(header.description): a whole number of 32 bits")
            }
            header.version = version
        }
    }

    // MARK: Errors

    @inline(never)
    private func unknown(
        _ reader: borrowing JSONTokenReader, names: [String], header: Header
    ) -> StoreError {
        let key = reader.text
        let hint = nearestName(to: key, among: names).map { "; did you mean '\($0)'?" } ?? ""
        return reader.error("\(header.description) has no property '\(JSONTokenizer.printable(key))'\(hint)")
    }

    @inline(never)
    func wrongValue(
        _ reader: borrowing JSONTokenReader, field: borrowing RecordLayout.Field, header: Header
    ) -> StoreError {
        let expected = RecordText.expectation(field.kind)
        let what = "property '\(field.name)' of \(header.description)"
        // A token of the right kind has the wrong content, and is not to be called the opposite of
        // what is expected.
        let found =
            switch field.kind {
            case .integer16, .integer32, .integer64, .order, .reference: reader.tokens.descriptionOfWrongInteger
            case .double, .float, .date:
                reader.token == .number ? JSONTokenizer.outOfRange : "\(reader.tokenDescription) was found"
            case .decimal: reader.tokens.descriptionOfWrongDecimal
            default: "\(reader.tokenDescription) was found"
            }
        return reader.error("\(what): \(expected) is expected, and \(found)")
    }
}
