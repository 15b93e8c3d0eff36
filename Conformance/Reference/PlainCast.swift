internal import Foundation
internal import RoostCore

/// The results of `CAST`; a value that does not fit becomes null.
enum PlainCast {
    static func cast(_ value: Value, type: FetchRequest.CastType) -> Value {
        switch type {
        case .number: number(value)
        case .decimal: decimal(value)
        case .string: string(value)
        case .date: date(value)
        case .data:
            if case .data = value {
                value
            } else {
                value.plainText.flatMap { Data(base64Encoded: $0) }.map { .data($0) } ?? .null
            }
        case .uuid:
            if case .uuid = value {
                value
            } else {
                value.plainText.flatMap { UUID(uuidString: $0) }.map { .uuid($0) } ?? .null
            }
        case .uri: value.plainText.map { .uri($0) } ?? .null
        case .objectID: if case .objectID = value { value } else { object(value) }
        }
    }

    private static func number(_ value: Value) -> Value {
        switch value {
        case .bool, .int, .double, .decimal: return value
        default: break
        }
        guard let text = value.plainText else { return .null }
        if let whole = Int64(text) { return .int(whole) }
        // Every other number becomes the nearest double.
        return text.contains { $0.isNumber } ? Double(text).map { .double($0) } ?? .null : .null
    }

    private static func decimal(_ value: Value) -> Value {
        switch value {
        case .bool(let flag): .decimal(flag ? 1 : 0)
        case .int(let number): .decimal(Decimal(number))
        case .decimal: value
        case .double(let number): DecimalNumber(utf8: "\(number)".utf8).map { .decimal($0.decimal) } ?? .null
        default: value.plainText.flatMap { DecimalNumber(utf8: $0.utf8) }.map { .decimal($0.decimal) } ?? .null
        }
    }

    private static func string(_ value: Value) -> Value {
        switch value {
        case .int(let number): .string("\(number)")
        case .decimal(let number): DecimalNumber(number).map { .string("\($0)") } ?? .null
        case .double(let number): .string("\(number)")
        case .date(let date): DateText.text(date.timeIntervalSinceReferenceDate).map { .string($0) } ?? .null
        case .uuid(let uuid): .string(uuid.uuidString)
        default: value.plainText.map { .string($0) } ?? .null
        }
    }

    private static func date(_ value: Value) -> Value {
        switch value {
        case .date: return value
        case .bool, .int, .double, .decimal:
            return PlainNumber.double(value).map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
        default:
            return value.plainText.flatMap { DateText.seconds($0) }
                .map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
        }
    }

    private static func object(_ value: Value) -> Value {
        guard let parts = value.plainText?.split(separator: "/"), parts.count == 2, let key = Int64(parts[1]) else {
            return .null
        }
        return .objectID(ObjectID(EntityName(String(parts[0])), key: key))
    }
}
