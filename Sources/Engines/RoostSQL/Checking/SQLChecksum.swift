internal import RoostCore

/// The rule for the checksums of rows in one format version.
///
/// In format version 2, the checksum of an object's row is the content hash of the object's record.
/// From version 3 on, the checksum also covers the record's version.
package struct SQLChecksum: Sendable {
    let coversVersion: Bool

    init(formatVersion: Int) { coversVersion = formatVersion >= 3 }

    package func checksum(contentHash: UInt64, version: UInt32) -> UInt64 {
        coversVersion ? contentHash ^ RecordHash.versionMask(version) : contentHash
    }

    func contentHash(checksum: UInt64, version: UInt32) -> UInt64 {
        // The mask is applied with XOR, so applying it again removes it.
        self.checksum(contentHash: checksum, version: version)
    }

    /// Returns the checksum of a row of `_roost_metadata` or `_roost_keys`.
    ///
    /// The checksum is the low half of the XXH3-128 of the arguments, joined by U+0000.
    static func row(_ table: String, name: String, value: String) -> Int64 {
        Int64(bitPattern: RecordHash.wide(Array("\(table)\0\(name)\0\(value)".utf8)).low)
    }
}
