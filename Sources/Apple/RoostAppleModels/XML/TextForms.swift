/// A parser of the dates in XML property lists and old model files.
enum ISODate {
    /// Returns the seconds from 2001-01-01 to a date like `2013-12-04T07:00:00Z`, or nil for other
    /// text.
    static func seconds(_ text: String) -> Double? {
        let parts = text.split(whereSeparator: { "-T:Z".contains($0) }).map { Int($0) }
        guard text.hasSuffix("Z"), parts.count == 6, let year = parts[0], let month = parts[1], let day = parts[2],
            let hour = parts[3], let minute = parts[4], let second = parts[5],
            let days = days(year: year, month: month, day: day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return Double(days * 86_400 + hour * 3600 + minute * 60 + second)
    }

    /// Returns the seconds from 2001-01-01 to midnight UTC of a date like `12/4/2013` (month first,
    /// from old Xcode versions), or nil for other text.
    static func monthDayYear(_ text: String) -> Double? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let month = parts[0], let day = parts[1], let year = parts[2],
            let days = days(year: year, month: month, day: day)
        else { return nil }
        return Double(days * 86_400)
    }

    /// Returns the days from 2001-01-01 in the Gregorian calendar, or nil for a day that does not
    /// exist.
    private static func days(year: Int, month: Int, day: Int) -> Int? {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[month - 1] else { return nil }
        let before = year - 1
        let years = before * 365 + before / 4 - before / 100 + before / 400
        // 0001-01-01 is 730 485 days before 2001-01-01.
        return years - 730_485 + lengths[..<(month - 1)].reduce(0, +) + day - 1
    }
}
