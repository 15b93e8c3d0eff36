internal import Foundation
internal import RoostCore

/// Packed keys of many records.
///
/// Comparing the keys' bytes gives the order of the records.
struct SortKeys: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    var count: Int { ends.count }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Appends a key that `body` writes.
    @inline(__always)
    mutating func append(_ body: (inout [UInt8]) -> Void) {
        body(&bytes)
        ends.append(bytes.count)
    }

    mutating func append(_ keys: SortKeys, at index: Int) {
        bytes.append(contentsOf: keys.bytes[keys.range(index)])
        ends.append(bytes.count)
    }

    /// Returns a negative number, zero or a positive number if the key at `index` precedes, equals
    /// or follows the key of `other` at `otherIndex`.
    func order(_ index: Int, other: SortKeys, otherIndex: Int) -> Int {
        bytes.withUnsafeBytes { bytes in
            other.bytes.withUnsafeBytes { otherBytes in
                PredicateOperand.order(
                    UnsafeRawBufferPointer(rebasing: bytes[range(index)]),
                    UnsafeRawBufferPointer(rebasing: otherBytes[other.range(otherIndex)]))
            }
        }
    }

    /// Returns the indexes of the keys in ascending order.
    ///
    /// `tie` orders the indexes of equal keys.
    ///
    /// - Throws: `cancelled` if the task is cancelled before the end of sorting.
    func sorted(tie: (Int, Int) -> Bool) throws(StoreError) -> [Int] {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
            // The first bytes decide most comparisons without access to the keys.
            var items = (0..<count).map { (number: Self.number(bytes[range($0)]), index: $0) }
            try items.sortUnlessCancelled { left, right in
                if left.number != right.number { return left.number < right.number }
                let order = PredicateOperand.order(
                    UnsafeRawBufferPointer(rebasing: bytes[range(left.index)]),
                    UnsafeRawBufferPointer(rebasing: bytes[range(right.index)]))
                return order == 0 ? tie(left.index, right.index) : order < 0
            }
            return items.map(\.index)
        }
    }

    private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

    /// Returns the first eight bytes as a number; missing bytes count as zero.
    private static func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
        var number: UInt64 = 0
        for byte in bytes.prefix(8) { number = number << 8 | UInt64(byte) }
        return bytes.isEmpty ? 0 : number << UInt64(64 - 8 * min(8, bytes.count))
    }
}
