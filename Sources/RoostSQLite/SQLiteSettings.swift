internal import RoostCore

/// The options of the store type `sqlite`, read and checked.
struct SQLiteSettings: Sendable {
    /// What a commit waits for.
    enum Synchronous: String, CaseIterable, Sendable {
        /// The write-ahead log is flushed at each commit: a commit is durable on return.
        ///
        /// The default.
        case full
        /// As `full`, and the directory is flushed when a rollback journal goes; the same as `full` for these stores.
        case extra
        /// The log is flushed at checkpoints only: the store stays sound, but a power cut can take the last commits back.
        case normal
    }

    var synchronous = Synchronous.full
    /// The largest value, and the largest row.
    var maximumValueBytes = 256 << 20
    /// How long a statement may look for its next row before it fails with code `timedOut`; nil for as long as it takes.
    var rowTimeout: Duration? = .seconds(300)
    /// The page size of a new store; nil for 4096, or 8192 for one that is loaded before it is published.
    var pageSizeBytes: Int?
    var timeoutSeconds: Double
    var isReadOnly: Bool

    static let names = ["synchronous", "maximumValueBytes", "pageSizeBytes", "rowTimeoutSeconds"]

    /// Reads the options; throws `invalidRequest` for an unknown name or a value that is not possible.
    init(_ options: StoreOptions) throws(StoreError) {
        timeoutSeconds = options.timeoutSeconds
        isReadOnly = options.isReadOnly
        guard timeoutSeconds >= 0 else {
            throw StoreError(.invalidRequest, "A timeout must not be negative.")
        }
        for (name, text) in options.typeOptions {
            switch name {
            case "synchronous":
                guard let value = Synchronous(rawValue: text) else {
                    throw Self.wrong(name, Synchronous.allCases.map(\.rawValue).joined(separator: ", "))
                }
                synchronous = value
            case "maximumValueBytes":
                guard let value = Int(text), (1 << 20...1 << 30).contains(value) else {
                    throw Self.wrong(name, "a number from 1048576 to 1073741824")
                }
                maximumValueBytes = value
            case "rowTimeoutSeconds":
                guard let value = Double(text), (0...1e6).contains(value) else {
                    throw Self.wrong(name, "a number of seconds from 0, which means no limit, to 1000000")
                }
                rowTimeout = value == 0 ? nil : .seconds(value)
            case "pageSizeBytes":
                guard let value = Int(text), (512...65536).contains(value), value & (value - 1) == 0 else {
                    throw Self.wrong(name, "a power of two from 512 to 65536")
                }
                pageSizeBytes = value
            default:
                let hint =
                    nearestName(to: name, among: Self.names).map { "did you mean '\($0)'?" }
                    ?? "known options: \(Self.names.joined(separator: ", "))"
                throw StoreError(.invalidRequest, "Stores of type 'sqlite' have no option '\(name)'; \(hint)")
            }
        }
    }

    private static func wrong(_ name: String, _ expected: String) -> StoreError {
        StoreError(.invalidRequest, "The option '\(name)' of an SQLite store must be \(expected).")
    }
}
