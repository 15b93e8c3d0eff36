internal import RoostCore

/// The checksums of rows.
///
/// In format version 3 the row of an object has the checksum of its record, which its version
/// enters. In version 2 it has the record's content hash.
package struct SQLChecksum: Sendable {
    /// Whether the version enters an object's checksum.
    let coversVersion: Bool

    /// The rule of a version of the format.
    init(formatVersion: Int) { coversVersion = formatVersion >= 3 }

    /// The checksum of a record with this content hash and version.
    package func checksum(contentHash: UInt64, version: UInt32) -> UInt64 {
        coversVersion ? contentHash ^ RecordHash.versionMask(version) : contentHash
    }

    /// The content hash of a record with this checksum and version.
    func contentHash(checksum: UInt64, version: UInt32) -> UInt64 {
        // Applying the mask twice removes it.
        self.checksum(contentHash: checksum, version: version)
    }

    /// The checksum of a row of `_roost_metadata` or `_roost_keys`: the low half of XXH3-128 of its
    /// texts, joined by U+0000.
    static func row(_ table: String, name: String, value: String) -> Int64 {
        Int64(bitPattern: RecordHash.wide(Array("\(table)\0\(name)\0\(value)".utf8)).low)
    }
}
