internal import Foundation

/// A value as it is written in a predicate, before it is known what it is compared with.
enum PredicateLiteral {
    case null
    case bool(Bool)
    /// A number as it is written, with its sign.
    case number(String)
    case string(String)
    /// A value whose type is written with it: `CAST(…, "NSDate")`.
    case typed(Value)

    /// What kind of value this is, for messages: never the value itself.
    var kindDescription: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .typed(let value): value.kindDescription
        }
    }

    /// The value without regard to what it is compared with; nil for a number that no type holds.
    var value: Value? {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .number(let text): Self.number(text)
        case .string(let text): .string(text)
        case .typed(let value): value
        }
    }

    /// A whole number of 64 bits if it is one, else a decimal if it is whole, else a floating-point number.
    private static func number(_ text: String) -> Value? {
        if let number = Int64(text) { return .int(number) }
        guard text.contains(where: { $0 == "." || $0 == "e" }) else {
            return DecimalNumber(utf8: text.utf8).map { .decimal($0.decimal) }
        }
        return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
    }

    /// Whether a number means the nearest 32-bit floating-point number, where it meets one.
    ///
    /// Every such number prints with at most nine digits; what is written with more is meant exactly, and so is a whole number.
    static func isMeantAsFloat(_ number: String) -> Bool {
        number.contains { $0 == "." || $0 == "e" } && number.prefix { $0 != "e" }.count { $0.isNumber } <= 9
    }
}

/// The values that `CAST` makes, by the names of their classes in Core Data.
enum PredicateCast: String, CaseIterable {
    case number = "NSNumber"
    case decimal = "NSDecimalNumber"
    case string = "NSString"
    case date = "NSDate"
    case data = "NSData"
    case uuid = "NSUUID"
    case uri = "NSURL"
    case objectID = "NSManagedObjectID"

    /// What is written in the first place of the cast.
    var expected: String {
        switch self {
        case .number: "a number, or \"NaN\", \"Infinity\" or \"-Infinity\""
        case .decimal: "a decimal number as a string"
        case .string: "a string"
        case .date: "seconds since 2001-01-01 as a number, or a date as a string such as \"2024-05-01T12:00:00Z\""
        case .data: "base64 as a string"
        case .uuid: "a UUID as a string"
        case .uri: "a URI as a string"
        case .objectID: "an object as a string such as \"Album/5\""
        }
    }

    /// The value of a cast; nil when the literal is no such value.
    func value(_ literal: PredicateLiteral, _ model: ManagedObjectModel) -> Value? {
        switch (self, literal) {
        case (.number, .number(let text)): return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
        case (.number, .string(let text)): return JSONDouble.value(.string(text)).map { .double($0) }
        case (.date, .number(let text)):
            return Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case (.date, .string(let text)):
            return (JSONDouble.value(.string(text)) ?? DateText.seconds(text))
                .map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case (.decimal, .string(let text)), (.decimal, .number(let text)):
            return DecimalNumber(utf8: text.utf8).map { .decimal($0.decimal) }
        case (.string, .string(let text)): return .string(text)
        case (.data, .string(let text)): return Data(base64Encoded: text).map { .data($0) }
        case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) }
        case (.uri, .string(let text)): return .uri(text)
        case (.objectID, .string(let text)): return model.objectID(text).map { .objectID($0) }
        default: return nil
        }
    }
}

extension ManagedObjectModel {
    /// Reads `Entity/5` and `Entity/p5`; nil when it is not written so, or when there is no such entity.
    func objectID(_ text: String) -> ObjectID? {
        guard let slash = text.lastIndex(of: "/") else { return nil }
        var digits = text[text.index(after: slash)...]
        if digits.first == "p" { digits.removeFirst() }
        // Looked for by its text: a name that is not known must not become one for the life of the process.
        guard let name = entities.first(where: { $0.name.text == text[..<slash] })?.name,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let key = Int64(digits),
            key > 0
        else { return nil }
        return ObjectID(name, key)
    }
}
