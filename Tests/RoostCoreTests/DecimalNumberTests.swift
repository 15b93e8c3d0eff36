import Foundation
import RoostCore
import Testing

@Suite("Decimal numbers")
struct DecimalNumberTests {
    @Test(
        "text, number and Foundation's Decimal mean the same",
        arguments: [
            ("0", "0"), ("-0", "0"), ("+1", "1"), ("00012.3400", "12.34"), ("-0.001", "-0.001"), ("1e3", "1000"),
            ("1.5E-3", "0.0015"), ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
            ("100000000000000000000000000000000000000000", "100000000000000000000000000000000000000000"),
            ("NaN", "NaN"),
            ("5e127", "5e127"), ("500e125", "5e127"), ("1e-128", "1e-128"),
        ])
    func text(_ written: String, _ canonical: String) throws {
        let number = try #require(DecimalNumber(utf8: written.utf8))
        #expect(number.description == canonical)
        #expect(DecimalNumber(utf8: number.description.utf8) == number)
        #expect(DecimalNumber(number.decimal) == number)
    }

    @Test(
        "text that is no decimal, or none that fits, is refused",
        arguments: [
            "", "-", ".", "1e", "1e+", "1..2", "1.2.3", "0x10", "Nan", "NaNN", "1 ", "１",
            "123456789012345678901234567890123456789", "1e200", "1e128", "1e-129", "1e99999999999999999999", "--1",
            "1e5.0",
        ])
    func badText(_ text: String) { #expect(DecimalNumber(utf8: text.utf8) == nil) }

    @Test("the order is that of the values, NaN last")
    func order() throws {
        let texts = [
            "-1e127", "-99999999999999999999999999999999999999", "-10", "-9.99", "-1e-128", "0", "1e-128", "0.1", "1",
            "1.0000000000000000000000000000000000001", "2", "10", "1e38", "9e127", "NaN",
        ]
        let numbers = try texts.map { try #require(DecimalNumber(utf8: $0.utf8)) }
        for (i, a) in numbers.enumerated() {
            for (j, b) in numbers.enumerated() {
                #expect((a < b) == (i < j), "\(a) < \(b)")
                #expect((a == b) == (i == j))
            }
        }
    }

    @Test("random Decimals come back from their stored form unchanged")
    func foundation() throws {
        var generator = SeededGenerator(seed: 99)
        for _ in 0..<2_000 {
            let mantissa = Decimal(UInt64.random(in: 0 ... .max, using: &generator))
            let decimal = Decimal(
                sign: Bool.random(using: &generator) ? .minus : .plus,
                exponent: .random(in: -100...100, using: &generator), significand: mantissa)
            #expect(try #require(DecimalNumber(decimal)).decimal == decimal)
        }
    }
}
