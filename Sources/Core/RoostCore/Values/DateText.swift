/// Conversions between dates and text such as `2024-05-01T12:30:00.25Z`.
///
/// The calendar is the proleptic Gregorian calendar, without leap seconds.
package enum DateText {
    private static let secondsPerDay = 86400.0
    /// The days from 0000-03-01 to 2001-01-01.
    private static let referenceDay = 730_791

    /// Reads a date with an optional time of day; returns nil for any other text.
    ///
    /// The forms are `yyyy-mm-dd`, `yyyy-mm-ddThh:mm` and `yyyy-mm-ddThh:mm:ss`. A space may
    /// replace the `T`. The seconds may have a fraction. A time may end with a zone: `Z`, `+hh:mm`
    /// or `-hh:mm`. The default time is 00:00, and the default zone is UTC. Reading the output of
    /// ``text(_:)`` returns the original number, bit for bit.
    package static func seconds(_ text: String) -> Double? {
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), (1...12).contains(month),
            reader.take("-"), let day = reader.number(2), (1...dayCount(month: month, year: year)).contains(day)
        else { return nil }
        let days = dayNumber(year: year, month: month, day: day) - referenceDay
        guard !reader.rest.isEmpty else { return Double(days) * secondsPerDay }
        guard reader.take("T") || reader.take(" "), let hour = reader.number(2), hour < 24, reader.take(":"),
            let minute = reader.number(2), minute < 60
        else { return nil }
        var whole = days * 86400 + hour * 3600 + minute * 60
        var fraction = ""
        if reader.take(":") {
            guard let second = reader.number(2), second < 60 else { return nil }
            whole += second
            if reader.take(".") {
                fraction = reader.digits()
                guard (1...40).contains(fraction.utf8.count) else { return nil }
            }
        }
        guard let zone = reader.zone(), reader.rest.isEmpty else { return nil }
        return sum(whole - zone, fraction: fraction)
    }

    /// Returns the seconds from 2001-01-01 to the beginning of a day; nil for a day that does not
    /// exist or is outside the years 0 to 9999.
    package static func seconds(year: Int, month: Int, day: Int) -> Double? {
        guard (0...9999).contains(year), (1...12).contains(month),
            (1...dayCount(month: month, year: year)).contains(day)
        else { return nil }
        return Double(dayNumber(year: year, month: month, day: day) - referenceDay) * secondsPerDay
    }

    /// Returns the date in UTC, such as `2024-05-01T12:30:00Z`, with enough digits to identify the
    /// number exactly.
    ///
    /// Returns nil outside the years 0 to 9999, for −0.0, and for a nonzero number between −0.0001
    /// and 0.0001.
    package static func text(_ seconds: Double) -> String? {
        guard seconds.isFinite, abs(seconds) < 1e12, !(seconds == 0 && seconds.sign == .minus) else { return nil }
        // A double near 0 is printed with an exponent, and is not supported here.
        let printed = "\(abs(seconds))"
        guard !printed.contains("e"), let point = printed.firstIndex(of: "."), let magnitude = Int(printed[..<point])
        else { return nil }
        var digits = Array(printed[printed.index(after: point)...].utf8)
        if digits == [UInt8(ascii: "0")] { digits = [] }
        var whole = seconds < 0 ? -magnitude : magnitude
        if seconds < 0, !digits.isEmpty {
            whole -= 1
            digits = complement(digits)
        }
        let day = (Double(whole) / secondsPerDay).rounded(.down)
        let second = whole - Int(day) * 86400
        let (year, month, date) = civil(Int(day) + referenceDay)
        guard (0...9999).contains(year) else { return nil }
        let time = "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
        let fraction = digits.isEmpty ? "" : "." + String(decoding: digits, as: UTF8.self)
        return "\(two(year / 100))\(two(year % 100))-\(two(month))-\(two(date))T\(time)\(fraction)Z"
    }

    /// Returns the date in UTC for people, such as `2024-05-01T12:30:00.25Z`.
    ///
    /// The time is rounded to microseconds, which hides rounding errors of computed times. Returns
    /// nil outside the years 0 to 9999.
    package static func shortText(_ seconds: Double) -> String? {
        // The addition turns −0.0 into 0.0.
        let second = seconds.rounded(.down) + 0.0
        let microseconds = ((seconds - second) * 1_000_000).rounded()
        guard microseconds > 0, microseconds < 1_000_000 else {
            return text(microseconds > 0 ? second + 1 : second)
        }
        guard let whole = text(second) else { return nil }
        var digits = String(Int(microseconds))
        digits = String(repeating: "0", count: 6 - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(whole.dropLast()).\(digits)Z"
    }

    // MARK: Parts

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ character: Character) -> Bool {
            guard let first = rest.first, first == character.asciiValue else { return false }
            rest.removeFirst()
            return true
        }

        mutating func digits() -> String {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(digits.count)
            return String(decoding: digits, as: UTF8.self)
        }

        mutating func number(_ count: Int) -> Int? {
            let text = digits()
            return text.utf8.count == count ? Int(text) : nil
        }

        /// Reads the zone's offset from UTC in seconds; a missing zone means UTC.
        mutating func zone() -> Int? {
            if rest.isEmpty || take("Z") { return 0 }
            let sign: Int
            if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
            guard let hour = number(2), hour < 24, take(":"), let minute = number(2), minute < 60 else { return nil }
            return sign * (hour * 3600 + minute * 60)
        }
    }

    /// Returns the double nearest to a whole number plus a fraction with these digits.
    private static func sum(_ whole: Int, fraction: String) -> Double? {
        guard whole < 0, fraction.contains(where: { $0 != "0" }) else { return Double("\(whole).\(fraction)0") }
        return Double("-\(-whole - 1).\(String(decoding: complement(Array(fraction.utf8)), as: UTF8.self))")
    }

    /// Returns the digits of 1 − *f* for a fraction *f* with these digits, which are not all 0.
    private static func complement(_ digits: [UInt8]) -> [UInt8] {
        var result = digits
        var borrow: UInt8 = 10
        for index in digits.indices.reversed() {
            let digit = digits[index] - UInt8(ascii: "0")
            if borrow == 10, digit == 0 { continue }
            result[index] = UInt8(ascii: "0") + borrow - digit
            borrow = 9
        }
        return result
    }

    private static func dayCount(month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 0000-03-01.
    ///
    /// Years start in March here, so that a leap day is the last day of its year.
    private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    }

    /// Returns the date of a number of days since 0000-03-01.
    private static func civil(_ number: Int) -> (year: Int, month: Int, day: Int) {
        let era = (number >= 0 ? number : number - 146_096) / 146_097
        let day = number - era * 146_097
        let yearOfEra = (day - day / 1460 + day / 36524 - day / 146_096) / 365
        let dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
