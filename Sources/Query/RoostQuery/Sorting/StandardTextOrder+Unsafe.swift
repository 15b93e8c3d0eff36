internal import RoostCore

/// The localized standard order, which people expect for names: "Track 2" before "Track 10",
/// "Émile" beside "Emil".
///
/// Texts are compared first without case and diacritics, and with runs of ASCII digits as numbers.
/// Ties are compared without case, and remaining ties by code point. The order does not depend on a
/// locale, so it is the same in every store and on every machine.
package enum StandardTextOrder {
    /// Returns a negative number, zero or a positive number if `left` precedes, equals or follows
    /// `right`.
    ///
    /// Only texts with identical bytes are equal.
    package static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        for options in [FetchRequest.Comparison.Options.caseInsensitive.union(.diacriticInsensitive), .caseInsensitive]
        {
            let order = TextFolding.withFolded(left, by: options) { left in
                TextFolding.withFolded(right, by: options) { right in
                    options.contains(.diacriticInsensitive)
                        ? numericOrder(left, right) : PredicateOperand.order(left, right)
                }
            }
            if order != 0 { return order }
        }
        return PredicateOperand.order(left, right)
    }

    /// Compares by code point, but compares runs of ASCII digits as numbers.
    private static func numericOrder(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        var (i, j) = (0, 0)
        while i < left.count, j < right.count {
            guard isDigit(left[i]), isDigit(right[j]) else {
                if left[i] != right[j] { return Int(left[i]) - Int(right[j]) }
                (i, j) = (i + 1, j + 1)
                continue
            }
            let (a, b) = (digits(left, from: i), digits(right, from: j))
            (i, j) = (i + a.length, j + b.length)
            let (first, second) = (a.number, b.number)
            let order = first.count != second.count ? first.count - second.count : PredicateOperand.order(first, second)
            if order != 0 { return order }
        }
        return (left.count - i) - (right.count - j)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// Returns the run of digits at a position: its length, and its digits without leading zeros.
    private static func digits(
        _ text: UnsafeRawBufferPointer, from start: Int
    ) -> (length: Int, number: UnsafeRawBufferPointer) {
        var end = start
        var first = start
        while end < text.count, isDigit(text[end]) {
            if first == end, text[end] == UInt8(ascii: "0") { first += 1 }
            end += 1
        }
        return (end - start, UnsafeRawBufferPointer(rebasing: text[first..<end]))
    }
}
