internal import Foundation
internal import RoostCore
internal import RoostJSONText

/// The common type of all values of a column.
///
/// Whole numbers become integers. Other numbers become floating-point numbers, or decimals if
/// digits would be lost. `-0` becomes a floating-point number, to keep its sign. Digits with a
/// leading zero, as in postal codes, are text. Booleans, dates and UUIDs keep their types. All
/// other columns are text.
struct ColumnProfile {
    /// The number of decimal digits that a floating-point number always preserves.
    private static let doubleDigitCount = 15

    private let format: CellFormat
    /// The types that all cells so far can have.
    private var candidates: [AttributeType] = [.boolean, .integer64, .double, .decimal, .date, .uuid]
    private var kinds: Set<ImportRow.Cell.Kind> = []
    private(set) var valueCount = 0
    /// The forms of the dates so far, without fractions.
    private var dateForms: DateForm = []
    private var hasOneDateForm = true
    /// Whether a date so far has a time without a zone.
    private var hasLocalTime = false
    /// The number of dates so far whose offset from UTC is not zero.
    private var offsetCount = 0

    init(_ format: CellFormat) {
        self.format = format
        // Dates with a pattern can look like numbers, so dates are tried first.
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
        // All dates with a given pattern have the same form.
        if candidates.contains(.date), format.datePattern == nil { addDate(bytes) }
    }

    private mutating func addDate(_ bytes: UnsafeRawBufferPointer) {
        guard var form = DateForm.read(bytes)?.form else { return }
        if CellFormat.hasOffset(bytes) { offsetCount += 1 }
        if form.isDisjoint(with: [.dateOnly, .utc, .offset]) { hasLocalTime = true }
        // A date keeps its fraction, so dates with and without a fraction count as the same form.
        form.subtract([.fraction, .rounded])
        if !dateForms.isEmpty, form != dateForms { hasOneDateForm = false }
        dateForms.formUnion(form)
    }

    /// The type, with a remark for the user, and whether some cells are stored in another form.
    var type: (type: AttributeType, remark: String?, isLossy: Bool) {
        if kinds.contains(.json) { return (.string, "lists and objects are kept as JSON text", true) }
        if kinds.count > 1, kinds.contains(.text) || kinds.contains(.boolean) {
            return (.string, "values of several types are kept as text", true)
        }
        guard valueCount > 0 else { return (.string, "no row has a value", false) }
        let type = candidates.first ?? .string
        guard type == .date else { return (type, nil, false) }
        let losses = [
            offsetCount > 0 ? Self.remark(offsetCount: offsetCount) : nil,
            hasOneDateForm ? nil : "the different forms of the dates are not kept",
        ].compactMap { $0 }
        let zone = hasLocalTime && format.timeZone == nil ? ["times without a zone are read as UTC"] : []
        let remarks = zone + losses
        return (type, remarks.isEmpty ? nil : remarks.joined(separator: "; "), !losses.isEmpty)
    }

    static func remark(offsetCount count: Int) -> String {
        count == 1
            ? "1 time with an offset from UTC is kept as a time in UTC"
            : "\(count) times with an offset from UTC are kept as times in UTC"
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
            return format.integer(bytes) != nil && !hasBlanks(bytes) && !isNegativeZero(bytes)
        case .double:
            guard isPlainNumber(bytes, kind: kind), let number = format.double(bytes) else { return false }
            // A longer number must equal the shortest text of its double, or digits would be lost.
            if digitCount(bytes) <= doubleDigitCount { return number.isNormal || number == 0 }
            guard let exact = format.decimal(bytes) else { return false }
            return exact == DecimalNumber(utf8: "\(number)".utf8)
        case .decimal:
            return isPlainNumber(bytes, kind: kind) && format.decimal(bytes) != nil && !isNegativeZero(bytes)
        case .date:
            guard kind == .text || kind == .plain, !hasBlanks(bytes), let seconds = format.seconds(bytes) else {
                return false
            }
            // Stored dates must distinguish fractions of this length.
            let digits = fractionDigitCount(bytes)
            return digits == 0 || seconds.ulp < pow(10, -Double(digits))
        case .uuid: return (kind == .text || kind == .plain) && bytes.count == 36 && CellFormat.uuid(bytes) != nil
        default: return false
        }
    }

    private static func isPlainNumber(_ bytes: UnsafeRawBufferPointer, kind: ImportRow.Cell.Kind) -> Bool {
        (kind == .number || kind == .plain) && !startsWithZero(bytes) && bytes.first != UInt8(ascii: "+")
            && !hasBlanks(bytes)
    }

    /// Returns whether a number is zero with a minus sign, which integers and decimals do not keep.
    private static func isNegativeZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first == UInt8(ascii: "-") && !CellFormat.hasNonzeroDigit(bytes)
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
