import RoostKeyValue
import Testing

@Suite("Pinned bytes")
struct PinnedBytesTests {
    @Test("pinned bytes of any length show the last value at a stable address")
    func showsLastValue() {
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
