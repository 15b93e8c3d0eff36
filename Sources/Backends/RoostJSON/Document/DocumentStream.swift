internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// Reads the lists of a document from the first to the last, in constant memory.
///
/// The document must have a checksum, because manual edits can change the order of the lists and
/// their elements. At the end, the contents are checked against the checksum and the tally.
final class DocumentStream {
    /// A list of records or links, compared by its position in a document.
    enum List: Comparable {
        case records(entity: Int)
        case links(relationship: Int)
    }

    let head: DocumentHead
    let model: ManagedObjectModel
    let tail: DocumentTail
    private let file: DocumentFile
    // Only one thread uses a stream, and its methods call no code that uses the stream, so accesses
    // cannot overlap.
    @exclusivity(unchecked) private var text: JSONTokenReader
    @exclusivity(unchecked) private var records: RecordTextReader
    /// The current list, or nil after the last one.
    private(set) var next: List?
    /// The list before the current list, or nil at the first list.
    private var last: List?
    private var isInLinks = false
    /// The key or the link that was last read from the current list.
    private var lastKey: Int64 = 0
    private var lastLink = Link(0, 0)
    private var tally: StoreTally

    /// Reads everything before the first list.
    ///
    /// Returns nil if the document must be read as a whole, for example because it has no checksum
    /// or no tally.
    init?(_ file: DocumentFile) throws(StoreError) {
        var text = file.reader(computesChecksum: true)
        var head = DocumentHead()
        try text.expect(.beginObject, "a document, an object,")
        var last: DocumentFormat.Member?
        while true {
            guard try text.nextKey() else { return nil }
            let member = try DocumentHead.member(text, after: last, isLoading: false)
            last = member
            if member == .records { break }
            guard member.rawValue < DocumentFormat.Member.records.rawValue else { return nil }
            try head.read(member, text: &text)
        }
        try text.expect(.beginObject, "the lists of records, an object,")
        let (_, model) = try head.require(text)
        guard let tail = try DocumentTail(file, model: model, generation: head.generation) else { return nil }
        self.file = file
        self.head = head
        self.model = model
        self.tail = tail
        self.text = text
        records = RecordTextReader(model: model)
        tally = StoreTally(model: model)
        tally.generation = head.generation
        do throws(StoreError) { try advance() } catch { throw try Self.explain(error, file: file) }
        // All streams of this file must read the same contents, so the file must be unchanged.
        try file.requireUnchanged()
    }

    /// Moves to a list, which must have elements according to the tally.
    func enter(_ list: List) throws(StoreError) {
        while let next, next < list { try skip() }
        guard next == list else { throw DocumentTail.mismatch(file) }
    }

    /// Returns whether the stream can still reach a list.
    func isBefore(_ list: List) -> Bool { last.map { $0 < list } ?? true }

    /// Skips the rest of the current list.
    func skip() throws(StoreError) {
        let skipped = next
        switch skipped {
        case .records:
            var batch = RecordBatch(model: model)
            while next == skipped { _ = try read(into: &batch) }
        case .links(let relationship):
            var batch = LinkBatch(relationship: relationship)
            while next == skipped { _ = try read(into: &batch) }
        case nil: break
        }
    }

    // MARK: Elements

    /// Replaces the contents of a batch with the next records of the current list.
    ///
    /// After the last records of a list, the next list becomes current. Returns false, with an
    /// empty batch, if nothing was read.
    func read(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        guard case .records(let entity) = next else { return false }
        do throws(StoreError) {
            var isAtEnd = false
            while !batch.isFull, !isAtEnd {
                records.readWritten(entity, from: &text, into: &batch)
                guard !batch.isFull else { break }
                if try text.nextElement() {
                    guard text.token == .beginObject else { throw text.mismatch("a record, an object,") }
                    try records.readMembers(entity, from: &text, into: &batch)
                } else {
                    isAtEnd = true
                }
            }
            for index in 0..<batch.count {
                guard batch.key(at: index) > lastKey else { throw unordered("records") }
                lastKey = batch.key(at: index)
            }
            tally.add(batch)
            if isAtEnd { try advance() }
        } catch {
            throw try Self.explain(error, file: file)
        }
        return !batch.isEmpty
    }

    /// Reads links like the method for records.
    func read(into batch: inout LinkBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        guard case .links(let number) = next else { return false }
        do throws(StoreError) {
            let relationship = model.relationships[number]
            var isAtEnd = false
            while !batch.isFull, !isAtEnd {
                if try text.nextElement() {
                    let link = try LinkText.read(from: &text, of: relationship)
                    guard relationship.normalized(link) == link,
                        (lastLink.source, lastLink.order, lastLink.target) < (link.source, link.order, link.target)
                    else { throw unordered("links") }
                    lastLink = link
                    batch.links.append(link)
                } else {
                    isAtEnd = true
                }
            }
            tally.add(batch)
            if isAtEnd { try advance() }
        } catch {
            throw try Self.explain(error, file: file)
        }
        return !batch.links.isEmpty
    }

    private static func explain(_ error: StoreError, file: DocumentFile) throws(StoreError) -> StoreError {
        try file.requireUnchanged()
        return try DocumentChecksum.explain(error, file: file)
    }

    private func unordered(_ what: String) -> StoreError {
        text.error(
            "the \(what) of this document are not in the order in which Roost writes them, although the document has a checksum; remove the line that begins with , \"checksum\""
        )
    }

    // MARK: From list to list

    /// Moves into the next list or, after the last list, reads the rest of the document.
    private func advance() throws(StoreError) {
        last = next ?? last
        next = nil
        lastKey = 0
        lastLink = Link(0, 0, order: .min)
        while true {
            if try text.nextKey() {
                let list = try self.list()
                guard isBefore(list) else { throw unordered("lists") }
                // Readers never enter a list that is empty according to the tally, so the document must not
                // contain such a list.
                guard tail.count(of: list) > 0 else { throw DocumentTail.mismatch(file) }
                try text.expect(.beginArray, "a list")
                next = list
                return
            }
            guard !isInLinks else { return try readEnd() }
            guard try text.nextKey(), text.text == DocumentFormat.Member.links.key else { throw unordered("lists") }
            try text.expect(.beginObject, "the lists of links, an object,")
            isInLinks = true
        }
    }

    /// Returns the list whose name is the current JSON key.
    private func list() throws(StoreError) -> List {
        let name = text.text
        if isInLinks {
            guard let relationship = model.linkRelationships.first(where: { $0.name.description == name }) else {
                throw text.unknown(
                    "relationship with links", name: "'\(name)'", among: model.linkRelationships.map(\.name.description)
                )
            }
            return .links(relationship: relationship.number)
        }
        guard let entity = model.entities.first(where: { $0.name.text == name }), !entity.isAbstract else {
            throw text.unknown("entity", name: "'\(name)'", among: model.entities.map(\.name.text))
        }
        return .records(entity: entity.number)
    }

    /// Reads the rest of the document, and checks the checksum and the tally.
    private func readEnd() throws(StoreError) {
        while try text.nextKey() {
            guard text.text != DocumentFormat.Member.checksum.key else {
                _ = try DocumentChecksum.read(&text, file: file)
                break
            }
            try text.skipValue()
        }
        guard try !text.nextKey(), try text.next() == .end else { throw text.mismatch("the end of the document") }
        guard tally == tail.tally else { throw DocumentTail.mismatch(file) }
        try file.requireUnchanged()
    }
}
