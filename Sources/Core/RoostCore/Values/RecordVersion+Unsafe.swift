extension RecordReader {
    /// Runs `body` with the bytes that the record has with the version `newVersion`.
    ///
    /// If the record has another version, the bytes are a changed copy in `scratch`. Pass the same
    /// `scratch` again to reuse its memory.
    package func withBytes<Result, Failure: Error>(
        version newVersion: UInt32, scratch: inout [UInt8], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if version == newVersion { return try body(bytes) }
        let count = bytes.count
        if scratch.count < count { scratch = [UInt8](repeating: 0, count: 2 * count) }
        scratch.withUnsafeMutableBytes { scratch in
            let copy = UnsafeMutableRawBufferPointer(rebasing: scratch[..<count])
            copy.copyMemory(from: bytes)
            // SAFETY: a record is at least as long as its header.
            copy.storeBytes(
                of: newVersion.littleEndian, toByteOffset: RecordLayout.Header.version, as: UInt32.self)
            copy.storeBytes(
                of: (storedContentHash ^ RecordHash.versionMask(newVersion)).littleEndian,
                toByteOffset: RecordLayout.Header.checksum, as: UInt64.self)
        }
        return try scratch.span.bytes.withUnsafeBytes { (scratch) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        }
    }
}
