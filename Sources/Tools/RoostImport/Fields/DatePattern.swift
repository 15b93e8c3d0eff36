internal import Foundation
internal import RoostCore

/// The form of dates in a text.
///
/// The parts are `yyyy`, `yy` (1970 to 2069), `MM`, `M`, `MMM` (English), `dd`, `d`, `HH`, `H`,
/// `mm`, `ss`, and one to nine `S`. Any number of `S` reads 1 to 9 digits of a fraction. All other
/// characters are literal. Literal letters must be in single quotes.
struct DatePattern: Sendable {
    private enum Part: Sendable, Equatable {
        case year, shortYear, month, monthName, day, hour, minute, second, fraction
        case literal(UInt8)
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { Array($0.utf8) }

    private let parts: [(part: Part, digits: ClosedRange<Int>)]

    var hasTime: Bool { parts.contains { $0.part == .hour } }

    /// Reads a pattern, or returns nil if the pattern is invalid or lacks a year, month or day.
    init?(_ text: String) {
        var parts: [(Part, ClosedRange<Int>)] = []
        var rest = Array(text.utf8)[...]
        while let first = rest.first {
            if first == UInt8(ascii: "'") {
                rest = rest.dropFirst()
                guard let end = rest.firstIndex(of: first) else { return nil }
                parts += rest[..<end].map { (.literal($0), 1...1) }
                rest = rest[(end + 1)...]
                continue
            }
            let run = rest.prefix { $0 == first }.count
            let isLetter = first | 0x20 >= UInt8(ascii: "a") && first | 0x20 <= UInt8(ascii: "z")
            switch (Character(UnicodeScalar(first)), run) {
            case ("y", 4): parts.append((.year, 4...4))
            case ("y", 2): parts.append((.shortYear, 2...2))
            case ("M", 1), ("M", 2): parts.append((.month, run...2))
            case ("M", 3): parts.append((.monthName, 3...3))
            case ("d", 1), ("d", 2): parts.append((.day, run...2))
            case ("H", 1), ("H", 2): parts.append((.hour, run...2))
            case ("m", 2): parts.append((.minute, 2...2))
            case ("s", 2): parts.append((.second, 2...2))
            case ("S", 1...9): parts.append((.fraction, 1...9))
            default:
                guard !isLetter else { return nil }
                for _ in 0..<run { parts.append((.literal(first), 1...1)) }
            }
            rest = rest.dropFirst(run)
        }
        let kinds = parts.map(\.0)
        guard kinds.contains(.year) || kinds.contains(.shortYear), kinds.contains(.day),
            kinds.contains(.month) || kinds.contains(.monthName)
        else { return nil }
        self.parts = parts.map { (part: $0.0, digits: $0.1) }
    }

    /// Returns the seconds since 2001-01-01 00:00:00 in the text's time zone, or nil if the text
    /// does not match the pattern or is not a valid date.
    func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
        var (year, month, day, time, fraction) = (0, 0, 0, 0, 0.0)
        var index = 0
        for (part, digits) in parts {
            if case .literal(let byte) = part {
                guard index < text.count, text[index] == byte else { return nil }
                index += 1
                continue
            }
            if part == .monthName {
                guard index + 3 <= text.count,
                    let found = Self.months.firstIndex(of: text[index..<index + 3].map { $0 | 0x20 })
                else { return nil }
                (month, index) = (found + 1, index + 3)
                continue
            }
            var (number, count) = (0, 0)
            while count < digits.upperBound, index < text.count, text[index] &- UInt8(ascii: "0") < 10 {
                number = number * 10 + Int(text[index] - UInt8(ascii: "0"))
                count += 1
                index += 1
            }
            guard count >= digits.lowerBound else { return nil }
            switch part {
            case .year: year = number
            case .shortYear: year = number + (number < 70 ? 2000 : 1900)
            case .month: month = number
            case .day: day = number
            case .hour where number < 24: time += number * 3600
            case .minute where number < 60: time += number * 60
            case .second where number < 60: time += number
            case .fraction: fraction = Double(number) / pow(10, Double(count))
            default: return nil
            }
        }
        guard index == text.count, let start = DateText.seconds(year: year, month: month, day: day) else { return nil }
        return start + Double(time) + fraction
    }
}
