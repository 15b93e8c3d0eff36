internal import RoostCore

/// Keys and values of the space `meta`.
///
/// Each value, except a part of the history, is a checksum and the content. The checksum is the
/// content's XXH3-64, little-endian.
enum MetaSpace {
    /// The format version of stores that require no features.
    static let formatVersion = 2
    /// The format version of stores that require features, which their format entry names.
    static let featureVersion = 3
    /// The feature name of a store that records its changes.
    static let historyFeature = "history"

    static let format = StorageKey("format".utf8)
    static let uuid = StorageKey("uuid".utf8)
    static let type = StorageKey("type".utf8)
    static let model = StorageKey("model".utf8)
    static let userMetadata = StorageKey("user".utf8)
    static let tally = StorageKey("tally".utf8)

    /// Returns the storage key of the highest used or reserved object key in the hierarchy `root`.
    static func lastKey(root: Int) -> StorageKey {
        var key = StorageKey("last/".utf8)
        key.append(number: root)
        return key
    }

    static func require(_ key: StorageKey, reader: any KeyValueReader) throws(StoreError) -> [UInt8] {
        guard let value = try read(key, reader: reader) else { throw damaged(key, reason: "it is missing") }
        return value
    }

    static func damaged(_ key: StorageKey, reason: String) -> StoreError {
        let name = key.bytes.starts(with: "last/".utf8) ? "last/…" : String(decoding: key.bytes, as: UTF8.self)
        return StoreError(
            .corrupted, "The metadata entry '\(name)' is damaged: \(reason). Restore the store from a copy.")
    }

    // MARK: Numbers and tallies

    /// Returns the highest used or reserved key in the hierarchy `root`, or 0.
    static func readLastKey(root: Int, reader: any KeyValueReader) throws(StoreError) -> Int64 {
        let key = lastKey(root: root)
        var last: Int64 = 0
        try withValue(of: key, reader: reader) { (value) throws(StoreError) in
            guard let value else { return }
            guard value.count == 8, let number = value.littleEndian64(at: 0), number <= UInt64(Int64.max) else {
                throw damaged(key, reason: "it is not a key")
            }
            last = Int64(number)
        }
        return last
    }

    static func writeLastKey(_ last: Int64, root: Int, writer: any KeyValueWriter) throws(StoreError) {
        try write(UInt64(bitPattern: last).littleEndianBytes, key: lastKey(root: root), writer: writer)
    }

    /// Reads the tally.
    ///
    /// The value contains the generation, the number of entities and the number of relationships.
    /// Then follow the count and the sum of hashes of each entity and of each relationship. Each
    /// number has eight bytes, little-endian.
    static func readTally(_ model: ManagedObjectModel, reader: any KeyValueReader) throws(StoreError) -> StoreTally {
        var result = StoreTally(model: model)
        let (entities, relationships) = (result.entities.count, result.relationships.count)
        try withValue(of: tally, reader: reader) { (value) throws(StoreError) in
            guard let value else { throw damaged(tally, reason: "it is missing") }
            guard value.count == 8 * (3 + 2 * (entities + relationships)),
                value.littleEndian64(at: 8) == UInt64(entities), value.littleEndian64(at: 16) == UInt64(relationships)
            else { throw damaged(tally, reason: "its length does not fit the model") }
            func word(_ index: Int) -> UInt64 { value.littleEndian64(at: 8 * index) ?? 0 }
            func tallyAt(_ index: Int) throws(StoreError) -> Tally {
                let (count, sum) = (word(3 + 2 * index), word(4 + 2 * index))
                guard let count = Int(exactly: count), Tally.canBe(count: count) else {
                    throw damaged(tally, reason: "a count is out of range")
                }
                return Tally(count: count, sum: sum)
            }
            result.generation = Generation(number: word(0))
            for index in 0..<entities { result.entities[index] = try tallyAt(index) }
            for index in 0..<relationships { result.relationships[index] = try tallyAt(entities + index) }
        }
        return result
    }

    static func writeTally(_ value: StoreTally, writer: any KeyValueWriter) throws(StoreError) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 * (3 + 2 * (value.entities.count + value.relationships.count)))
        for word in [value.generation.number, UInt64(value.entities.count), UInt64(value.relationships.count)] {
            bytes.append(littleEndian: word)
        }
        for tallies in [value.entities, value.relationships] {
            for tally in tallies {
                bytes.append(littleEndian: UInt64(bitPattern: Int64(tally.count)))
                bytes.append(littleEndian: tally.sum)
            }
        }
        try write(bytes, key: tally, writer: writer)
    }

    // MARK: All metadata

    /// Reads the format entry: version and key limit, four bytes each, little-endian.
    ///
    /// From version 3 on, the names of the required features follow, separated by commas.
    ///
    /// - Throws: `notAStore`; `unsupportedVersion` for a version or feature that this program
    ///   cannot read; `corrupted`.
    static func readFormat(_ reader: any KeyValueReader, location: StoreLocation) throws(StoreError) -> (
        version: Int, keyLimit: Int
    ) {
        guard let value = try read(format, reader: reader) else {
            throw StoreError(.notAStore, "'\(location)' is not a store: it has no format entry; check the path.")
        }
        guard value.count >= 8, let word = value.littleEndian64(at: 0) else {
            throw damaged(format, reason: "it is too short")
        }
        let (version, keyLimit) = (Int(word & 0xFFFF_FFFF), Int(word >> 32))
        guard version <= featureVersion else {
            throw StoreError(
                .unsupportedVersion,
                "'\(location)' is written in format version \(version); this program reads up to \(featureVersion). Use a newer program."
            )
        }
        guard version >= 1, keyLimit >= 64 else { throw damaged(format, reason: "its version or key limit is invalid") }
        guard version >= formatVersion else {
            throw StoreError(
                .unsupportedVersion,
                "'\(location)' is written in format version \(version); this program reads \(formatVersion) and \(featureVersion). Dump it with the version of the program that wrote it, and load the dump."
            )
        }
        if version == featureVersion { try RequiredFeatures(value.dropFirst(8)).require(in: "\(location)") }
        return (version, keyLimit)
    }

    static func writeFormat(keyLimit: Int, features: [String] = [], writer: any KeyValueWriter) throws(StoreError) {
        let version = features.isEmpty ? formatVersion : featureVersion
        let word = UInt64(version) | UInt64(keyLimit) << 32
        try write(word.littleEndianBytes + features.joined(separator: ",").utf8, key: format, writer: writer)
    }

    /// Sets the features that a program must support to open the store.
    static func setFeatures(_ features: [String], writer: any KeyValueWriter) throws(StoreError) {
        guard let word = try require(format, reader: writer).littleEndian64(at: 0) else {
            throw damaged(format, reason: "it is too short")
        }
        try writeFormat(keyLimit: Int(word >> 32), features: features, writer: writer)
    }

    static func readUUID(_ reader: any KeyValueReader) throws(StoreError) -> StoreUUID {
        guard let identity = StoreUUID(String(decoding: try require(uuid, reader: reader), as: UTF8.self)) else {
            throw damaged(uuid, reason: "it is not a UUID")
        }
        return identity
    }

    /// Returns all metadata of the store; uses `knownModel`, if any, instead of parsing the model.
    static func readMetadata(
        _ reader: any KeyValueReader, of storage: any OrderedKeyValueStorage, type expected: String,
        location: StoreLocation,
        knownModel: ManagedObjectModel? = nil
    ) throws(StoreError) -> StoreMetadata {
        // An unsupported version is refused before anything else is read.
        let version = try readFormat(reader, location: location).version
        let type = String(decoding: try require(type, reader: reader), as: UTF8.self)
        guard type == expected else {
            throw StoreError(.notAStore, "'\(location)' is a store of type '\(type)', not '\(expected)'.")
        }
        let identity = try readUUID(reader)
        let model: ManagedObjectModel
        if let knownModel { model = knownModel } else { model = try readModel(reader) }
        return StoreMetadata(
            type: type, formatVersion: storage.formatVersion(ofEngineVersion: version), storeUUID: identity,
            model: model,
            userMetadata: try readUserMetadata(reader))
    }

    static func readUserMetadata(_ reader: any KeyValueReader) throws(StoreError) -> [String: MetadataValue] {
        try MetadataDocument.decode(try require(userMetadata, reader: reader))
    }

    private static func readModel(_ reader: any KeyValueReader) throws(StoreError) -> ManagedObjectModel {
        let document = try require(model, reader: reader)
        do throws(StoreError) {
            return try ManagedObjectModel(document: document)
        } catch {
            throw StoreError(
                .corrupted, "The model embedded in the store cannot be read. Restore the store from a copy.",
                underlying: error)
        }
    }
}

extension [UInt8] {
    func littleEndian64(at offset: Int) -> UInt64? {
        span.bytes.withUnsafeBytes { $0.littleEndian64(at: offset) }
    }
}
