internal import RoostCore
internal import RoostJSONText
internal import RoostSystem
internal import RoostText

/// Writes the text of a document.
///
/// Equal contents give equal bytes. Callers append the records first, ordered by entity number and
/// key. The links follow, ordered by relationship number.
struct DocumentText {
    private let output: DocumentOutput
    private let model: ManagedObjectModel
    private let records: RecordTextWriter
    /// The entity whose records are being written.
    private var entity: Int?
    private var isInLinks = false
    /// The relationship whose links are being written.
    private var relationship: Int?

    /// Writes everything before the records.
    init(
        _ output: DocumentOutput, metadata: StoreMetadata, generation: Generation, foldedJournal: UInt64?,
        hasHistory: Bool = false
    ) throws(StoreError) {
        self.output = output
        model = metadata.model
        records = RecordTextWriter(model: model)
        append("{")
        key(.format)
        string(DocumentFormat.name)
        append(", ")
        key(.formatVersion)
        append("\(hasHistory ? DocumentFormat.featureVersion : DocumentFormat.version), ")
        if hasHistory {
            key(.requiredFeatures)
            append("[\"\(DocumentFormat.historyFeature)\"], ")
        }
        key(.storeUUID)
        string(metadata.storeUUID.description)
        append(",\n")
        key(.generation)
        append("\(generation)")
        if let foldedJournal {
            append(", ")
            key(.foldedJournal)
            string(foldedJournal.hexadecimal)
        }
        append(",\n")
        key(.model)
        output.text.append(contentsOf: Self.trimmed(model.document()))
        append(",\n")
        key(.metadata)
        output.text.append(contentsOf: try MetadataDocument.encode(metadata.userMetadata))
        append(",\n")
        key(.records)
        append("{")
    }

    private func append(_ text: String) { output.text.append(contentsOf: text.utf8) }

    private func key(_ member: DocumentFormat.Member) { append("\"\(member.key)\": ") }

    private func string(_ text: String) { JSONText.append(text, to: &output.text) }

    /// Returns `text` without its final line breaks.
    private static func trimmed(_ text: [UInt8]) -> ArraySlice<UInt8> {
        text[..<(text.lastIndex { $0 != UInt8(ascii: "\n") }.map { $0 + 1 } ?? 0)]
    }

    mutating func append(_ record: RecordReader) throws(StoreError) {
        beginRecord(of: record.entityNumber)
        try records.append(record, to: &output.text)
        try output.flushIfFull()
    }

    mutating func append(_ text: UnsafeRawBufferPointer, of entity: Int) throws(StoreError) {
        beginRecord(of: entity)
        output.text.append(text)
        try output.flushIfFull()
    }

    private mutating func beginRecord(of number: Int) {
        guard number != entity else { return output.text.append(",\n") }
        append(entity == nil ? "\n" : "\n],\n")
        string(model.entities[number].name.text)
        append(": [\n")
        entity = number
    }

    mutating func append(_ link: Link, of owner: ManagedObjectModel.Relationship) throws(StoreError) {
        if owner.number == relationship {
            output.text.append(",\n")
        } else {
            endRecords()
            append(relationship == nil ? "\n" : "\n],\n")
            string(owner.name.description)
            append(": [\n")
            relationship = owner.number
        }
        LinkText.append(link, to: &output.text)
        try output.flushIfFull()
    }

    private mutating func endRecords() {
        guard !isInLinks else { return }
        isInLinks = true
        append(entity == nil ? "},\n" : "\n]},\n")
        key(.links)
        append("{")
    }

    /// Writes everything after the links, and returns the version by which a journal refers to the
    /// document.
    mutating func finish(
        _ tail: DocumentTail, history: (any HistoryEntries)? = nil
    ) throws(StoreError) -> DocumentVersion {
        endRecords()
        append(relationship == nil ? "},\n" : "\n]},\n")
        if let history, let settings = try history.historySettings() {
            key(.history)
            try DocumentHistory.append(settings, history: history, to: output)
        }
        tail.append(to: &output.text, model: model)
        // The comma begins the checksum's line, so the document remains valid without this line.
        append("\n, ")
        let version = try output.version()
        append(DocumentChecksum.tail((version.high, version.low)))
        return version
    }
}
