/// A text that is built byte by byte, in reusable memory.
///
/// An array checks at every append whether it is shared and whether it has room. This type checks
/// once for each value: the caller requests room for the longest possible value, writes the bytes,
/// and adds their number to `count`. Use it from one thread at a time.
@usableFromInline
package struct TextBuffer: ~Copyable {
    // SAFETY: `base` has `capacity` bytes, and the first `count` of them are initialized. Code must
    // call `room(for:)` before it writes more bytes, and add only written bytes to `count`.
    @usableFromInline package internal(set) var base: UnsafeMutablePointer<UInt8>
    @usableFromInline package internal(set) var capacity: Int
    /// The number of bytes.
    ///
    /// Set it only to add bytes that were written through the pointer of ``room(for:)``.
    @usableFromInline package var count = 0

    package init(capacity: Int = 1024) {
        self.capacity = max(64, capacity)
        base = .allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    /// Makes room for more bytes; the returned pointer is valid until the next call of any method.
    @inlinable
    @inline(__always)
    package mutating func room(for byteCount: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity - count < byteCount { grow(by: byteCount) }
        return base + count
    }

    @usableFromInline
    @inline(never)
    package mutating func grow(by byteCount: Int) {
        let larger = max(count + byteCount, capacity * 2)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        memory.update(from: base, count: count)
        base.deallocate()
        (base, capacity) = (memory, larger)
    }

    // MARK: Appending

    @inlinable
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        room(for: 1)[0] = byte
        count += 1
    }

    @inlinable
    @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inlinable
    @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        UnsafeMutableRawPointer(room(for: bytes.count)).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    @inlinable
    package mutating func append(contentsOf bytes: some Sequence<UInt8>) {
        let isAppended: Void? = bytes.withContiguousStorageIfAvailable { append(UnsafeRawBufferPointer($0)) }
        guard isAppended == nil else { return }
        for byte in bytes { append(byte) }
    }

    /// Removes up to `byteCount` bytes from the end.
    @inlinable
    package mutating func removeLast(_ byteCount: Int) { count -= min(count, max(0, byteCount)) }

    /// Removes all bytes and keeps the memory.
    package mutating func removeAll() { count = 0 }

    package mutating func removeSubrange(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "bytes outside of the text")
        (base + range.lowerBound).update(from: base + range.upperBound, count: count - range.upperBound)
        count -= range.count
    }

    // MARK: Reading

    /// Runs `body` with the bytes from `start` on, which are valid only inside `body`.
    @inlinable
    package func withBytes<Result, Failure: Error>(
        from start: Int = 0, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(start >= 0 && start <= count, "bytes outside of the text")
        return try body(UnsafeRawBufferPointer(start: base + start, count: count - start))
    }

    package var bytes: [UInt8] { withBytes { Array($0) } }
}
