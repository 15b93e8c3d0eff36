internal import Foundation
internal import RoostCore

/// Bytes that are written to a journal, numbers little-endian.
extension [UInt8] {
    mutating func append(word value: UInt64) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
    mutating func append(half value: UInt32) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
    mutating func append(quarter value: UInt16) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    mutating func append(_ uuid: StoreUUID) {
        Swift.withUnsafeBytes(of: uuid.uuid.uuid) { append(contentsOf: $0) }
    }

    /// The UUID of sixteen bytes at `offset`, which must be there.
    func storeUUID(at offset: Int) -> StoreUUID {
        StoreUUID(UUID(uuid: withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: uuid_t.self) }))
    }

    /// The XXH3-64 of a part of the bytes.
    func checksum(_ range: Range<Int>) -> UInt64 {
        withUnsafeBytes { RecordHash.bytes(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// The number of eight bytes at `offset`, which must be there.
    func word(at offset: Int) -> UInt64 {
        withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    }

    /// The number of four bytes at `offset`, which must be there.
    func half(at offset: Int) -> UInt32 {
        withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }

    /// The number of two bytes at `offset`, which must be there.
    func quarter(at offset: Int) -> UInt16 {
        withUnsafeBytes { UInt16(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }
    }

    /// Whether all bytes of a part are zero.
    func isZero(_ range: Range<Int>) -> Bool {
        withUnsafeBytes { bytes in
            var found: UInt8 = 0
            for byte in bytes[range] { found |= byte }
            return found == 0
        }
    }

    /// Runs `body` with a part of the bytes.
    func withBytes<Result>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }
}
