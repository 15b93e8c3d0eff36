extension [UInt8] {
    /// Returns the checksum of the bytes from an offset to the end.
    func historyChecksum(from offset: Int) -> UInt64 {
        span.bytes.withUnsafeBytes { bytes in
            RecordHash.bytes(UnsafeRawBufferPointer(rebasing: bytes[Swift.min(offset, bytes.count)...]))
        }
    }
}

extension RecordBatch {
    /// Appends a copy of a record after verifying its structure and its checksum.
    mutating func append(checking bytes: [UInt8], key: Int64) throws(StoreError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try append(checking: bytes, key: key) }
    }
}
