internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// A reader of a dump, line by line.
final class DumpReader {
    private var tokens: JSONTokenReader
    /// The tally of all lines read; for a complete dump, a copy of ``sent``.
    private var found: StoreTally
    /// The tally of the content sent to the destination.
    private(set) var sent: StoreTally
    private(set) var dangling: DanglingReferences
    private(set) var warnings: [String] = []
    let header: DumpHeader
    private let cancellation: ConversionCancellation?
    private var records: RecordTextReader
    private var batch: RecordBatch
    /// A batch for the current line's record, used if references may have to be dropped.
    private var single: RecordBatch
    private var links: LinkBatch
    private let relationships: JSONNameTable
    private var sawLinks = false

    init(
        name: String, cancellation: ConversionCancellation?, source: @escaping JSONTokenReader.Source
    ) throws(StoreError) {
        var tokens = JSONTokenReader(name: name, syntax: .lines, computesChecksum: true, source: source)
        let header = try DumpHeader(from: &tokens)
        self.tokens = tokens
        self.header = header
        self.cancellation = cancellation
        let model = header.model
        found = StoreTally(model: model)
        sent = StoreTally(model: model)
        dangling = DanglingReferences(header.scope)
        records = RecordTextReader(model: model)
        batch = RecordBatch(model: model)
        single = RecordBatch(model: model)
        links = LinkBatch(relationship: 0)
        relationships = JSONNameTable(model.relationships.map { $0.ownsLinks ? $0.name.description : "" })
    }

    /// Reads all lines after the first into a channel, and compares their content with the last
    /// line.
    ///
    /// Returns false if the channel's receiver stopped the exchange.
    func read(into channel: BatchChannel) throws(StoreError) -> Bool {
        while true {
            guard try tokens.next() != .end else {
                throw tokens.error("the dump ends without its last line, so it was cut off; make it again")
            }
            guard tokens.token == .beginObject, try tokens.nextKey(), let kind = tokens.index(in: DumpFormat.lineKeys)
            else {
                throw tokens.error("a line of a dump is an object that begins with \"entity\", \"links\" or \"end\"")
            }
            switch kind {
            case 0: guard try readRecord(into: channel) else { return false }
            case 1: guard try readLinks(into: channel) else { return false }
            default:
                guard try sendRecords(into: channel), try sendLinks(into: channel) else { return false }
                try readTrailer()
                return true
            }
        }
    }

    // MARK: Records

    private func readRecord(into channel: BatchChannel) throws(StoreError) -> Bool {
        guard !sawLinks else { throw tokens.error("a record follows links; all records come before links") }
        let model = header.model
        try tokens.expect(.string, "the name of an entity")
        guard let entity = records.entity(tokens) else {
            let hint = nearestName(to: tokens.text, among: model.entities.map(\.name.text)).map {
                "; did you mean '\($0)'?"
            }
            throw tokens.error("the dump's model has no such entity\(hint ?? "")")
        }
        guard !model.entities[entity].isAbstract else {
            throw tokens.error("entity '\(model.entities[entity].name)' is abstract and has no objects of its own")
        }
        guard header.scope.includes(entity) else {
            throw tokens.error(
                "entity '\(model.entities[entity].name)' is not among the \"entities\" of the dump's first line")
        }
        if !batch.isEmpty,
            batch.isFull || model.entities[batch.entityNumber(at: 0)].root != model.entities[entity].root
        {
            guard try sendRecords(into: channel) else { return false }
        }
        guard !dangling.isPossible else {
            try records.readMembers(entity, from: &tokens, into: &single)
            found.add(single)
            try dangling.append(single, to: &batch)
            single.removeAll()
            return true
        }
        try records.readMembers(entity, from: &tokens, into: &batch)
        return true
    }

    private func sendRecords(into channel: BatchChannel) throws(StoreError) -> Bool {
        try cancellation?.check()
        guard !batch.isEmpty else { return true }
        sent.add(batch)
        let full = batch
        batch = channel.spareRecords(header.model)
        return channel.send(.records(full))
    }

    // MARK: Links

    private func readLinks(into channel: BatchChannel) throws(StoreError) -> Bool {
        if !sawLinks {
            guard try sendRecords(into: channel) else { return false }
            sawLinks = true
        }
        try tokens.expect(.string, "the name of a relationship")
        guard let number = tokens.index(in: relationships), header.model.relationships[number].ownsLinks else {
            throw tokens.error("the dump's model has no relationship of this name that is written as links")
        }
        let relationship = header.model.relationships[number]
        guard try tokens.nextKey(), tokens.index(in: DumpFormat.linksKeys) == 0 else {
            throw tokens.error("\"pairs\" is expected after the name of a relationship")
        }
        try tokens.expect(.beginArray, "a list of links")
        if links.relationship != number {
            guard try sendLinks(into: channel) else { return false }
            links.relationship = number
        }
        while try tokens.nextElement() {
            let link = relationship.normalized(try LinkText.read(from: &tokens, of: relationship))
            if dangling.isPossible {
                found.relationships[number].add(RecordHash.link(link, of: number))
                guard !dangling.leadsOut(link, relationship: relationship) else { continue }
            }
            links.links.append(link)
            if links.isFull, try !sendLinks(into: channel) { return false }
        }
        try tokens.expect(.endObject, "the end of the line")
        return true
    }

    private func sendLinks(into channel: BatchChannel) throws(StoreError) -> Bool {
        try cancellation?.check()
        guard !links.isEmpty else { return true }
        sent.add(links)
        let full = links
        links = channel.spareLinks(full.relationship)
        return channel.send(.links(full))
    }

    // MARK: The last line

    private func readTrailer() throws(StoreError) {
        if !dangling.isPossible { found = sent }
        let digest = found.digest
        try tokens.expect(.beginObject, "an object with the counts of the dump")
        var seen: Set<Int> = []
        while try tokens.nextKey() {
            let key = tokens.index(in: DumpFormat.trailerKeys)
            let checksum = tokens.checksumBeforeToken()
            switch key {
            case 0: try compareCount(digest.objectCount, what: "objects")
            case 1: try compareCount(digest.linkCount, what: "links")
            case 2: try compare(digest.description, message: "the objects and links do not match the digest")
            case 3:
                try compare(
                    checksum.map { TextChecksum.text($0) } ?? "", message: "the text does not match the checksum")
            default: throw tokens.error("the last line has a key that no dump of this version has")
            }
            if let key { seen.insert(key) }
        }
        guard seen.isSuperset(of: [0, 1]) else {
            throw tokens.error("the last line does not say how many objects and links there are")
        }
        for (key, what) in [(2, "digest"), (3, "checksum")] where !seen.contains(key) {
            warnings.append("The dump's last line has no \(what), so the dump was checked without one.")
        }
        try tokens.expect(.endObject, "the end of the line")
        guard try tokens.next() == .end else { throw tokens.error("there is text after the dump's last line") }
    }

    private func compareCount(_ count: Int, what: String) throws(StoreError) {
        _ = try tokens.next()
        guard let number = tokens.integer else { throw tokens.mismatch("the number of \(what)") }
        guard number == Int64(count) else {
            throw tokens.error(
                "the dump should hold \(number) \(what) and holds \(count); it is damaged, make it again")
        }
    }

    private func compare(_ text: String, message: String) throws(StoreError) {
        try tokens.expect(.string, "a string")
        guard tokens.text == text else { throw tokens.error("\(message); the dump is damaged or was edited") }
    }
}
