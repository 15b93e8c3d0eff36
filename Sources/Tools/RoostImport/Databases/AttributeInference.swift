internal import Foundation
internal import RoostCore

/// The attribute type that fits the declared type and the values of a column.
struct AttributeInference {
    var type: AttributeType
    /// A remark for the user about the values.
    var remark: String?
    /// Whether the original values cannot be restored exactly.
    var isLossy = false
    /// Whether different values of the column become different values of the attribute.
    var isInjective = true

    init(_ facts: ColumnFacts) {
        type = .string
        guard !facts.isStrict else {
            chooseStrict(facts)
            return
        }
        guard facts.values > 0 else {
            type = Self.declared(facts.declaredType)
            if facts.declaredType == .none || facts.declaredType == .other, facts.nulls > 0 {
                remark = "has no values, so its type is a guess"
            }
            return
        }
        if chooseDate(facts) || chooseUUID(facts) { return }
        switch (facts.integers + facts.reals > 0, facts.texts > 0, facts.blobs > 0) {
        case (true, false, false): chooseNumber(facts)
        case (false, true, false):
            guard !facts.isValidText else { return }
            type = .binaryData
            (remark, isLossy) = ("has text that is not valid UTF-8, so its bytes are kept", true)
        case (false, false, true): type = .binaryData
        default: chooseMixture(facts)
        }
    }

    private static func declared(_ type: DeclaredType) -> AttributeType {
        switch type {
        case .boolean: .boolean
        case .uuid: .uuid
        case .date: .date
        case .decimal: .decimal
        case .integer: .integer64
        case .integer16: .integer16
        case .integer32: .integer32
        case .blob: .binaryData
        case .real: .double
        case .float: .float
        case .time: .date
        case .text, .none, .other: .string
        }
    }

    /// Chooses the declared type, or text or binary data if a value does not fit.
    private mutating func chooseStrict(_ facts: ColumnFacts) {
        type = Self.declared(facts.declaredType)
        guard facts.isValidText else {
            type = .binaryData
            (remark, isLossy) = ("has text that is not valid UTF-8, so its bytes are kept", true)
            return
        }
        switch facts.declaredType {
        case .decimal, .date, .time:
            guard facts.texts == 0 else {
                let values = facts.texts == 1 ? "1 value does" : "\(facts.texts) values do"
                let place = facts.firstTextRow.map { ", such as in row \($0)" } ?? ""
                remark = "\(values) not fit type \(type.name)\(place), so all values are kept as text"
                (type, isLossy) = (.string, true)
                return
            }
            if facts.declaredType == .time { remark = "times without a zone are read as UTC" }
            guard !facts.hasExactDates else { return }
            remark = [remark, "long fractions of a second are rounded"].compactMap { $0 }.joined(separator: "; ")
            (isInjective, isLossy) = (false, true)
        default: break
        }
    }

    private mutating func chooseDate(_ facts: ColumnFacts) -> Bool {
        guard facts.declaredType == .date, facts.texts == facts.values, facts.isDate else { return false }
        type = .date
        let form = facts.dateForms
        var losses: [String] = []
        if form.contains(.offset) { losses.append("the offset from UTC is not kept") }
        if form.contains(.rounded) { losses.append("long fractions of a second are rounded") }
        // Two forms, such as a date alone and a date with midnight, can mean the same time.
        let isOneForm = facts.hasOneDateForm
        if !isOneForm { losses.append("the different forms of the text are not kept") }
        let isZoned = form.contains(.utc) || form.contains(.offset)
        if !isZoned, form != .dateOnly { remark = "times without a zone are read as UTC" }
        isInjective = isOneForm && !form.contains(.offset) && !form.contains(.fraction)
        guard !losses.isEmpty else { return true }
        isLossy = true
        remark = ([remark].compactMap { $0 } + losses).joined(separator: "; ")
        return true
    }

    private mutating func chooseUUID(_ facts: ColumnFacts) -> Bool {
        guard facts.declaredType == .uuid, facts.texts + facts.blobs == facts.values, facts.isUUID else {
            return false
        }
        type = .uuid
        isInjective = (facts.texts == 0 || facts.blobs == 0) && !(facts.hasUpperCase && facts.hasLowerCase)
        if facts.texts > 0, facts.blobs > 0 {
            (remark, isLossy) = ("the difference between text and bytes is not kept", true)
        } else if facts.hasLowerCase {
            (remark, isLossy) = ("the case of the letters is not kept", true)
        }
        return true
    }

    private mutating func chooseNumber(_ facts: ColumnFacts) {
        if facts.declaredType == .decimal, facts.isDecimal {
            type = .decimal
        } else if facts.reals == 0 {
            type = facts.declaredType == .boolean && facts.isBoolean ? .boolean : .integer64
            if facts.declaredType == .date { remark = "numbers do not become dates, because their unit is not known" }
        } else if facts.isExactDouble {
            type = .double
        } else {
            chooseMixture(facts)
        }
    }

    private mutating func chooseMixture(_ facts: ColumnFacts) {
        let isText = facts.blobs == 0 && facts.isValidText
        type = isText ? .string : .binaryData
        isInjective = false
        let parts = [
            (facts.integers, "whole number"), (facts.reals, "floating-point number"), (facts.texts, "text"),
            (facts.blobs, "blob"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        let kept = isText ? "all are kept as text" : "all are kept as bytes, with numbers written as text"
        (remark, isLossy) = ("has \(parts.joined(separator: ", ")): \(kept)", true)
    }

    // MARK: Defaults

    /// Converts the literal of a DEFAULT clause to the chosen type, or returns nil if it does not
    /// fit.
    func defaultValue(_ literal: SchemaLiteral) -> Value? {
        switch (literal, type) {
        case (.null, _): return .null
        case (.boolean(let value), .boolean): return .bool(value)
        case (.number(let text), .boolean): return text == "0" ? .bool(false) : text == "1" ? .bool(true) : nil
        case (.boolean(let value), .integer64): return .int(value ? 1 : 0)
        case (.number(let text), .integer64), (.text(let text), .integer64): return Int64(text).map { .int($0) }
        case (.number(let text), .integer32): return Int32(text).map { .int(Int64($0)) }
        case (.number(let text), .integer16): return Int16(text).map { .int(Int64($0)) }
        case (.number(let text), .float): return Float(text).map { .double(Double($0)) }
        case (.number(let text), .double), (.text(let text), .double): return Double(text).map { .double($0) }
        case (.number(let text), .decimal), (.text(let text), .decimal):
            return DecimalNumber(utf8: text.utf8).map { .decimal($0.decimal) }
        case (.text(let text), .string), (.number(let text), .string): return .string(text)
        case (.text(let text), .date):
            return DateText.seconds(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case (.text(let text), .uuid): return UUID(uuidString: text).map { .uuid($0) }
        case (.blob(let bytes), .binaryData): return .data(Data(bytes))
        case (.text(let text), .binaryData): return .data(Data(text.utf8))
        default: return nil
        }
    }
}
