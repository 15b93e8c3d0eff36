internal import Foundation
internal import RoostCore
internal import RoostSystem

/// The forms in which a text represents a date.
struct DateForm: OptionSet, Hashable {
    let rawValue: UInt8

    static let dateOnly = DateForm(rawValue: 1)
    static let blank = DateForm(rawValue: 2)
    static let letterT = DateForm(rawValue: 4)
    static let minutesOnly = DateForm(rawValue: 8)
    static let fraction = DateForm(rawValue: 16)
    static let utc = DateForm(rawValue: 32)
    static let offset = DateForm(rawValue: 64)
    /// A fraction with more digits than a date keeps.
    static let rounded = DateForm(rawValue: 128)

    /// Returns the seconds and the form of a date, or nil for other text.
    static func read(_ bytes: UnsafeRawBufferPointer) -> (seconds: Double, form: DateForm)? {
        if let plain = plain(bytes) { return plain }
        guard bytes.count >= 10, bytes.count <= 100, bytes.isValidUTF8,
            let seconds = DateText.seconds(String(decoding: bytes, as: UTF8.self))
        else { return nil }
        var form: DateForm = bytes.count == 10 ? .dateOnly : bytes[10] == UInt8(ascii: " ") ? .blank : .letterT
        guard form != .dateOnly else { return (seconds, form) }
        let time = bytes.dropFirst(11)
        if time.contains(UInt8(ascii: "+")) || time.contains(UInt8(ascii: "-")) { form.insert(.offset) }
        if time.last == UInt8(ascii: "Z") { form.insert(.utc) }
        if time.count < 8 || time[time.startIndex + 5] != UInt8(ascii: ":") { form.insert(.minutesOnly) }
        if let point = time.firstIndex(of: UInt8(ascii: ".")) {
            form.insert(.fraction)
            let digits = digits(time[(point + 1)...])
            if kept(seconds) != digits { form.insert(.rounded) }
        }
        return (seconds, form)
    }

    /// Returns the leading digits, without trailing zeros.
    private static func digits(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.map { $0 }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        return digits
    }

    /// Returns the digits of a stored date's fraction of a second.
    private static func kept(_ seconds: Double) -> [UInt8] {
        guard let text = DateText.text(seconds), let point = text.firstIndex(of: ".") else { return [] }
        return digits(text[text.index(after: point)...].utf8)
    }

    /// Reads most dates of the forms `yyyy-mm-dd` and `yyyy-mm-dd hh:mm:ss`, without allocating.
    private static func plain(_ bytes: UnsafeRawBufferPointer) -> (seconds: Double, form: DateForm)? {
        guard bytes.count == 10 || bytes.count == 19 else { return nil }
        func two(_ place: Int) -> Int? {
            let (high, low) = (bytes[place] &- 48, bytes[place + 1] &- 48)
            return high < 10 && low < 10 ? Int(high) * 10 + Int(low) : nil
        }
        guard let century = two(0), let rest = two(2), bytes[4] == UInt8(ascii: "-"), let month = two(5),
            bytes[7] == UInt8(ascii: "-"), let day = two(8), (1...12).contains(month),
            (1...(month == 2 ? 28 : 30)).contains(day)
        else { return nil }
        let shifted = month > 2 ? century * 100 + rest : century * 100 + rest - 1
        // `DateText` reads dates before March of year 1.
        guard shifted > 0 else { return nil }
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        // 730 791 days lie between 0000-03-01 and 2001-01-01.
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 730_791
        guard bytes.count == 19 else { return (Double(days * 86400), .dateOnly) }
        guard let hour = two(11), bytes[13] == UInt8(ascii: ":"), let minute = two(14),
            bytes[16] == UInt8(ascii: ":"), let second = two(17), hour < 24, minute < 60, second < 60
        else { return nil }
        let form: DateForm
        switch bytes[10] {
        case UInt8(ascii: " "): form = .blank
        case UInt8(ascii: "T"): form = .letterT
        default: return nil
        }
        return (Double(days * 86400 + hour * 3600 + minute * 60 + second), form)
    }
}

enum UUIDText {
    /// Returns the 16 bytes of `F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6`, or nil for other text.
    static func bytes(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        return bytes.withUnsafeMutableBytes { Hexadecimal.decodeUUID(text, into: $0) } ? bytes : nil
    }
}

enum NumberText {
    /// Returns the shortest decimal that gives the same floating-point number, or nil if no
    /// decimal represents the number.
    static func decimal(_ value: Double) -> DecimalNumber? {
        guard value.isFinite, !(value == 0 && value.sign == .minus) else { return nil }
        // Arithmetic finds short decimals, such as most prices, without creating text. Whole numbers below 10^15 are
        // exact.
        var (power, places) = (1.0, 0)
        while places <= 4 {
            let digits = (value * power).rounded()
            guard abs(digits) < 1e15 else { break }
            if digits / power == value {
                return DecimalNumber(
                    isNegative: value < 0, mantissa: UInt128(UInt64(abs(digits))), exponent: -places)
            }
            power *= 10
            places += 1
        }
        return DecimalNumber(utf8: "\(value)".utf8)
    }

    static func decimal(_ value: Int64) -> DecimalNumber? {
        DecimalNumber(isNegative: value < 0, mantissa: UInt128(value.magnitude), exponent: 0)
    }
}
