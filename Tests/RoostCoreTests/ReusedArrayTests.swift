import TestSamples
import Testing

@testable import RoostCore

@Suite("Arrays that are used again")
struct ReusedArrayTests {
    @Test("a reused array agrees with a plain array, and its copies stay unchanged")
    func agreement() {
        var random = SeededGenerator(seed: 1)
        var (mine, plain) = (ReusedArray<UInt8>(), [UInt8]())
        var copies: [(ReusedArray<UInt8>, [UInt8])] = []
        for _ in 0..<5000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                mine.removeAll()
                plain.removeAll()
            case 1:
                let count = Int.random(in: 0...plain.count, using: &random)
                mine.removeLast(count)
                plain.removeLast(count)
            case 2: copies.append((mine, plain))
            case 3 where !plain.isEmpty:
                let index = Int.random(in: plain.indices, using: &random)
                mine.withUnsafeMutableBytes { $0[index] = 7 }
                plain[index] = 7
            case 4..<8:
                mine.append(9)
                plain.append(9)
            default:
                let more = (0..<Int.random(in: 0..<200, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
                mine.append(contentsOf: more)
                plain += more
            }
            #expect(mine.count == plain.count && mine.isEmpty == plain.isEmpty && mine.last == plain.last)
            #expect(mine.bytes == plain)
        }
        #expect(copies.count > 50)
        for (mine, plain) in copies {
            #expect(mine.bytes == plain)
            #expect(mine.withUnsafeBytes { Array($0) } == plain)
            #expect((0..<mine.count).allSatisfy { mine[$0] == plain[$0] })
        }
    }
}
