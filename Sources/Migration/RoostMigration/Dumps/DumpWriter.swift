internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// A writer of a snapshot's content as a dump.
struct DumpWriter: ~Copyable {
    private static let chunkByteCount = 128 * 1024

    private let snapshot: any StoreSnapshot
    private let store: any PersistentStore
    private let cancellation: ConversionCancellation?
    private let sink: ([UInt8]) throws(StoreError) -> Void
    private let records: RecordTextWriter
    private var scope: DumpScope
    private var tally: StoreTally
    private var found: FoundContent
    private var text = TextBuffer()
    private var checksum = TextChecksum()

    init(
        _ snapshot: any StoreSnapshot, of store: any PersistentStore, scope: DumpScope,
        cancellation: ConversionCancellation?, to sink: @escaping ([UInt8]) throws(StoreError) -> Void
    ) {
        self.snapshot = snapshot
        self.store = store
        self.scope = scope
        self.cancellation = cancellation
        self.sink = sink
        records = RecordTextWriter(model: snapshot.model)
        tally = StoreTally(model: snapshot.model)
        found = FoundContent(snapshot.model)
    }

    mutating func write(_ metadata: StoreMetadata) throws(StoreError) -> StoreDigest {
        let model = snapshot.model
        try writeHeader(metadata)
        for root in model.roots where scope.includesAny(ofHierarchyOf: root) {
            try writeRecords(of: model.entities[root])
        }
        for relationship in model.linkRelationships
        where scope.includesAny(ofHierarchyOf: relationship.source)
            || scope.includesAny(ofHierarchyOf: relationship.destination)
        {
            try writeLinks(of: relationship)
        }
        // 'load' refuses a text without its last line, so a failed check leaves no usable dump.
        try found.requireRecorded(try snapshot.recordedTally(), store: store)
        try writeTrailer()
        return tally.digest
    }

    private mutating func flush(always: Bool = false) throws(StoreError) {
        guard always || text.count >= Self.chunkByteCount else { return }
        let bytes = text.bytes
        checksum.add(bytes)
        try sink(bytes)
        text.removeAll()
    }

    private mutating func writeHeader(_ metadata: StoreMetadata) throws(StoreError) {
        let model = snapshot.model
        var lastKeys: [JSONMember] = []
        for root in model.roots {
            let name = model.entities[root].name
            let key = try snapshot.lastKey(of: name)
            if key > 0 { lastKeys.append(JSONMember(name.text, .number("\(key)"))) }
        }
        var members = [
            JSONMember("format", .string(DumpFormat.name)),
            JSONMember("formatVersion", .number("\(DumpFormat.version)")),
            JSONMember("storeUUID", .string(metadata.storeUUID.description)),
        ]
        if !scope.isWhole {
            members.append(JSONMember("entities", .array(scope.entityNames.map { JSONNode(.string($0)) })))
        }
        members.append(JSONMember("lastKeys", .object(lastKeys)))
        members.append(JSONMember("model", try Self.tree(model.document(), what: "model")))
        members.append(
            JSONMember("metadata", try Self.tree(MetadataDocument.encode(metadata.userMetadata), what: "metadata")))
        JSONText.append(JSONNode(.object(members)), to: &text)
        text.append(UInt8(ascii: "\n"))
    }

    /// Parses a document, so that it can be written on one line.
    private static func tree(_ document: [UInt8], what: String) throws(StoreError) -> JSONNode.Content {
        do throws(JSONSyntaxError) { return try JSONNode(document).content } catch {
            throw StoreError(.internalInconsistency, "The store's \(what) cannot be written as JSON: \(error)")
        }
    }

    private mutating func writeRecords(of root: ManagedObjectModel.Entity) throws(StoreError) {
        let cursor = try snapshot.records(of: root.name, after: nil)
        var batch = RecordBatch(model: snapshot.model)
        var isWhole = true
        for number in root.selfAndSubentities where !scope.includes(number) { isWhole = false }
        _ = found.begins(root.selfAndSubentities.filter { scope.includes($0) })
        var lastKey: Int64 = 0
        while try cursor.next(into: &batch) {
            try cancellation?.check()
            for index in 0..<batch.count {
                guard batch.key(at: index) > lastKey else {
                    throw Self.outOfOrder("\(batch.id(at: index))", store: store)
                }
                lastKey = batch.key(at: index)
            }
            if !isWhole { batch = included(batch) }
            found.add(batch)
            scope.note(batch)
            for index in 0..<batch.count {
                try batch.withRecord(at: index) { (record) throws(StoreError) in
                    try records.append(record, entityKey: true, to: &text)
                    tally.entities[record.entityNumber].add(record.computedContentHash)
                }
                text.append(UInt8(ascii: "\n"))
                try flush()
            }
        }
    }

    private func included(_ batch: RecordBatch) -> RecordBatch {
        var result = RecordBatch(model: batch.model)
        for index in 0..<batch.count where scope.includes(batch.entityNumber(at: index)) {
            result.append(batch, at: index)
        }
        return result
    }

    private mutating func writeLinks(of relationship: ManagedObjectModel.Relationship) throws(StoreError) {
        let cursor = try snapshot.links(of: relationship.name, after: nil)
        var batch = LinkBatch(relationship: relationship.number)
        _ = found.begins(linksOf: relationship.number)
        var last: Link?
        while try cursor.next(into: &batch) {
            try cancellation?.check()
            found.add(batch)
            for link in batch.links {
                if let last, (last.source, last.order, last.target) >= (link.source, link.order, link.target) {
                    throw Self.outOfOrder("a link of '\(relationship.name)'", store: store)
                }
                last = link
            }
            if !scope.isWhole { batch.links = batch.links.filter { includes($0, relationship: relationship) } }
            tally.add(batch)
            for start in stride(from: 0, to: batch.count, by: DumpFormat.linksPerLine) {
                text.append("{\"links\": ")
                JSONText.append(relationship.name.description, to: &text)
                text.append(", \"pairs\": [")
                for index in start..<min(batch.count, start + DumpFormat.linksPerLine) {
                    if index > start { text.append(", ") }
                    LinkText.append(batch.links[index], to: &text)
                }
                text.append("]}\n")
                try flush()
            }
        }
    }

    private static func outOfOrder(_ what: String, store: any PersistentStore) -> StoreError {
        StoreError(
            .corrupted,
            "'\(store.location.path)' is damaged: \(what) is out of order. Restore the file from a backup."
        )
    }

    private mutating func includes(_ link: Link, relationship: ManagedObjectModel.Relationship) -> Bool {
        scope.includes(key: link.source, inHierarchyOf: relationship.source)
            || scope.includes(key: link.target, inHierarchyOf: relationship.destination)
    }

    private mutating func writeTrailer() throws(StoreError) {
        let digest = tally.digest
        text.append(contentsOf: "{\"end\": {\"objects\": \(digest.objectCount), \"links\": \(digest.linkCount), ".utf8)
        text.append(contentsOf: "\"digest\": \"\(digest)\", ".utf8)
        try flush(always: true)
        text.append(contentsOf: "\"checksum\": \"\(checksum.text)\"}}\n".utf8)
        try flush(always: true)
    }
}
