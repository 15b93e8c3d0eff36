import RoostCore
import TestSamples
import Testing

@Suite("UTF-8")
struct ValidUTF8Tests {
    private func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { $0.isValidUTF8 } }

    @Test("random bytes are valid UTF-8 exactly where the standard library says so")
    func random() {
        var generator = SeededGenerator(seed: 36_29)
        let pieces: [[UInt8]] = [
            [0x61], Array("é".utf8), Array("東".utf8), Array("𝄞".utf8), [0x80], [0xC2], [0xE0, 0x80],
            [0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xC0, 0xAF], [0xFF],
        ]
        for round in 0..<20_000 {
            var bytes: [UInt8] = []
            // Every second text gets a piece that may be invalid, inside a word of eight bytes or across two words.
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                bytes += pieces[Int.random(in: 0...3, using: &generator)]
            }
            if round % 2 == 0 {
                let place = Int.random(in: 0...bytes.count, using: &generator)
                bytes.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: place)
            }
            #expect(isValid(bytes) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
        }
    }

    @Test("a byte that is not ASCII is noticed at every place of a text")
    func places() {
        for count in 0...40 {
            let text = [UInt8](repeating: 0x7F, count: count)
            #expect(isValid(text))
            for place in 0..<count {
                var bytes = text
                bytes[place] = 0x80
                #expect(!isValid(bytes), "byte \(place) of \(count)")
            }
        }
    }

    @Test("three bytes after ASCII are valid UTF-8 exactly where the standard library says so")
    func short() {
        let edges: [UInt8] = [
            0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
            0xF0,
            0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        for a in edges {
            for b in edges {
                for c in edges {
                    for head in [0, 5, 8] {
                        let bytes = [UInt8](repeating: 0x61, count: head) + [a, b, c]
                        #expect(isValid(bytes) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
                    }
                }
            }
        }
    }
}
