internal import RoostCore
internal import RoostSystem

extension RecordReader {
    /// Returns whether both records have the same entity and values, regardless of versions.
    ///
    /// Equal values have equal bytes.
    func hasSameContent(as other: RecordReader) -> Bool {
        let start = RecordLayout.Header.entity
        return UnsafeRawBufferPointer(rebasing: bytes.dropFirst(start))
            .hasSameBytes(as: UnsafeRawBufferPointer(rebasing: other.bytes.dropFirst(start)))
    }
}

extension UnsafeRawBufferPointer {
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard count > 0, let left = baseAddress, let right = other.baseAddress else { return true }
        // SAFETY: Both buffers have `count` bytes.
        return memcmp(left, right, count) == 0
    }
}
