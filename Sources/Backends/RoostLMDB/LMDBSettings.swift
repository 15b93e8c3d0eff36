internal import RoostCore

/// The settings of an environment.
struct LMDBSettings: Sendable {
    static let optionDescriptions = [
        StoreOptionDescription(
            "mapSize", values: .integer(1 << 20...1 << 46), standard: "\(standardMapByteCount)",
            summary: "The maximum size of the file, in bytes; the disk limits it too."),
        StoreOptionDescription(
            "maxReaders", values: .integer(2...1_000_000), standard: "\(standardReaderCount)",
            summary: "The maximum number of snapshots in all processes, including closed ones kept for reuse."),
    ]
    private static let standardMapByteCount = 1 << 44
    private static let standardReaderCount: UInt32 = 1022

    /// The maximum size of the file and of its map, in bytes.
    var maximumMapByteCount = standardMapByteCount
    /// The initial size of the map, or nil for a size that depends on the file and its disk.
    var initialMapByteCount: Int?
    /// The number of reader slots, which applies only if no other program has the store open.
    var readerCount = standardReaderCount
    /// The maximum time to wait for other processes and for readers, in seconds.
    var timeoutSeconds: Double
    var isWritable: Bool
    /// Whether a file with several hard links may be read.
    var acceptsLinks: Bool
    /// Whether commits are made durable only by `sync()`.
    var isUnpublished: Bool

    /// Reads the options, or throws `invalidRequest` if one is unknown or invalid.
    init(_ options: StoreOptions) throws(StoreError) {
        try options.requireValidTimeout()
        timeoutSeconds = options.timeoutSeconds
        isWritable = !options.isReadOnly
        acceptsLinks = options.acceptsLinks
        isUnpublished = options.isUnpublished
        let given = options.typeOptions
        try LMDBStoreType().requireKnown(given)
        maximumMapByteCount = given["mapSize"].flatMap { Int($0) } ?? maximumMapByteCount
        readerCount = given["maxReaders"].flatMap { UInt32($0) } ?? readerCount
    }
}
