internal import RoostCore
internal import RoostSystem

/// The text form of NaN, for databases that cannot store NaN as a number.
///
/// The quiet NaN without payload is `NaN`. Any other NaN is `NaN:` and the 16 hexadecimal digits of
/// its bits (8 for a float). If a database sorts values by type first, these texts come after all
/// numbers.
public enum SQLFloatingText {
    /// Returns the text for the 64 bits of a NaN.
    public static func text(_ bits: UInt64) -> String {
        bits == Double.nan.bitPattern ? "NaN" : "NaN:" + bits.hexadecimal
    }

    /// Returns the text for the 32 bits of a NaN.
    public static func text(_ bits: UInt32) -> String {
        bits == Float.nan.bitPattern ? "NaN" : "NaN:" + bits.hexadecimal
    }

    /// Returns the bits of a double; nil if the text is not a NaN.
    package static func bits64(_ text: some Collection<UInt8>) -> UInt64? {
        guard let digits = payload(text) else { return nil }
        if digits.isEmpty { return Double.nan.bitPattern }
        guard digits.count == 16, let bits = UInt64(digits, radix: 16), Double(bitPattern: bits).isNaN else {
            return nil
        }
        return bits
    }

    /// Returns the bits of a float; nil if the text is not a NaN.
    package static func bits32(_ text: some Collection<UInt8>) -> UInt32? {
        guard let digits = payload(text) else { return nil }
        if digits.isEmpty { return Float.nan.bitPattern }
        guard digits.count == 8, let bits = UInt32(digits, radix: 16), Float(bitPattern: bits).isNaN else { return nil }
        return bits
    }

    /// Returns the digits after `NaN:`, an empty text for `NaN`, or nil for any other text.
    private static func payload(_ text: some Collection<UInt8>) -> String? {
        guard text.count <= 20, text.starts(with: "NaN".utf8) else { return nil }
        let rest = text.dropFirst(3)
        if rest.isEmpty { return "" }
        guard rest.first == UInt8(ascii: ":"), rest.count > 1 else { return nil }
        let digits = String(decoding: rest.dropFirst(), as: UTF8.self)
        return digits.utf8.first == UInt8(ascii: "+") ? nil : digits
    }
}
