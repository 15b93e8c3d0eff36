import RoostKeyValue
import Testing

@Suite("Pinned bytes")
struct PinnedBytesTests {
    @Test("show what was set last, at one place, whatever its length")
    func setting() {
        let pinned = PinnedBytes()
        #expect(pinned.bytes.isEmpty)
        for count in [3, 0, 64, 65, 1000, 1] {
            let source = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            pinned.set(source)
            let shown = pinned.bytes
            #expect(Array(shown) == source)
            #expect(shown.baseAddress == pinned.bytes.baseAddress)
        }
    }
}
