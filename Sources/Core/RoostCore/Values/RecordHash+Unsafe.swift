internal import CXXHash

/// The hash functions for checksums and digests, based on XXH3.
public enum RecordHash {
    /// Returns the content hash of a record: XXH3-64 of all bytes after the version, with a seed
    /// from the key.
    ///
    /// The version is not included, so digests do not depend on how often objects were updated.
    @usableFromInline package static func content(of record: UnsafeRawBufferPointer, key: Int64) -> UInt64 {
        guard record.count > RecordLayout.Header.entity, let base = record.baseAddress else { return 0 }
        let seed = UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15
        return XXH3_64bits_withSeed(
            base + RecordLayout.Header.entity, record.count - RecordLayout.Header.entity, seed)
    }

    /// Returns the mask of a version; a record's checksum is its content hash XOR this mask.
    @inlinable
    package static func versionMask(_ version: UInt32) -> UInt64 { UInt64(version) &* 0xD6E8_FEB8_6659_FD93 }

    /// Returns the hash of a link: XXH3-64 of the relationship's number and the link's keys and
    /// places, as little-endian integers.
    package static func link(_ link: Link, of relationship: Int) -> UInt64 {
        let words = (
            UInt64(relationship).littleEndian, link.source.littleEndian, link.target.littleEndian,
            link.order.littleEndian, link.inverseOrder.littleEndian
        )
        return withUnsafeBytes(of: words) { XXH3_64bits($0.baseAddress, $0.count) }
    }

    /// Returns the XXH3-64 hash of bytes.
    package static func bytes(_ bytes: UnsafeRawBufferPointer) -> UInt64 { XXH3_64bits(bytes.baseAddress, bytes.count) }

    package static func wide(_ bytes: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64) {
        let hash = XXH3_128bits(bytes.baseAddress, bytes.count)
        return (hash.high64, hash.low64)
    }

    /// Returns the XXH3-128 hash of bytes.
    public static func wide(_ bytes: [UInt8]) -> (high: UInt64, low: UInt64) { bytes.withUnsafeBytes { wide($0) } }
}
