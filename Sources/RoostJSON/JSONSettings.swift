internal import RoostCore

/// The options of the store type `json`, read and checked.
struct JSONSettings: Sendable {
    static let names = ["journalBytes", "maximumDocumentBytes"]

    /// The largest document that is read or written.
    var maximumDocumentBytes = 4 << 30
    /// What the journal may have before it is folded into a new document; nil for what the document has, at least 1 MiB.
    var journalBytes: Int?
    /// How long to wait for others.
    var timeoutSeconds: Double
    /// Whether changes are refused.
    var isReadOnly: Bool
    /// Whether the document is written only at the end.
    var isUnpublished: Bool

    /// Reads the options; throws `invalidRequest` for an unknown name or a value that is not possible.
    init(_ options: StoreOptions) throws(StoreError) {
        timeoutSeconds = options.timeoutSeconds
        isReadOnly = options.isReadOnly
        isUnpublished = options.isUnpublished
        for (name, text) in options.typeOptions.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "journalBytes": journalBytes = try Self.number(name, text, 4096...1 << 40)
            case "maximumDocumentBytes": maximumDocumentBytes = try Self.number(name, text, 4096...1 << 40)
            default:
                let hint =
                    nearestName(to: name, among: Self.names).map { "did you mean '\($0)'?" }
                    ?? "it has \(Self.names.joined(separator: " and "))"
                throw StoreError(.invalidRequest, "The store type 'json' has no option '\(name)'; \(hint)")
            }
        }
    }

    /// What the journal of a document of `byteCount` bytes may have.
    func journalLimit(_ byteCount: Int) -> Int { journalBytes ?? max(1 << 20, byteCount) }

    private static func number(_ name: String, _ text: String, _ range: ClosedRange<Int>) throws(StoreError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw StoreError(
                .invalidRequest,
                "The option '\(name)' of a JSON store must be a number of bytes from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        return number
    }
}
