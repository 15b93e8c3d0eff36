internal import Foundation
internal import RoostCore

/// Access to the bytes of a journal, with little-endian numbers.
///
/// The bytes at a given offset must exist.
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

    func storeUUID(at offset: Int) -> StoreUUID {
        StoreUUID(UUID(uuid: withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: uuid_t.self) }))
    }

    /// Returns the XXH3-64 checksum of a range.
    func checksum(_ range: Range<Int>) -> UInt64 {
        withUnsafeBytes { RecordHash.bytes(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    func word(at offset: Int) -> UInt64 {
        withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    }

    func half(at offset: Int) -> UInt32 {
        withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }

    func quarter(at offset: Int) -> UInt16 {
        withUnsafeBytes { UInt16(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }
    }

    func isZero(_ range: Range<Int>) -> Bool {
        withUnsafeBytes { bytes in
            var found: UInt8 = 0
            for byte in bytes[range] { found |= byte }
            return found == 0
        }
    }

    func withBytes<Result>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }
}
