internal import RoostCore

/// How an environment is opened.
struct LMDBSettings: Sendable {
    static let optionNames = ["mapSize", "maxReaders"]

    /// The most bytes the file may have: what the map may grow to.
    var maximumMapByteCount = 1 << 44
    /// The map to begin with; nil for one as large as the file can become on its disk.
    var initialMapByteCount: Int?
    /// How many snapshots all processes together may have open.
    var readerCount: UInt32 = 1022
    /// How long to wait for other processes and for readers.
    var timeoutSeconds: Double
    /// Whether the file may be written.
    var isWritable: Bool
    /// Whether commits are made durable only by `sync()`.
    var isUnpublished: Bool

    /// The settings that options ask for.
    ///
    /// Throws code `invalidRequest` for unknown or senseless ones.
    init(_ options: StoreOptions) throws(StoreError) {
        timeoutSeconds = options.timeoutSeconds
        isWritable = !options.isReadOnly
        isUnpublished = options.isUnpublished
        for (name, text) in options.typeOptions.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "mapSize":
                maximumMapByteCount = try Self.number(name, text, 1 << 20...1 << 46, "bytes")
            case "maxReaders":
                readerCount = UInt32(try Self.number(name, text, 2...1_000_000, "readers"))
            default:
                let hint =
                    nearestName(to: name, among: Self.optionNames).map { "did you mean '\($0)'?" }
                    ?? "it has \(Self.optionNames.joined(separator: " and "))"
                throw StoreError(.invalidRequest, "The store type 'lmdb' has no option '\(name)'; \(hint)")
            }
        }
    }

    private static func number(
        _ name: String, _ text: String, _ range: ClosedRange<Int>, _ unit: String
    ) throws(StoreError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw StoreError(
                .invalidRequest,
                "The option '\(name)' takes a number of \(unit) from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
