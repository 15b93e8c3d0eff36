extension JSONText {
    // MARK: Whole numbers

    package static func append(_ number: Int64, to text: inout TextBuffer) {
        // The longest number, −2^63, has a sign and 19 digits.
        let place = text.room(for: 20)
        place[0] = UInt8(ascii: "-")
        let sign = number < 0 ? 1 : 0
        let magnitude = number.magnitude
        let count = digitCount(magnitude)
        write(magnitude, digits: count, at: place + sign)
        text.count += sign + count
    }

    /// Returns the number of digits of a number below 10^19.
    @inline(__always)
    private static func digitCount(_ number: UInt64) -> Int {
        var (rest, count) = (number, 1)
        while true {
            if rest < 10 { return count }
            if rest < 100 { return count + 1 }
            if rest < 1000 { return count + 2 }
            if rest < 10_000 { return count + 3 }
            rest /= 10_000
            count += 4
        }
    }

    /// Writes the last `count` digits of a number, padded with leading zeros.
    ///
    /// SAFETY: `count` bytes at `place` can be written. A remainder below 100 is the index of one
    /// of the 100 pairs.
    @inline(__always)
    private static func write(_ number: UInt64, digits count: Int, at place: UnsafeMutablePointer<UInt8>) {
        let pairs = digitPairs.utf8Start
        var (rest, index) = (number, count)
        while index >= 2 {
            let pair = Int(truncatingIfNeeded: rest % 100)
            rest /= 100
            index -= 2
            place[index] = pairs[2 * pair]
            place[index + 1] = pairs[2 * pair + 1]
        }
        if index == 1 { place[0] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10) }
    }

    private static let digitPairs: StaticString = """
        0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
        """

    // MARK: Numbers with a fraction

    /// Appends a double as its shortest exact text, or as a string if JSON has no number for it.
    ///
    /// Preserves every bit. The digits are the same as in `Double.description`.
    package static func append(_ number: Double, to text: inout TextBuffer) {
        // `writeShort` writes at most 15 digits and a point, after the sign.
        let place = text.room(for: 32)
        let sign = number.sign == .minus ? 1 : 0
        place[0] = UInt8(ascii: "-")
        let count = writeShort(number.magnitude, at: place + sign)
        guard count == 0 else {
            text.count += sign + count
            return
        }
        appendLong(number, to: &text)
    }

    /// Writes a number whose shortest exact text has at most 15 digits, up to 9 after the point.
    ///
    /// Returns the count of written bytes; 0 if `appendLong` must write the number.
    ///
    /// Proof that the result is the shortest exact text: let *m* be a whole number below 10^15 and
    /// *p* the power of ten 10^3, 10^6 or 10^9. Both are exact doubles, so the quotient *m* / *p*
    /// is rounded once. Reading the decimal text of *m* / *p* rounds once too, so it returns the
    /// same double. If the quotient equals the number, the decimal therefore represents the number.
    /// Two different decimals of at most 15 digits never represent the same double. So no shorter
    /// decimal represents the number, apart from the same decimal without trailing zeros.
    @inline(__always)
    private static func writeShort(_ magnitude: Double, at place: UnsafeMutablePointer<UInt8>) -> Int {
        // Numbers below 0.001 may need an exponent. NaN fails the comparisons.
        guard magnitude < 1e12, magnitude >= 1e-3 || magnitude == 0 else { return 0 }
        let thousandths = write(magnitude, power: 1000, digits: 3, at: place)
        if thousandths > 0 { return thousandths }
        let millionths = write(magnitude, power: 1_000_000, digits: 6, at: place)
        if millionths > 0 { return millionths }
        return write(magnitude, power: 1_000_000_000, digits: 9, at: place)
    }

    @inline(__always)
    private static func write(
        _ magnitude: Double, power: UInt64, digits: Int, at place: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let scaled = magnitude * Double(power) + 0.5
        guard scaled < 1e15 else { return 0 }
        let mantissa = UInt64(scaled)
        guard Double(mantissa) / Double(power) == magnitude else { return 0 }
        let (whole, fraction) = (mantissa / power, mantissa % power)
        let point = digitCount(whole)
        write(whole, digits: point, at: place)
        place[point] = UInt8(ascii: ".")
        write(fraction, digits: digits, at: place + point + 1)
        var count = point + 1 + digits
        while count > point + 2, place[count - 1] == UInt8(ascii: "0") { count -= 1 }
        return count
    }

    @inline(never)
    private static func appendLong(_ number: Double, to text: inout TextBuffer) {
        guard number.isFinite else {
            return append(
                special: number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "NaN",
                bits: number.isNaN && number.bitPattern != Double.nan.bitPattern ? number.bitPattern : nil, digits: 16,
                to: &text)
        }
        append(ascii: number.description, to: &text)
    }

    /// Appends a float as the shortest text that is exact for a `Float`, or as a string if JSON has
    /// no number for it.
    package static func append(_ number: Float, to text: inout TextBuffer) {
        guard number.isFinite else {
            return append(
                special: number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "NaN",
                bits: number.isNaN && number.bitPattern != Float.nan.bitPattern ? UInt64(number.bitPattern) : nil,
                digits: 8, to: &text)
        }
        append(ascii: number.description, to: &text)
    }

    private static func append(special name: StaticString, bits: UInt64?, digits: Int, to text: inout TextBuffer) {
        text.append(UInt8(ascii: "\""))
        text.append(name)
        if let bits {
            text.append(UInt8(ascii: ":"))
            for digit in (0..<digits).reversed() { text.append(hexDigit(UInt8(bits >> (UInt64(digit) * 4) & 15))) }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func append(ascii string: String, to text: inout TextBuffer) {
        var string = string
        string.withUTF8 { text.append(UnsafeRawBufferPointer($0)) }
    }
}
