/// Floating-point numbers in JSON, every bit kept.
///
/// A finite number is its shortest exact decimal text, always with a point or an exponent. What JSON cannot say is a
/// string: `"Infinity"`, `"-Infinity"`, `"NaN"`, and for a NaN of other bits `"NaN:7ff8000000000001"`.
package enum JSONDouble {
    /// The node's content for a number.
    package static func content(_ value: Double) -> JSONNode.Content {
        if value.isFinite { return .number("\(value)") }
        if value.isInfinite { return .string(value < 0 ? "-Infinity" : "Infinity") }
        if value.bitPattern == Double.nan.bitPattern { return .string("NaN") }
        return .string("NaN:" + value.bitPattern.hexadecimal)
    }

    /// Reads what ``content(_:)`` makes, and any other JSON or JSON5 number; nil for anything else or out of range.
    package static func value(_ content: JSONNode.Content) -> Double? {
        switch content {
        case .number("NaN"), .string("NaN"): return .nan
        case .number("Infinity"), .string("Infinity"): return .infinity
        case .number("-Infinity"), .string("-Infinity"): return -.infinity
        case .number(let text):
            guard let value = Double(text), value.isFinite else { return nil }
            return value
        case .string(let text):
            guard text.hasPrefix("NaN:"), text.utf8.count == 20, let bits = UInt64(text.dropFirst(4), radix: 16) else {
                return nil
            }
            let value = Double(bitPattern: bits)
            return value.isNaN ? value : nil
        default: return nil
        }
    }
}
