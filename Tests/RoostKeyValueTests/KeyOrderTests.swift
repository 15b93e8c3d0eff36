import Testing

@testable import RoostLMDB

@Suite("The order of keys in LMDB")
struct KeyOrderTests {
    @Test("keys of every length order by their bytes, a beginning before what it begins")
    func order() {
        var generator = SeededGenerator(7)
        var keys: [[UInt8]] = [[]]
        for count in 1...40 {
            for _ in 0..<4 { keys.append((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }) }
            // Of few different bytes, so that many agree up to the last.
            for _ in 0..<4 { keys.append((0..<count).map { _ in UInt8.random(in: 127...128, using: &generator) }) }
            keys.append([UInt8](repeating: 0, count: count))
            keys.append([UInt8](repeating: 0, count: count - 1) + [255])
        }
        for left in keys {
            for right in keys {
                let order = left.withUnsafeBytes { left in right.withUnsafeBytes { KeyOrder.order(left, $0) } }
                let expected =
                    left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
                #expect(order.signum() == expected)
            }
        }
    }
}
