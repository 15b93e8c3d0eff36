internal import Foundation
internal import RoostCore
internal import RoostJSONText

/// The rules for converting the cells of a text to values.
package struct CellFormat: Sendable {
    /// The point or comma before a fraction.
    var decimalSeparator = UInt8(ascii: ".")
    /// The form of dates, or nil for ISO 8601.
    var datePattern: DatePattern?
    /// The time zone of times without a zone, or nil for UTC.
    var timeZone: TimeZone?

    package init() {}

    /// Calls `body` with the bytes of a cell, without blanks around them.
    ///
    /// A decimal comma is replaced by a point. If the separator is a comma, `body` receives no
    /// bytes for a cell that contains a point.
    func withNumber<Result>(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let trimmed = Self.trimmed(bytes)
        let point = UInt8(ascii: ".")
        guard decimalSeparator != point else { return body(trimmed) }
        // A point may be a thousands separator, so a number with a point is not read.
        guard !trimmed.contains(point) else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard trimmed.contains(decimalSeparator) else { return body(trimmed) }
        return Array(trimmed.map { $0 == decimalSeparator ? point : $0 }).withUnsafeBytes(body)
    }

    /// Returns the bytes without blanks and tabs at both ends.
    static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var (start, end) = (0, bytes.count)
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Returns a 64-bit number without a fraction, or nil for any other text.
    func integer(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        let text = Self.trimmed(bytes)
        guard let first = text.first else { return nil }
        if first == UInt8(ascii: "+") {
            let rest = UnsafeRawBufferPointer(rebasing: text.dropFirst())
            guard let digit = rest.first, JSONNumbers.isDigit(digit) else { return nil }
            return JSONNumbers.integer(rest)
        }
        guard text.count > 1 || JSONNumbers.isDigit(first) else { return nil }
        return JSONNumbers.integer(text)
    }

    /// Returns a floating-point number, or nil for other text and for a nonzero number that rounds
    /// to zero.
    func double(_ bytes: UnsafeRawBufferPointer) -> Double? {
        withNumber(bytes) { text in
            guard Self.isNumber(text), let number = JSONNumbers.double(text) else { return nil }
            return number == 0 && Self.hasNonzeroDigit(text) ? nil : number
        }
    }

    /// Returns a decimal number, or nil for other text and for more than 38 digits.
    func decimal(_ bytes: UnsafeRawBufferPointer) -> DecimalNumber? {
        withNumber(bytes) { text in Self.isNumber(text) ? DecimalNumber(utf8: text) : nil }
    }

    /// Returns whether a digit before the exponent is not 0.
    static func hasNonzeroDigit(_ text: UnsafeRawBufferPointer) -> Bool {
        for byte in text {
            if byte | 0x20 == UInt8(ascii: "e") { return false }
            if JSONNumbers.isDigit(byte), byte != UInt8(ascii: "0") { return true }
        }
        return false
    }

    /// Returns whether a text is digits with an optional sign, fraction and exponent.
    static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        func digits() -> Int {
            let start = index
            while index < text.count, JSONNumbers.isDigit(text[index]) { index += 1 }
            return index - start
        }
        if let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { index = 1 }
        var count = digits()
        if index < text.count, text[index] == UInt8(ascii: ".") {
            index += 1
            count += digits()
        }
        guard count > 0 else { return false }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") { index += 1 }
            guard digits() > 0 else { return false }
        }
        return index == text.count
    }

    /// Returns a truth value, or nil for any other text.
    static func boolean(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        let text = trimmed(bytes)
        guard text.count <= 5 else { return nil }
        switch String(decoding: text, as: UTF8.self).lowercased() {
        case "true", "yes", "t", "y", "1": return true
        case "false", "no", "f", "n", "0": return false
        default: return nil
        }
    }

    /// Returns a date as seconds since 2001-01-01 00:00:00 UTC, or nil for any other text.
    func seconds(_ bytes: UnsafeRawBufferPointer) -> Double? {
        let text = Self.trimmed(bytes)
        if let datePattern {
            return datePattern.hasTime ? datePattern.seconds(text).map(inZone) : datePattern.seconds(text)
        }
        guard (10...60).contains(text.count), text[4] == UInt8(ascii: "-") else { return nil }
        // A fast path for the most frequent forms.
        if let pattern = text.count == 10 ? Self.day : text.count == 19 ? Self.time(after: text[10]) : nil {
            // A date without a time is not shifted by the time zone.
            return text.count == 10 ? pattern.seconds(text) : pattern.seconds(text).map(inZone)
        }
        let string = String(decoding: text, as: UTF8.self)
        guard let seconds = DateText.seconds(string) else { return nil }
        return Self.hasZone(string) ? seconds : inZone(seconds)
    }

    private static let day = DatePattern("yyyy-MM-dd")
    private static let timeAfterBlank = DatePattern("yyyy-MM-dd HH:mm:ss")
    private static let timeAfterLetter = DatePattern("yyyy-MM-dd'T'HH:mm:ss")

    private static func time(after separator: UInt8) -> DatePattern? {
        separator == UInt8(ascii: " ") ? timeAfterBlank : separator == UInt8(ascii: "T") ? timeAfterLetter : nil
    }

    /// Returns whether a date in ISO 8601 includes its time zone, or has no time.
    private static func hasZone(_ text: String) -> Bool {
        guard !text.hasSuffix("Z"), let time = text.firstIndex(where: { $0 == "T" || $0 == " " }) else { return true }
        return text[time...].contains { $0 == "+" || $0 == "-" }
    }

    /// Returns whether a date in ISO 8601 has an offset from UTC other than zero.
    static func hasOffset(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // The hyphens in the first 10 characters belong to the day.
        let time = trimmed(bytes).dropFirst(10)
        guard let sign = time.lastIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }) else {
            return false
        }
        return time[sign...].contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
    }

    /// Converts the seconds of a time in ``timeZone`` to seconds in UTC.
    private func inZone(_ seconds: Double) -> Double {
        guard let timeZone else { return seconds }
        // Near a clock change, the first offset may be wrong.
        let first = seconds - Double(timeZone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: seconds)))
        return seconds - Double(timeZone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: first)))
    }

    static func uuid(_ bytes: UnsafeRawBufferPointer) -> UUID? {
        let text = trimmed(bytes)
        guard text.count == 36 else { return nil }
        return UUID(uuidString: String(decoding: text, as: UTF8.self))
    }
}
