extension [UInt8] {
    func historyChecksum(from offset: Int) -> UInt64 {
        span.bytes.withUnsafeBytes { bytes in
            RecordHash.bytes(UnsafeRawBufferPointer(rebasing: bytes[Swift.min(offset, bytes.count)...]))
        }
    }
}

extension RecordBatch {
    /// Appends a record after checking its structure and its checksum.
    mutating func append(checking bytes: [UInt8], key: Int64) throws(StoreError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try append(checking: bytes, key: key) }
    }
}
