internal import RoostCore

/// An immutable array whose elements are read without reference counting, for code that runs for
/// every record.
final class PlainArray<Element: Sendable>: @unchecked Sendable {
    // Proof of Sendable: the elements are written in `init`, before other code can access the
    // object, and freed in `deinit`.
    private let elements: UnsafeMutableBufferPointer<Element>

    init(_ elements: [Element]) {
        // Many arrays are empty and need no memory.
        self.elements =
            elements.isEmpty ? UnsafeMutableBufferPointer(start: nil, count: 0) : .allocate(capacity: elements.count)
        _ = self.elements.initialize(from: elements)
    }

    deinit {
        elements.deinitialize()
        elements.deallocate()
    }

    var count: Int { elements.count }

    subscript(index: Int) -> Element {
        precondition(index >= 0 && index < elements.count, "no element at this index")
        return elements[index]
    }
}
