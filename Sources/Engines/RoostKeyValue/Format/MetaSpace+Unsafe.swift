internal import RoostCore

extension MetaSpace {
    /// Calls `body` with the value of a key, or with nil.
    ///
    /// The bytes are valid only inside `body`.
    ///
    /// - Throws: `corrupted` if the checksum does not match, and errors of `body`.
    static func withValue(
        of key: StorageKey, reader: any KeyValueReader,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        try reader.withValue(of: key, in: .meta) { (stored) throws(StoreError) in
            guard let stored else { return try body(nil) }
            guard let checksum = stored.littleEndian64(at: 0) else {
                throw damaged(key, reason: "its checksum does not match its bytes")
            }
            // SAFETY: the value has at least the eight bytes of the checksum.
            let payload = UnsafeRawBufferPointer(rebasing: stored[8...])
            guard RecordHash.bytes(payload) == checksum else {
                throw damaged(key, reason: "its checksum does not match its bytes")
            }
            try body(payload)
        }
    }

    /// Returns the value of a key, or nil.
    ///
    /// - Throws: `corrupted` if the checksum does not match.
    static func read(_ key: StorageKey, reader: any KeyValueReader) throws(StoreError) -> [UInt8]? {
        var found: [UInt8]?
        try withValue(of: key, reader: reader) { (value) throws(StoreError) in found = value.map { Array($0) } }
        return found
    }

    static func write(_ payload: [UInt8], key: StorageKey, writer: any KeyValueWriter) throws(StoreError) {
        var stored: [UInt8] = []
        stored.reserveCapacity(8 + payload.count)
        stored.append(littleEndian: payload.span.bytes.withUnsafeBytes { RecordHash.bytes($0) })
        stored.append(contentsOf: payload)
        try writer.put(key, stored, in: .meta)
    }
}
