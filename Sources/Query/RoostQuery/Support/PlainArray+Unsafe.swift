internal import RoostCore

/// An array that never changes and whose reading costs no reference counting: for what is looked at
/// for every record.
final class PlainArray<Element: Sendable>: @unchecked Sendable {
    // Proof of Sendable: the elements are written in `init`, before any other code has the object,
    // and freed in `deinit`.
    private let elements: UnsafeMutableBufferPointer<Element>

    init(_ elements: [Element]) {
        // Many are empty; they take no memory.
        self.elements =
            elements.isEmpty ? UnsafeMutableBufferPointer(start: nil, count: 0) : .allocate(capacity: elements.count)
        _ = self.elements.initialize(from: elements)
    }

    deinit {
        elements.deinitialize()
        elements.deallocate()
    }

    /// The number of elements.
    var count: Int { elements.count }

    /// The element at `index`.
    subscript(index: Int) -> Element {
        precondition(index >= 0 && index < elements.count, "no element at this index")
        return elements[index]
    }
}
