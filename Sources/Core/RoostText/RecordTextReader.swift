package import RoostCore
internal import RoostJSONText

/// A reader of records from JSON objects that ``RecordTextWriter`` or a person wrote.
///
/// The caller reads `entity`, the first member of a dump's line. The other members may be in any
/// order. `id` is required. `version` is 1 by default. A missing property is null. Reading most
/// values allocates nothing.
///
/// Use the reader from one thread at a time.
package struct RecordTextReader {
    /// The JSON keys of a record or of a composite in it.
    ///
    /// For each key, `members` contains the index of a field or one of the constants below.
    ///
    /// The type is a class, so that finding a key does not copy the tables.
    final class Node {
        static let id = -1
        static let version = -2
        static let entity = -3

        let names: JSONNameTable
        let members: [Int]
        // SAFETY: one thread uses a node, and no access runs other code, so accesses cannot overlap.
        /// For each key, the ``RecordDraft/stamp`` of the last record that contained the key.
        @exclusivity(unchecked) fileprivate var stamps: [Int]
        /// For each key, the index of the key that followed it last time, as a guess.
        ///
        /// The last element is the guess for an object's first key.
        @exclusivity(unchecked) fileprivate var followers: [Int]

        init(_ names: [String], members: [Int]) {
            self.names = JSONNameTable(names)
            self.members = members
            stamps = Array(repeating: 0, count: names.count)
            followers = Array(repeating: 0, count: names.count + 1)
        }

        /// Finds the key at the reader's current token, and stores it as the follower of
        /// `previous`.
        ///
        /// For an object's first key, `previous` is the count of the node's keys.
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
        /// The node of the record itself, followed by those of its composites.
        let nodes: [Node]
        /// For each field, the index of its node; 0 if the field is not a composite.
        let nodeOfField: [Int]

        init(_ layout: RecordLayout) {
            self.layout = layout
            let fields = layout.fields
            // The elements of a null composite can have values. These are in the record itself, with dotted paths, so
            // the record's node has keys for them.
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
    /// The writer whose format ``readWritten(_:from:into:)`` reads.
    let written: RecordTextWriter
    let draft: RecordDraft

    package init(model: ManagedObjectModel) {
        self.model = model
        entityNames = JSONNameTable(model.entities.map(\.name.text))
        plans = model.entities.map { Plan($0.layout) }
        written = RecordTextWriter(model: model)
        draft = RecordDraft(model.entities.map(\.layout))
    }

    /// Returns the number of the entity whose name is the reader's current string or key, or nil.
    package func entity(_ reader: borrowing JSONTokenReader) -> Int? { reader.index(in: entityNames) }

    /// Reads an object as a record of `entity`, which must not be abstract, and appends it to a
    /// batch.
    ///
    /// - Throws: The token reader's errors; `limitExceeded`; ``JSONTokenReader/errorCode`` for an
    ///   unknown or repeated property, a wrong value, or a missing `id`. The message contains the
    ///   position, the record and the property. After an error the batch is unchanged.
    package mutating func read(
        _ entity: Int, from reader: inout JSONTokenReader, into batch: inout RecordBatch
    ) throws(StoreError) {
        guard try reader.next() == .beginObject else { throw reader.mismatch("a record, an object,") }
        try readMembers(entity, from: &reader, into: &batch)
    }

    /// Reads the members of a record whose `{`, and possibly `entity`, have been read.
    ///
    /// - Throws: The errors of ``read(_:from:into:)``.
    package mutating func readMembers(
        _ entity: Int, from reader: inout JSONTokenReader, into batch: inout RecordBatch
    ) throws(StoreError) {
        let plan = plans[entity]
        let layout = plan.layout
        draft.begin(layout)
        var header = Header(entity: layout.entity)
        try readMembers(of: plan.nodes[0], plan: plan, header: &header, from: &reader)
        guard let key = header.key else {
            throw reader.error("a record of '\(layout.entity)' has no \"id\"; give every record an \"id\"")
        }
        do throws(StoreError) {
            try draft.finish(key: key, version: header.version, into: &batch)
        } catch {
            throw error.withMessage(reader.error(error.message).message)
        }
    }

    /// The members of a record that are not properties.
    struct Header {
        let entity: EntityName
        var key: Int64?
        var version: UInt32 = 1

        var description: String { key.map { "\(ObjectID(entity, key: $0))" } ?? "a record of '\(entity)'" }
    }

    /// Reads members up to the end of the object.
    ///
    /// The nesting of the model's composites limits the recursion, whatever the text contains.
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
            // The span avoids copying the field and its name.
            try readProperty(fields.span[member], plan: plan, header: &header, from: &reader)
        }
    }

    /// Reads a value that is not null; the reader is at the value's first token.
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

    private func readHeader(
        _ member: Int, header: inout Header, from reader: inout JSONTokenReader
    ) throws(StoreError) {
        guard member != Node.entity else {
            throw reader.error(
                "\"entity\" of \(header.description) is unexpected; only a line of a dump has this key, as the first key of the line"
            )
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
        // A token of the right kind can have wrong content, so the message must describe the content.
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
