import Foundation
import RoostJSONText
import Testing

@Suite("Numbers as JSON text")
struct JSONTextTests {
    private func text(_ number: Double) -> String {
        var text = TextBuffer()
        JSONText.append(number, to: &text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    private func text(_ number: Int64) -> String {
        var text = TextBuffer()
        JSONText.append(number, to: &text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    private static let special: [Double] = [
        0, -0.0, 1, -1, 0.1, 1.0 / 3, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
        -.leastNonzeroMagnitude, .leastNormalMagnitude, Double(bitPattern: 0x000F_FFFF_FFFF_FFFF),
        9_007_199_254_740_994, 1e15, 1e16, 1e17, 123_456_789.000_000_1, 1e22, 1e23,
    ]

    /// Returns random numbers with few digits, and the adjacent numbers, which have many.
    private static func decimals(_ random: inout SeededNumbers) -> [Double] {
        let mantissa = Double(
            UInt64.random(in: 0..<UInt64(1) << UInt64.random(in: 1...60, using: &random), using: &random))
        let power = pow(10, Double(Int.random(in: 0...16, using: &random)))
        let number = mantissa / power
        return [number, -number, number.nextUp, number.nextDown, mantissa * power, number.rounded()]
    }

    @Test("random finite doubles are written with the digits of their descriptions", arguments: 0..<8)
    func writesRandomDoubles(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for number in Self.special where number.isFinite { #expect(text(number) == number.description) }
        var wrong: [Double] = []
        for _ in 0..<30_000 {
            var numbers = Self.decimals(&random)
            numbers.append(Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &random)))
            wrong += numbers.filter { $0.isFinite && text($0) != $0.description }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    @Test("doubles near powers of ten and two are written like their descriptions")
    func writesDoublesNearPowers() throws {
        let powers = (-330...310).map { pow(10, Double($0)) } + (-1074...1023).map { pow(2, Double($0)) }
        let numbers = powers.flatMap { [$0.nextDown, $0, $0.nextUp, $0 * 5, 3 * $0, $0 - 0.001, $0 + 0.001] }
        let wrong = (numbers + numbers.map { -$0 }).filter { $0.isFinite && text($0) != $0.description }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    @Test("integers of each length are written with all digits")
    func writesIntegers() throws {
        var numbers: [Int64] = [0, 1, -1, .max, .min, .max - 1, .min + 1]
        var power: Int64 = 1
        for _ in 0..<19 {
            numbers += [power - 1, power, power + 1, -power, 1 - power, power * 7 / 3]
            power = power.multipliedReportingOverflow(by: 10).partialValue
        }
        for number in numbers { #expect(text(number) == number.description) }
    }

    @Test("a text buffer grows by single bytes and by large pieces")
    func growsBuffer() throws {
        var text = TextBuffer(capacity: 1)
        var expected: [UInt8] = []
        for length in [0, 1, 63, 64, 65, 1000, 5, 70_000] {
            let piece = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            text.append(contentsOf: piece)
            text.append(7)
            text.append("abc")
            expected += piece + [7] + Array("abc".utf8)
            #expect(text.bytes == expected)
        }
        text.removeLast(3)
        #expect(text.bytes == expected.dropLast(3))
        text.removeAll()
        #expect(text.bytes.isEmpty)
    }
}

/// Random numbers that follow from a seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
