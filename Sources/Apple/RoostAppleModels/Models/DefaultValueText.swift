internal import Foundation
internal import RoostCore

/// A reader of `defaultValueString` that converts text as Core Data's compiler does.
///
/// Xcode keeps the text when the attribute's type changes, so an integer may have the default `NO`.
/// The compiler converts only the start of such a text, as `NSString.integerValue` and `boolValue`
/// do.
enum DefaultValueText {
    /// Returns the value of a text, and whether the whole text is valid for the type.
    ///
    /// Returns nil if the text cannot be converted. Callers pass an empty text only for a string.
    static func value(_ text: String, type: AttributeType) -> (value: Value, isWhole: Bool)? {
        switch type {
        case .integer16, .integer32, .integer64:
            let number = integer(text)
            guard let value = fitting(number.value, type: type) else { return nil }
            return (value, number.isWhole)
        case .boolean:
            let isWhole = XMLModelDocument.boolean(text) != nil || real(text).isWhole
            return (.bool(boolean(text)), isWhole)
        case .double, .float, .decimal:
            if let value = XMLModelDocument.value(text, type: type) { return (value, true) }
            let number = String(decoding: real(text).digits, as: UTF8.self)
            return XMLModelDocument.value(number.isEmpty ? "0" : number, type: type).map { ($0, false) }
        default: return XMLModelDocument.value(text, type: type).map { ($0, true) }
        }
    }

    private static func fitting(_ number: Int64, type: AttributeType) -> Value? {
        switch type {
        case .integer16: Int16(exactly: number).map { .int(Int64($0)) }
        case .integer32: Int32(exactly: number).map { .int(Int64($0)) }
        default: .int(number)
        }
    }

    // MARK: Conversions like NSString's

    /// Returns the whole number at the start of a text, or 0 if no number is there.
    ///
    /// Clamps the number to 64 bits. `isWhole` is false if the number is missing or clamped, or if
    /// anything except a fraction of zeros follows.
    static func integer(_ text: String) -> (value: Int64, isWhole: Bool) {
        var rest = afterSpaces(text)
        let isNegative = takeSign(&rest)
        var (value, count, saturates): (Int64, Int, Bool) = (0, 0, false)
        while let digit = rest.first.flatMap(digit) {
            rest = rest.dropFirst()
            count += 1
            let (tens, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) =
                isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
            if overflows || overflowsToo { saturates = true }
            value = saturates ? (isNegative ? .min : .max) : sum
        }
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop { $0 == UInt8(ascii: "0") } }
        return (value, count > 0 && !saturates && rest.isEmpty)
    }

    /// Returns whether a text begins with `Y`, `y`, `T`, `t` or a nonzero number, after optional
    /// white space, sign and zeros.
    static func boolean(_ text: String) -> Bool {
        let letters = Array("YyTt".utf8)
        var rest = afterSpaces(text)
        if let first = rest.first, letters.contains(first) { return true }
        _ = takeSign(&rest)
        rest = rest.drop { $0 == UInt8(ascii: "0") }
        guard let first = rest.first else { return false }
        return letters.contains(first) || digit(first) != nil
    }

    /// Returns the characters of the number at the start of a text.
    ///
    /// `isWhole` is false if the number is missing or anything follows it.
    static func real(_ text: String) -> (digits: ArraySlice<UInt8>, isWhole: Bool) {
        let start = afterSpaces(text)
        var rest = start
        _ = takeSign(&rest)
        var count = takeDigits(&rest)
        if rest.first == UInt8(ascii: ".") {
            let point = rest
            rest = rest.dropFirst()
            let fraction = takeDigits(&rest)
            // A point without digits is not part of the number.
            if count + fraction == 0 { rest = point }
            count += fraction
        }
        guard count > 0 else { return ([], false) }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            let exponent = rest
            rest = rest.dropFirst()
            _ = takeSign(&rest)
            if takeDigits(&rest) == 0 { rest = exponent }
        }
        return (start[start.startIndex..<rest.startIndex], rest.isEmpty)
    }

    private static func afterSpaces(_ text: String) -> ArraySlice<UInt8> {
        Array(text.drop(while: \.isWhitespace).utf8)[...]
    }

    private static func takeSign(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") else { return false }
        rest = rest.dropFirst()
        return first == UInt8(ascii: "-")
    }

    private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> Int {
        let count = rest.count
        rest = rest.drop { digit($0) != nil }
        return count - rest.count
    }

    private static func digit(_ byte: UInt8) -> Int64? {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? Int64(byte - UInt8(ascii: "0")) : nil
    }
}
