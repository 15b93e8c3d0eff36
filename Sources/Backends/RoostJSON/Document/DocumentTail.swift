internal import RoostCore
internal import RoostJSONText
internal import RoostSystem
internal import RoostText

/// The last keys and the tally, which can be read without the rest of the document.
struct DocumentTail: Sendable {
    /// The maximum number of bytes from the tail's beginning to the file's end.
    private static let maximumByteCount = 1 << 18

    /// The highest used or reserved key of each hierarchy, by the number of its root entity.
    var lastKeys: [Int: Int64] = [:]
    var tally: StoreTally

    init(_ tally: StoreTally, lastKeys: [Int: Int64]) {
        self.tally = tally
        self.lastKeys = lastKeys
    }

    func count(of list: DocumentStream.List) -> Int {
        switch list {
        case .records(let entity): tally.entities[entity].count
        case .links(let relationship): tally.relationships[relationship].count
        }
    }

    // MARK: Writing

    func append(to text: inout TextBuffer, model: ManagedObjectModel) {
        Self.begin(.lastKeys, text: &text)
        var isFirst = true
        for root in model.roots {
            guard let last = lastKeys[root], last > 0 else { continue }
            Self.name(model.entities[root].name.text, isFirst: &isFirst, text: &text)
            JSONText.append(last, to: &text)
        }
        text.append("},\n")
        Self.begin(.tally, text: &text)
        isFirst = true
        for entity in model.entities {
            Self.append(tally.entities[entity.number], name: entity.name.text, isFirst: &isFirst, text: &text)
        }
        for relationship in model.linkRelationships {
            Self.append(
                tally.relationships[relationship.number], name: relationship.name.description, isFirst: &isFirst,
                text: &text)
        }
        text.append("}")
    }

    private static func begin(_ member: DocumentFormat.Member, text: inout TextBuffer) {
        JSONText.append(member.key, to: &text)
        text.append(": {")
    }

    private static func name(_ name: String, isFirst: inout Bool, text: inout TextBuffer) {
        if !isFirst { text.append(", ") }
        isFirst = false
        JSONText.append(name, to: &text)
        text.append(": ")
    }

    private static func append(_ tally: Tally, name: String, isFirst: inout Bool, text: inout TextBuffer) {
        guard tally != Tally() else { return }
        Self.name(name, isFirst: &isFirst, text: &text)
        text.append("[")
        JSONText.append(Int64(tally.count), to: &text)
        text.append(", ")
        JSONText.append(tally.sum.hexadecimal, to: &text)
        text.append("]")
    }

    // MARK: Reading

    /// Reads the tail, or returns nil if it is missing or invalid.
    ///
    /// The tail can be trusted only after the document was compared with the tally and the
    /// checksum.
    init?(_ file: DocumentFile, model: ManagedObjectModel, generation: Generation) throws(StoreError) {
        let start = max(0, file.byteCount - Self.maximumByteCount)
        let bytes = try file.read(at: start, count: file.byteCount - start)
        // Line breaks in strings are escaped, so this text occurs only where a member begins. The
        // model may contain a member with this name, but the model precedes the tail, so the last
        // occurrence counts.
        let line = Array("\n\"\(DocumentFormat.Member.lastKeys.key)\": ".utf8)
        guard let place = bytes.indices.last(where: { bytes[$0] == line[0] && bytes[$0...].starts(with: line) }) else {
            return nil
        }
        var text = JSONTokenReader([UInt8(ascii: "{")] + bytes[(place + 1)...], name: file.path)
        lastKeys = [:]
        tally = StoreTally(model: model)
        tally.generation = generation
        // If the tail is invalid, reading the whole document reports the error.
        let isRead = try? read(&text, model: model)
        guard isRead ?? false else { return nil }
    }

    static func mismatch(_ file: DocumentFile) -> StoreError {
        StoreError(
            .corrupted,
            "'\(file.path)': the records and links do not match the member 'tally' of the document; restore the document from a copy."
        )
    }

    private mutating func read(_ text: inout JSONTokenReader, model: ManagedObjectModel) throws(StoreError) -> Bool {
        guard try text.next() == .beginObject, try text.nextKey(), try text.next() == .beginObject else { return false }
        while try text.nextKey() {
            let name = text.text
            _ = try text.next()
            guard let entity = model.entities.first(where: { $0.name.text == name }), let key = text.integer, key >= 0
            else {
                return false
            }
            lastKeys[entity.root] = key
        }
        guard try text.nextKey(), text.text == DocumentFormat.Member.tally.key, try text.next() == .beginObject else {
            return false
        }
        while try text.nextKey() {
            let name = text.text
            guard try text.next() == .beginArray, try text.next() == .number, let count = text.integer, count > 0,
                Tally.canBe(count: Int(count)),
                try text.next() == .string, let sum = UInt64(text.text, radix: 16), try text.next() == .endArray
            else { return false }
            let found = Tally(count: Int(count), sum: sum)
            if let entity = model.entities.first(where: { $0.name.text == name }) {
                tally.entities[entity.number] = found
            } else if let relationship = model.linkRelationships.first(where: { $0.name.description == name }) {
                tally.relationships[relationship.number] = found
            } else {
                return false
            }
        }
        return try text.nextKey() && text.text == DocumentFormat.Member.checksum.key
    }
}
