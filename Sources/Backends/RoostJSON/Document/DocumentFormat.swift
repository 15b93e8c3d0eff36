internal import RoostCore

/// The fixed names and versions of the document format, which FORMAT.md describes.
enum DocumentFormat {
    /// The value of `format`.
    static let name = "roost-json"
    /// The version of documents that require no features.
    static let version = 2
    /// The version of documents with required features, and the newest readable version.
    static let featureVersion = 3
    /// The feature of a document with a history.
    static let historyFeature = "history"

    /// The members of a document, in the order in which they are written.
    enum Member: Int, CaseIterable {
        case format, formatVersion, requiredFeatures, storeUUID, generation, foldedJournal, model, metadata, records,
            links, history, lastKeys, tally, checksum

        var key: String { String(describing: self) }
    }

    /// Returns whether bytes begin like a document: `{"format": "roost-json"`, with any spacing.
    static func isRecognized(_ bytes: [UInt8]) -> Bool {
        var position = 0
        func skipSpace() {
            while position < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[position]) { position += 1 }
        }
        for part in ["{", "\"format\"", ":", "\"\(name)\""] {
            skipSpace()
            guard bytes[position...].starts(with: part.utf8) else { return false }
            position += part.utf8.count
        }
        return true
    }

    /// The number of initial bytes by which a file is recognized.
    static let prefixByteCount = 4096
}
