internal import RoostCore
internal import RoostJSONText
internal import RoostSystem
internal import RoostText

/// The last keys of a document, and all members before its records.
struct DocumentHead: Sendable {
    private(set) var storeUUID: StoreUUID?
    private(set) var model: ManagedObjectModel?
    private(set) var generation = Generation.initial
    private(set) var foldedJournal: UInt64?
    private(set) var userMetadata: [String: MetadataValue] = [:]
    private var lastKeys: [(name: String, key: Int64, place: TextPosition)] = []
    private var hasVersion = false
    /// The features that a reader must support.
    private var features: [String] = []
    var hasHistory: Bool { features.contains(DocumentFormat.historyFeature) }

    /// Returns the store's identity, or nil if it cannot be read before the records and links.
    static func storeUUID(of file: DocumentFile) -> StoreUUID? {
        var text = file.reader()
        var head = DocumentHead()
        do throws(StoreError) {
            try text.expect(.beginObject, "a document, an object,")
            var last: DocumentFormat.Member?
            while head.storeUUID == nil, try text.nextKey() {
                let member = try member(text, after: last, isLoading: false)
                guard member != .records, member != .links else { return nil }
                try head.read(member, text: &text)
                last = member
            }
        } catch {}
        return head.storeUUID
    }

    /// Returns the member of the current key, and throws if it is unknown or may not follow `last`.
    ///
    /// `isLoading` means that records or links have been read already.
    static func member(
        _ text: borrowing JSONTokenReader, after last: DocumentFormat.Member?, isLoading: Bool
    ) throws(StoreError) -> DocumentFormat.Member {
        let name = text.text
        guard let member = DocumentFormat.Member.allCases.first(where: { $0.key == name }) else {
            throw text.unknown("member", name: "'\(name)'", among: DocumentFormat.Member.allCases.map(\.key))
        }
        switch (member, last) {
        case (.format, _), (.formatVersion, .format?): break
        case (_, .format?): throw text.error("'formatVersion' must come directly after 'format'")
        case (_, .checksum?): throw text.error("'checksum' must be the last member")
        default:
            guard !isLoading || member.rawValue >= DocumentFormat.Member.records.rawValue else {
                throw text.error("'\(name)' must come before the records and the links")
            }
        }
        return member
    }

    mutating func read(_ member: DocumentFormat.Member, text: inout JSONTokenReader) throws(StoreError) {
        switch member {
        case .format: try text.expect(.string, "'\(DocumentFormat.name)'")
        case .formatVersion: try readVersion(&text)
        case .requiredFeatures:
            try text.expect(.beginArray, "the names of features, an array,")
            while try text.nextElement() {
                guard text.token == .string else { throw text.mismatch("the name of a feature") }
                features.append(text.text)
            }
            try RequiredFeatures(features.joined(separator: ",").utf8).require(in: text.name)
        case .storeUUID:
            try text.expect(.string, "a UUID as a string")
            guard let uuid = StoreUUID(text.text) else { throw text.error("'storeUUID' is not a UUID") }
            storeUUID = uuid
        case .generation:
            try text.expect(.number, "'generation', a number of commits,")
            guard let number = UInt64(text.text) else {
                throw text.error("'generation' is not a whole number from 0 to 18446744073709551615")
            }
            generation = Generation(number: number)
        case .foldedJournal:
            try text.expect(.string, "the check of a journal as a string")
            guard let check = UInt64(hexadecimal: text.text), check.hexadecimal == text.text else {
                throw text.error("'foldedJournal' is not 16 hexadecimal digits; remove it")
            }
            foldedJournal = check
        case .lastKeys: try readLastKeys(&text)
        case .model: model = try readModel(&text)
        case .metadata: userMetadata = try readMetadata(&text)
        case .tally: try text.skipValue()
        case .history: try text.skipValue()
        case .records, .links, .checksum: break
        }
    }

    private mutating func readVersion(_ text: inout JSONTokenReader) throws(StoreError) {
        try text.expect(.number, "the version of the format")
        guard let version = text.integer, version >= 1 else {
            throw text.error("'formatVersion' is not a whole number from 1")
        }
        guard version <= Int64(DocumentFormat.featureVersion) else {
            throw text.error(
                "the document is written in format version \(version), and this program reads up to \(DocumentFormat.featureVersion); use a newer program",
                code: .unsupportedVersion)
        }
        hasVersion = true
    }

    private mutating func readLastKeys(_ text: inout JSONTokenReader) throws(StoreError) {
        try text.expect(.beginObject, "the last keys by entity, an object,")
        while try text.nextKey() {
            let name = text.text
            let place = text.tokenPosition
            try text.expect(.number, "a key, a whole number")
            guard let key = text.integer, key >= 0 else {
                throw text.error("the last key of '\(name)' is not a whole number from 0")
            }
            lastKeys.append((name, key, place))
        }
    }

    private func readModel(_ text: inout JSONTokenReader) throws(StoreError) -> ManagedObjectModel {
        let (bytes, place) = try Self.capture(&text)
        do throws(StoreError) {
            return try ManagedObjectModel(document: bytes)
        } catch {
            throw error.withMessage(
                "\(text.name), \(place): the embedded model has errors (lines and columns refer to this file): \(error.message)",
                code: .corrupted)
        }
    }

    private func readMetadata(_ text: inout JSONTokenReader) throws(StoreError) -> [String: MetadataValue] {
        let (bytes, place) = try Self.capture(&text)
        do throws(StoreError) {
            return try MetadataDocument.decode(bytes)
        } catch {
            throw error.withMessage(
                "\(text.name), \(place): 'metadata' has errors (lines and columns refer to this file): \(error.message)",
                code: .corrupted)
        }
    }

    /// Returns the text of the next value, padded so that its positions equal those in the file.
    private static func capture(
        _ text: inout JSONTokenReader
    ) throws(StoreError) -> (bytes: [UInt8], place: TextPosition) {
        let key = text.tokenPosition
        let keyByteCount = text.withText { $0.count } + 2
        // Any value that a commit accepted must be readable, so the limit is the maximum of a token.
        let value = try text.captureValue(byteCountLimit: JSONTokenReader.maximumTokenByteCount)
        // Unless the document was edited by hand, the value follows its key on the same line.
        let column = key.column + keyByteCount + 2
        return (
            [UInt8](repeating: UInt8(ascii: "\n"), count: key.line - 1)
                + [UInt8](repeating: UInt8(ascii: " "), count: column - 1) + value, key
        )
    }

    /// Returns the identity and the model, and throws if they or the version are missing.
    func require(_ text: borrowing JSONTokenReader) throws(StoreError) -> (StoreUUID, ManagedObjectModel) {
        guard hasVersion else {
            throw text.error("the document has no 'formatVersion'; it must come before the records and links")
        }
        guard let storeUUID else {
            throw text.error("the document has no 'storeUUID'; it must come before the records and links")
        }
        guard let model else { throw text.error("the document has no 'model'; it must come before the records") }
        return (storeUUID, model)
    }

    /// Returns the store's metadata, with the format version of the next document to be written.
    func metadata() -> StoreMetadata? {
        guard let storeUUID, let model else { return nil }
        return StoreMetadata(
            type: JSONStoreType().name,
            formatVersion: features.isEmpty ? DocumentFormat.version : DocumentFormat.featureVersion,
            storeUUID: storeUUID, model: model,
            userMetadata: userMetadata)
    }

    /// Returns the last keys by entity; throws `corrupted` for an unknown entity.
    func lastKeys(_ model: ManagedObjectModel, name file: String) throws(StoreError) -> [EntityName: Int64] {
        var keys: [EntityName: Int64] = [:]
        for (name, key, place) in lastKeys {
            guard let entity = model.entities.first(where: { $0.name.text == name }) else {
                let hint = nearestName(to: name, among: model.entities.map(\.name.text))
                    .map { "; did you mean '\($0)'?" }
                throw StoreError(
                    .corrupted,
                    "\(file), \(place): 'lastKeys' names an entity '\(name)' that the model lacks\(hint ?? ".")")
            }
            keys[entity.name] = max(key, keys[entity.name] ?? 0)
        }
        return keys
    }
}
