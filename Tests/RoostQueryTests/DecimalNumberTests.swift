import Foundation
import TestSamples
import Testing

@testable import RoostCore
@testable import RoostQuery

@Suite("Decimal numbers")
struct DecimalNumberTests {
    @Test(
        "a decimal number survives conversion to text and to Foundation's Decimal",
        arguments: [
            ("0", "0"), ("-0", "0"), ("+1", "1"), ("00012.3400", "12.34"), ("-0.001", "-0.001"), ("1e3", "1000"),
            ("1.5E-3", "0.0015"), ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
            ("100000000000000000000000000000000000000000", "100000000000000000000000000000000000000000"),
            ("NaN", "NaN"),
            ("5e127", "5e127"), ("500e125", "5e127"), ("1e-128", "1e-128"),
        ])
    func text(_ written: String, canonical: String) throws {
        let number = try #require(DecimalNumber(utf8: written.utf8))
        #expect(number.description == canonical)
        #expect(DecimalNumber(utf8: number.description.utf8) == number)
        #expect(DecimalNumber(number.decimal) == number)
    }

    @Test(
        "a text is refused if it is not a decimal number in range",
        arguments: [
            "", "-", ".", "1e", "1e+", "1..2", "1.2.3", "0x10", "Nan", "NaNN", "1 ", "１",
            "123456789012345678901234567890123456789", "1e200", "1e128", "1e-129", "1e99999999999999999999", "--1",
            "1e5.0",
        ])
    func badText(_ text: String) { #expect(DecimalNumber(utf8: text.utf8) == nil) }

    @Test(
        "an exponent out of range is refused, unless the decimal number is zero",
        arguments: [Int.max, .min, .max - 1, .min + 38, 128, 1 << 32, -200, -129])
    func exponents(_ exponent: Int) {
        #expect(DecimalNumber(isNegative: false, mantissa: 1, exponent: exponent) == nil)
        #expect(DecimalNumber(isNegative: true, mantissa: 7, exponent: exponent) == nil)
        #expect(DecimalNumber(isNegative: true, mantissa: 0, exponent: exponent) == .zero)
    }

    @Test("trailing zeros of a mantissa move a decimal's exponent into or out of range")
    func zeros() throws {
        let many = DecimalNumber.mantissaLimit
        #expect(DecimalNumber(isNegative: false, mantissa: many, exponent: -166)?.exponent == -128)
        #expect(DecimalNumber(isNegative: false, mantissa: many, exponent: -167) == nil)
        #expect(DecimalNumber(isNegative: false, mantissa: many, exponent: 89)?.exponent == 127)
        #expect(DecimalNumber(isNegative: false, mantissa: many, exponent: 90) == nil)
        #expect(DecimalNumber(isNegative: false, mantissa: 10, exponent: .max) == nil)
    }

    @Test("decimal numbers order by value, with NaN last")
    func ordersByValue() throws {
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

    @Test("a random Decimal of Foundation survives storing and reading")
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

    @Test(
        "decimal results have 38 digits, rounded half away from zero",
        arguments: [
            ("1000", "+", "0.12345678901234567890123456789012345678", "1000.1234567890123456789012345678901235"),
            ("99999999999999999999999999999999999999", "+", "0.5", "1e38"),
            ("-99999999999999999999999999999999999999", "+", "-0.4", "-99999999999999999999999999999999999999"),
            ("1e40", "+", "12345", "10000000000000000000000000000000000012e3"),
            ("1e100", "+", "-1", "1e100"), ("1e40", "+", "-1e-128", "1e40"), ("1e-128", "+", "-1e-128", "0"),
            ("1e39", "+", "-9", "99999999999999999999999999999999999999e1"),
            ("1e39", "+", "-51", "99999999999999999999999999999999999995e1"), ("9e127", "+", "9e127", "18e127"),
            ("99999999999999999999999999999999999999e127", "+", "1e127", nil), ("NaN", "+", "1", "NaN"),
            ("2", "/", "3", "0.66666666666666666666666666666666666667"),
            ("-1", "/", "3", "-0.33333333333333333333333333333333333333"),
            ("1", "/", "8", "0.125"), ("0", "/", "7", "0"), ("1e-100", "/", "4", "25e-102"), ("1e-100", "/", "3", nil),
            ("9e60", "/", "193036426212997220", "46623324812641120011983751604275424282e6"),
            ("1e127", "/", "99999999999999999999999999999999999999", "10000000000000000000000000000000000000e52"),
            (
                "99999999999999999999999999999999999999", "*", "99999999999999999999999999999999999999",
                "99999999999999999999999999999999999998e38"
            ),
            ("5", "*", "0.33333333333333333333333333333333333333", "1.6666666666666666666666666666666666667"),
        ] as [(String, String, String, String?)])
    func arithmetic(_ left: String, sign: String, right: String, result: String?) throws {
        let (a, b) = (try #require(DecimalNumber(utf8: left.utf8)), try #require(DecimalNumber(utf8: right.utf8)))
        let found =
            switch sign {
            case "+": DecimalNumber.sum(a, b)
            case "*": DecimalNumber.product(a, b)
            default: DecimalNumber.quotient(a, b)
            }
        #expect(found == result.flatMap { DecimalNumber(utf8: $0.utf8) })
    }

    @Test("a sum of many decimals is exact until it is rounded, in any order")
    func manySummands() throws {
        var generator = SeededGenerator(seed: 7)
        var numbers: [DecimalNumber] = []
        for exponent in -128...127 {
            for isNegative in [false, true] {
                let mantissa = UInt128.random(in: 1..<DecimalNumber.mantissaLimit, using: &generator)
                if let number = DecimalNumber(isNegative: isNegative, mantissa: mantissa, exponent: exponent) {
                    numbers += [number, number.negated]
                }
            }
        }
        let rest = try #require(DecimalNumber(utf8: "-1234567890123456789012345678901234567e-128".utf8))
        numbers.append(rest)
        for _ in 0..<5 {
            numbers.shuffle(using: &generator)
            var sum = DecimalSum()
            for number in numbers { sum.add(number) }
            #expect(sum.value == rest)
        }
    }
}
