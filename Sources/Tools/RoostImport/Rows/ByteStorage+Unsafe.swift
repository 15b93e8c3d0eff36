/// A buffer whose bytes do not move until more bytes are added.
struct ByteStorage: ~Copyable {
    // SAFETY: base has room for `capacity` bytes. The first `count` of them are initialized.
    private var base = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 16)
    private var capacity = 4096
    private var count = 0

    deinit { base.deallocate() }

    mutating func removeAll() { count = 0 }

    /// Adds bytes, and returns the offset of the first.
    ///
    /// Earlier bytes may move.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        if capacity - count < bytes.count {
            let larger = UnsafeMutableRawPointer.allocate(
                byteCount: max(capacity * 2, count + bytes.count), alignment: 16)
            larger.copyMemory(from: base, byteCount: count)
            base.deallocate()
            base = larger
            capacity = max(capacity * 2, count + bytes.count)
        }
        if let start = bytes.baseAddress { (base + count).copyMemory(from: start, byteCount: bytes.count) }
        defer { count += bytes.count }
        return count
    }

    /// Returns the bytes of a range that was added, or an empty buffer for any other range.
    func bytes(_ start: Int, byteCount: Int) -> UnsafeRawBufferPointer {
        guard start >= 0, byteCount >= 0, start + byteCount <= count else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: base + start, count: byteCount)
    }
}
