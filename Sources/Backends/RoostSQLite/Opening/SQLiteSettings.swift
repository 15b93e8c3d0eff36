internal import RoostCore

/// The validated options of the store type `sqlite`.
struct SQLiteSettings: Sendable {
    /// The flushes that a commit waits for.
    enum Synchronous: String, CaseIterable, Sendable {
        /// The write-ahead log is flushed at each commit, so a commit is durable on return.
        case full
        /// The same as `full`, because stores have no rollback journal.
        case extra
        /// The log is flushed only at checkpoints.
        ///
        /// The store stays undamaged, but a power cut can undo the last commits.
        case normal
    }

    var synchronous = Synchronous.full
    /// The maximum size of a value or a row, in bytes.
    var maximumValueBytes = 256 << 20
    /// The maximum time that a statement may take to find its next row, or nil for no limit.
    var rowTimeout: Duration? = .seconds(300)
    /// The page size of a new store, or nil for 4096.
    var pageSizeBytes: Int?
    var timeoutSeconds: Double
    var isReadOnly: Bool
    /// Whether the store is unpublished, so that only the end of a load and the publication wait
    /// for the disk.
    var isUnpublished: Bool

    static let optionDescriptions = [
        StoreOptionDescription(
            "synchronous", values: .words(Synchronous.allCases.map(\.rawValue)), standard: Synchronous.full.rawValue,
            summary:
                "The durability of commits: with full and extra they are durable on return; with normal a power cut can undo the last ones."
        ),
        StoreOptionDescription(
            "maximumValueBytes", values: .integer(1 << 20...1 << 30), standard: "\(256 << 20)",
            summary: "The largest value, and the largest object, in bytes."),
        StoreOptionDescription(
            "pageSizeBytes", values: .powerOfTwo(512...65536), standard: "4096",
            summary: "The page size of a new store, in bytes."),
        StoreOptionDescription(
            "rowTimeoutSeconds", values: .number(0...1e6), standard: "300",
            summary: "The timeout for finding the next row of a statement, in seconds; 0 for no timeout."),
    ]

    /// Throws `invalidRequest` for an unknown name or an invalid value.
    init(_ options: StoreOptions) throws(StoreError) {
        timeoutSeconds = options.timeoutSeconds
        isReadOnly = options.isReadOnly
        isUnpublished = options.isUnpublished
        try options.requireValidTimeout()
        let given = options.typeOptions
        try SQLiteStoreType().requireKnown(given)
        synchronous = given["synchronous"].flatMap(Synchronous.init(rawValue:)) ?? synchronous
        maximumValueBytes = given["maximumValueBytes"].flatMap { Int($0) } ?? maximumValueBytes
        pageSizeBytes = given["pageSizeBytes"].flatMap { Int($0) }
        if let seconds = given["rowTimeoutSeconds"].flatMap({ Double($0) }) {
            rowTimeout = seconds == 0 ? nil : .seconds(seconds)
        }
    }
}
