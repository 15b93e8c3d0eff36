internal import RoostCore

/// The validated options of the store type `json`.
struct JSONSettings: Sendable {
    static let optionDescriptions = [
        StoreOptionDescription(
            "maximumDocumentBytes", values: .integer(4096...1 << 40), standard: "\(standardDocumentByteCount)",
            summary: "The maximum size of a document that is read or written, in bytes."),
        StoreOptionDescription(
            "journalBytes", values: .integer(4096...1 << 40), standard: "the size of the document, at least 1048576",
            summary: "The maximum size of the journal, in bytes, before it is folded into a new document."),
    ]
    private static let standardDocumentByteCount = 4 << 30

    var maximumDocumentBytes = standardDocumentByteCount
    /// The journal's maximum size, or nil for the larger of the document's size and 1 MiB.
    var journalBytes: Int?
    var timeoutSeconds: Double
    var isReadOnly: Bool
    /// Whether commits are persisted only by `sync()` or `close()`.
    var isUnpublished: Bool

    /// Reads the options.
    ///
    /// Throws `invalidRequest` for an unknown name or an invalid value.
    init(_ options: StoreOptions) throws(StoreError) {
        try options.requireValidTimeout()
        timeoutSeconds = options.timeoutSeconds
        isReadOnly = options.isReadOnly
        isUnpublished = options.isUnpublished
        let given = options.typeOptions
        try JSONStoreType().requireKnown(given)
        maximumDocumentBytes = given["maximumDocumentBytes"].flatMap { Int($0) } ?? maximumDocumentBytes
        journalBytes = given["journalBytes"].flatMap { Int($0) }
    }

    /// Returns the journal's maximum size in bytes if its document has `byteCount` bytes.
    func journalLimit(_ byteCount: Int) -> Int { journalBytes ?? max(1 << 20, byteCount) }
}
