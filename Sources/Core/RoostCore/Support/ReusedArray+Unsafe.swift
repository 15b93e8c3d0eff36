/// An array of plain values that is repeatedly filled and cleared.
///
/// The underlying `Array` has room for more elements. So appending usually only copies bytes, and
/// clearing only sets ``count``.
@usableFromInline
struct ReusedArray<Element: BitwiseCopyable & Sendable>: Sendable {
    /// The elements, then values that are not in use.
    @usableFromInline var memory: [Element] = []
    @usableFromInline private(set) var count = 0

    init() {}

    @inlinable var isEmpty: Bool { count == 0 }

    @inlinable
    subscript(index: Int) -> Element {
        precondition(index < count, "no element at this index")
        return memory[index]
    }

    var last: Element? { count == 0 ? nil : memory[count - 1] }

    mutating func removeAll() { count = 0 }

    mutating func removeLast(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "cannot remove more elements than the array has")
        self.count -= count
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == memory.count { grow(to: count + 1) }
        memory[count] = element
        count += 1
    }

    mutating func reserveCapacity(_ capacity: Int) { if capacity > memory.count { setLength(capacity) } }

    @inline(never)
    private mutating func grow(to needed: Int) { setLength(max(64, needed, 2 * memory.count)) }

    private mutating func setLength(_ length: Int) {
        let (old, used) = (memory, count * MemoryLayout<Element>.stride)
        memory = Array(unsafeUninitializedCapacity: length) { longer, initializedCount in
            old.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(longer).copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<used]))
            }
            // SAFETY: plain values need no initialization, and values after `count` are never read.
            initializedCount = length
        }
    }

    @inlinable
    func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try memory.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in
            // SAFETY: the count never exceeds the memory.
            try body(UnsafeRawBufferPointer(start: bytes.baseAddress, count: count * MemoryLayout<Element>.stride))
        }
    }

    @inlinable
    mutating func withUnsafeMutableBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        let byteCount = count * MemoryLayout<Element>.stride
        // SAFETY: the count never exceeds the memory.
        return memory.withUnsafeMutableBytes {
            body(UnsafeMutableRawBufferPointer(start: $0.baseAddress, count: byteCount))
        }
    }
}

extension ReusedArray<UInt8> {
    var bytes: [UInt8] { Array(memory[..<count]) }

    @inline(__always)
    mutating func append(contentsOf more: UnsafeRawBufferPointer) {
        let (start, end) = (count, count + more.count)
        if end > memory.count { grow(to: end) }
        memory.withUnsafeMutableBytes { memory in
            guard let target = memory.baseAddress, let source = more.baseAddress else { return }
            // SAFETY: the memory has at least `end` bytes.
            (target + start).copyMemory(from: source, byteCount: more.count)
        }
        count = end
    }

    mutating func append(contentsOf more: [UInt8]) { more.withUnsafeBytes { append(contentsOf: $0) } }
}
