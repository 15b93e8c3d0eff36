extension DecimalNumber {
    /// The double nearest to this number; this number must not be NaN.
    package var nearestDouble: Double {
        // If the mantissa and the power of ten are exact doubles, their product or quotient is
        // rounded only once, to the nearest double.
        if mantissa < 1 << 53, abs(Int(exponent)) < Self.exactPowers.count {
            let digits = Double(UInt64(mantissa))
            let power = Self.exactPowers[abs(Int(exponent))]
            let magnitude = exponent < 0 ? digits / power : digits * power
            return isNegative ? -magnitude : magnitude
        }
        return Double("\(isNegative ? "-" : "")\(mantissa)e\(exponent)") ?? .nan
    }

    /// The powers of ten that are exact doubles.
    private static let exactPowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]
}
