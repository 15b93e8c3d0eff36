/// A copy of bytes at a stable address, for the current entry of a ``KeyValueCursor``.
///
/// Use this class in a storage that keeps keys and values in arrays: the bytes of an array have an
/// address only inside a closure. Use an object from one thread at a time.
public final class PinnedBytes {
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// The bytes; valid until the next ``set(_:)`` or the deallocation of this object.
    public private(set) var bytes = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Creates an object without bytes.
    public init() {}

    deinit { buffer.deallocate() }

    /// Replaces the bytes with a copy of `source`, and reuses the memory if it is large enough.
    public func set(_ source: [UInt8]) {
        if source.count > buffer.count {
            buffer.deallocate()
            buffer = .allocate(byteCount: max(source.count, 64), alignment: 16)
        }
        // SAFETY: the buffer has room for all of `source`, and the copy initializes the bytes that
        // `bytes` refers to.
        buffer.copyBytes(from: source)
        bytes = UnsafeRawBufferPointer(rebasing: buffer[..<source.count])
    }
}
