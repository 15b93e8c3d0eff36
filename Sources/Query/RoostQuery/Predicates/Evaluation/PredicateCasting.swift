internal import Foundation
internal import RoostCore
internal import RoostJSONText
internal import RoostSystem

/// The conversions of `CAST` at run time.
enum PredicateCasting {
    static func value(_ value: Value, as type: FetchRequest.CastType, model: ManagedObjectModel?) -> Value? {
        switch type {
        case .number: number(value)
        case .decimal: decimal(value)
        case .string: text(value).map { .string($0) }
        case .date: date(value)
        case .data:
            switch value {
            case .data: value
            default: value.text.flatMap { Base64.data($0) }.map { .data($0) }
            }
        case .uuid:
            switch value {
            case .uuid: value
            default: value.text.flatMap { UUID(uuidString: $0) }.map { .uuid($0) }
            }
        case .uri: value.text.map { .uri($0) }
        case .objectID:
            switch value {
            case .objectID: value
            default: value.text.flatMap { model?.objectID($0) }.map { .objectID($0) }
            }
        }
    }

    private static func number(_ value: Value) -> Value? {
        switch value {
        case .bool, .int, .double, .decimal: return value
        default:
            guard let text = value.text else { return nil }
            if let number = JSONNode.Content.string(text).double { return .double(number) }
            return isNumber(text) ? PredicateLiteral.number(text.lowercased()) : nil
        }
    }

    private static func decimal(_ value: Value) -> Value? {
        switch value {
        case .decimal: return value
        case .bool(let flag): return .decimal(flag ? 1 : 0)
        case .int(let number): return .decimal(Decimal(number))
        // Uses the shortest decimal text of the number, not the exact value of its bits.
        case .double(let number): return DecimalNumber(utf8: "\(number)".utf8).map { .decimal($0.decimal) }
        default:
            guard let text = value.text, isNumber(text) else { return nil }
            return DecimalNumber(utf8: text.utf8).map { .decimal($0.decimal) }
        }
    }

    /// Whether a text contains only digits, signs, points, and the letter of an exponent.
    private static func isNumber(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            byte &- UInt8(ascii: "0") < 10 || "+-.eE".utf8.contains(byte)
        }
    }

    private static func text(_ value: Value) -> String? {
        switch value {
        case .string(let text), .uri(let text): text
        case .bool(let flag): flag ? "1" : "0"
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): DecimalNumber(number)?.description
        case .date(let date): DateText.text(date.timeIntervalSinceReferenceDate)
        case .uuid(let uuid): uuid.uuidString
        case .null, .data, .objectID, .composite: nil
        }
    }

    private static func date(_ value: Value) -> Value? {
        let seconds: Double?
        switch value {
        case .date(let date): seconds = date.timeIntervalSinceReferenceDate
        case .bool(let flag): seconds = flag ? 1 : 0
        case .int(let number): seconds = Double(number)
        case .double(let number): seconds = number
        case .decimal(let number): seconds = number.isNaN ? .nan : DecimalNumber(number)?.nearestDouble
        default: seconds = value.text.flatMap { JSONNode.Content.string($0).double ?? DateText.seconds($0) }
        }
        return seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    }
}
