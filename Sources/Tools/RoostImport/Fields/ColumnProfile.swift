internal import RoostCore
internal import RoostJSONText

/// The common type of all values of a column.
///
/// Whole numbers become integers. Other numbers become floating-point numbers, or decimal numbers
/// if digits would be lost. Digits with a leading zero, as in postal codes, are text. Booleans,
/// dates and UUIDs keep their types. All other columns are text, which keeps each cell unchanged.
struct ColumnProfile {
    /// The number of digits that every floating-point number preserves.
    private static let doubleDigitCount = 15
    /// The number of digits of a fractional second that a date preserves.
    private static let dateDigitCount = 6

    private static let nestedRemark = "lists and objects are kept as JSON text"
    private static let mixedRemark = "values of several types are kept as text"
    /// The remarks about values that are stored in another form.
    static let changes = [nestedRemark, mixedRemark]

    private let format: CellFormat
    /// The types that all cells so far can have.
    ///
    /// Before the first cell, these are all types except text.
    private var candidates: [AttributeType] = [.boolean, .integer64, .double, .decimal, .date, .uuid]
    private var kinds: Set<ImportRow.Cell.Kind> = []
    /// The number of cells with a value.
    private(set) var valueCount = 0

    init(_ format: CellFormat) {
        self.format = format
        // If a date pattern is given, dates are tried before numbers, because dates can look like
        // numbers.
        if format.datePattern != nil { candidates = [.date] + candidates.filter { $0 != .date } }
    }

    mutating func add(_ kind: ImportRow.Cell.Kind, bytes: UnsafeRawBufferPointer) {
        switch kind {
        case .absent, .null: return
        default: break
        }
        valueCount += 1
        kinds.insert(kind)
        guard !candidates.isEmpty else { return }
        candidates.removeAll { !Self.fits(bytes, kind: kind, type: $0, format: format) }
    }

    /// The type, with a remark for the user.
    var type: (type: AttributeType, remark: String?) {
        if kinds.contains(.json) { return (.string, Self.nestedRemark) }
        if kinds.count > 1, kinds.contains(.text) || kinds.contains(.boolean) {
            return (.string, Self.mixedRemark)
        }
        guard valueCount > 0 else { return (.string, "no row has a value") }
        return (candidates.first ?? .string, nil)
    }

    private static func fits(
        _ bytes: UnsafeRawBufferPointer, kind: ImportRow.Cell.Kind, type: AttributeType, format: CellFormat
    ) -> Bool {
        switch type {
        case .boolean:
            guard kind == .boolean || kind == .plain, bytes.count == 4 || bytes.count == 5 else { return false }
            return ["true", "false", "TRUE", "FALSE", "True", "False"].contains(String(decoding: bytes, as: UTF8.self))
        case .integer64:
            guard kind == .number || kind == .plain, !startsWithZero(bytes), bytes.first != UInt8(ascii: "+") else {
                return false
            }
            return format.integer(bytes) != nil && !hasBlanks(bytes)
        case .double:
            guard isPlainNumber(bytes, kind: kind), let number = format.double(bytes) else { return false }
            // A number of more than 15 digits must equal the shortest text of the double. Otherwise
            // digits would be lost.
            if digitCount(bytes) <= doubleDigitCount { return number.isNormal || number == 0 }
            guard let exact = format.decimal(bytes) else { return false }
            return exact == DecimalNumber(utf8: "\(number)".utf8)
        case .decimal: return isPlainNumber(bytes, kind: kind) && format.decimal(bytes) != nil
        case .date:
            guard kind == .text || kind == .plain, fractionDigitCount(bytes) <= dateDigitCount else { return false }
            return format.seconds(bytes) != nil && !hasBlanks(bytes)
        case .uuid: return (kind == .text || kind == .plain) && bytes.count == 36 && CellFormat.uuid(bytes) != nil
        default: return false
        }
    }

    private static func isPlainNumber(_ bytes: UnsafeRawBufferPointer, kind: ImportRow.Cell.Kind) -> Bool {
        (kind == .number || kind == .plain) && !startsWithZero(bytes) && bytes.first != UInt8(ascii: "+")
            && !hasBlanks(bytes)
    }

    private static func hasBlanks(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first == UInt8(ascii: " ") || bytes.last == UInt8(ascii: " ") || bytes.first == UInt8(ascii: "\t")
            || bytes.last == UInt8(ascii: "\t")
    }

    /// Returns whether the text begins with a redundant zero, as in `007`.
    private static func startsWithZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        guard digits.count > 1, digits.first == UInt8(ascii: "0") else { return false }
        return JSONNumbers.isDigit(digits[digits.startIndex + 1])
    }

    /// Returns the number of digits after the last point.
    private static func fractionDigitCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let point = bytes.lastIndex(of: UInt8(ascii: ".")) else { return 0 }
        return bytes[(point + 1)...].prefix { JSONNumbers.isDigit($0) }.count
    }

    private static func digitCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        for byte in bytes {
            if JSONNumbers.isDigit(byte) { count += 1 }
            if byte | 0x20 == UInt8(ascii: "e") { break }
        }
        return count
    }
}
