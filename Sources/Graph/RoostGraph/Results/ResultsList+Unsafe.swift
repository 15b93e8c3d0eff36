internal import Foundation

extension ResultsList.Chunk {
    /// Compares `order` with the order of a row, and returns a number like `memcmp`.
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
