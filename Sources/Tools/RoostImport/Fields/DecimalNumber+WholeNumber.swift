internal import RoostCore

extension DecimalNumber {
    /// The whole number, or nil for a fraction, NaN or a number out of range.
    var wholeNumber: Int64? {
        guard !isNaN, (0...19).contains(exponent) else { return nil }
        var magnitude = mantissa
        for _ in 0..<exponent {
            let (product, isOverflow) = magnitude.multipliedReportingOverflow(by: 10)
            guard !isOverflow else { return nil }
            magnitude = product
        }
        guard let whole = Int128(exactly: magnitude) else { return nil }
        return Int64(exactly: isNegative ? -whole : whole)
    }
}
