internal import RoostCore

/// Memory for bytes that are discarded together.
final class RowMemory {
    private static let chunkByteCount = 16 * 1024

    // Exclusivity is not checked, because these properties are accessed for every record. No method calls other code
    // while it changes them.
    @exclusivity(unchecked) private var chunks: [UnsafeMutableRawBufferPointer] = []
    @exclusivity(unchecked) private var used = 0

    deinit { for chunk in chunks { chunk.deallocate() } }

    /// Discards all bytes, and frees all memory except one chunk of normal size.
    @inline(__always)
    func removeAll() { if used > 0 || chunks.count > 1 { free() } }

    private func free() {
        used = 0
        while chunks.count > 1 || (chunks.last?.count ?? 0) > Self.chunkByteCount { chunks.removeLast().deallocate() }
    }

    /// Returns a copy of bytes that is valid until ``removeAll()``.
    func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if chunks.isEmpty || (chunks.last?.count ?? 0) - used < bytes.count {
            chunks.append(.allocate(byteCount: max(Self.chunkByteCount, bytes.count), alignment: 8))
            used = 0
        }
        guard let chunk = chunks.last else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        // SAFETY: the chunk has at least `bytes.count` bytes after `used`, as ensured above.
        let place = UnsafeMutableRawBufferPointer(rebasing: chunk[used..<used + bytes.count])
        place.copyMemory(from: bytes)
        used += bytes.count
        return UnsafeRawBufferPointer(place)
    }

    func copy(_ text: String) -> UnsafeRawBufferPointer {
        var text = text
        return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
    }
}
