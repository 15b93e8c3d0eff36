internal import Foundation

extension ResultsList.Chunk {
    /// Compares the bytes of `order` with the order of the row at an index.
    ///
    /// - Returns: A negative number if `order` comes first, 0 for equal bytes, or else a positive
    ///   number.
    func compare(_ order: [UInt8], with index: Int) -> Int {
        let range = range(index)
        // SAFETY: `range` is within `bytes`, because the entries' ends ascend up to `bytes.count`.
        // The comparison ends with the shorter side.
        let common = order.withUnsafeBytes { left in
            bytes.withUnsafeBytes { right -> Int32 in
                guard let left = left.baseAddress, let right = right.baseAddress else { return 0 }
                return memcmp(left, right + range.lowerBound, min(order.count, range.count))
            }
        }
        return common == 0 ? order.count - range.count : Int(common)
    }
}
