internal import RoostCore

/// Memory for the bytes that functions make, until the next record is looked at.
final class RowMemory {
    private static let chunkByteCount = 16 * 1024

    // Exclusivity is not checked at run time: no method calls out while it changes them, and every
    // record asks.
    @exclusivity(unchecked) private var chunks: [UnsafeMutableRawBufferPointer] = []
    @exclusivity(unchecked) private var used = 0

    deinit { for chunk in chunks { chunk.deallocate() } }

    /// Frees everything except the memory that one record usually needs.
    @inline(__always)
    func removeAll() { if used > 0 || chunks.count > 1 { free() } }

    private func free() {
        used = 0
        while chunks.count > 1 || (chunks.last?.count ?? 0) > Self.chunkByteCount { chunks.removeLast().deallocate() }
    }

    /// A copy of bytes, until ``removeAll()``.
    func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if chunks.isEmpty || (chunks.last?.count ?? 0) - used < bytes.count {
            chunks.append(.allocate(byteCount: max(Self.chunkByteCount, bytes.count), alignment: 8))
            used = 0
        }
        guard let chunk = chunks.last else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        // SAFETY: the chunk has at least this many bytes left after `used`, see above.
        let place = UnsafeMutableRawBufferPointer(rebasing: chunk[used..<used + bytes.count])
        place.copyMemory(from: bytes)
        used += bytes.count
        return UnsafeRawBufferPointer(place)
    }

    /// A copy of a text's bytes.
    func copy(_ text: String) -> UnsafeRawBufferPointer {
        var text = text
        return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
    }
}
