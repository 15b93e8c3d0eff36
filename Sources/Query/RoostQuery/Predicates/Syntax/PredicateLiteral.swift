internal import Foundation
package import RoostCore
internal import RoostJSONText
internal import RoostSystem

/// A value as written in a predicate, before its type is resolved.
indirect enum PredicateLiteral {
    case null
    case bool(Bool)
    /// A number as written, with its sign.
    case number(String)
    case string(String)
    /// A literal with an explicit type: `CAST(…, "NSDate")`.
    case cast(PredicateLiteral, FetchRequest.CastType)
    /// A Swift value that is passed as an argument.
    case typed(Value)

    /// Whether the type may depend on the operand with which the literal is compared.
    var isUntyped: Bool {
        switch self {
        case .cast, .typed: false
        case .null, .bool, .number, .string: true
        }
    }

    /// The kind of the value for messages, without the value itself.
    var kindDescription: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .cast(_, let type): "a cast to \(type.rawValue)"
        case .typed(let value): value.kindDescription
        }
    }

    /// The value that the notation determines; nil for a cast and for a number that is out of
    /// range.
    var alone: Value? {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .string(let text): .string(text)
        case .number(let text): Self.number(text)
        case .cast: nil
        case .typed(let value): value
        }
    }

    /// Returns the value that the notation of a number determines; nil for a number out of range.
    ///
    /// The value is the first possible one of these:
    /// 1. A 64-bit integer.
    /// 2. A double that prints as the same number, if `text` has a point or an exponent.
    /// 3. An exact decimal.
    /// 4. The nearest double.
    static func number(_ text: String) -> Value? {
        if let number = Int64(text) { return .int(number) }
        let double = Double(text).flatMap { $0.isFinite ? $0 : nil }
        if let double, isSameNumber("\(double)", text), text.contains(where: { $0 == "." || $0 == "e" }) {
            return .double(double)
        }
        if let decimal = DecimalNumber(utf8: text.utf8) { return .decimal(decimal.decimal) }
        // A tiny number that would become zero is out of range.
        guard let double, double != 0 || significance(text).digits.isEmpty else { return nil }
        return .double(double)
    }

    /// Whether a number that is compared with a float becomes the nearest 32-bit number.
    ///
    /// True for a number with a point or an exponent, and at most nine digits before the exponent.
    /// Leading zeros do not count. Nine digits identify every float. Any other number is compared
    /// exactly.
    static func isMeantAsFloat(_ number: String) -> Bool {
        guard number.contains(where: { $0 == "." || $0 == "e" }) else { return false }
        return number.prefix { $0 != "e" }.filter(\.isNumber).drop { $0 == "0" }.count <= 9
    }

    private static func isSameNumber(_ first: String, _ second: String) -> Bool {
        let (a, b) = (significance(first), significance(second))
        return a.digits == b.digits && (a.digits.isEmpty || a.exponent == b.exponent)
    }

    /// Returns the digits without leading and trailing zeros, and the power of ten of the last
    /// digit.
    private static func significance(_ number: String) -> (digits: [UInt8], exponent: Int) {
        var digits: [UInt8] = []
        var fraction: Int?
        var bytes = number.utf8[...]
        while let byte = bytes.first {
            bytes.removeFirst()
            switch byte {
            case UInt8(ascii: "."): fraction = 0
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                fraction =
                    (fraction ?? 0).subtractingReportingOverflow(Int(String(Substring(bytes))) ?? .max).partialValue
                bytes = bytes.suffix(0)
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
                fraction = fraction.map { $0 &+ 1 }
            default: break
            }
        }
        var exponent = 0 &- (fraction ?? 0)
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent &+= 1
        }
        return (digits, exponent)
    }
}

extension FetchRequest.CastType {
    /// The literals that can be cast to this type, for messages.
    var expectedLiteral: String {
        switch self {
        case .number: "a number or a boolean, also as a string, or \"NaN\", \"Infinity\" or \"-Infinity\""
        case .decimal: "a number of at most 38 digits, as a string or not, or a boolean"
        case .string: "a string"
        case .date: "seconds since 2001-01-01 as a number, or a date as a string such as \"2024-05-01T12:00:00Z\""
        case .data: "base64 as a string"
        case .uuid: "a UUID as a string"
        case .uri: "a URI as a string"
        case .objectID: "an object as a string such as \"Album/5\""
        }
    }

    /// Returns the value of a literal cast to this type; nil if the literal cannot be cast.
    func value(_ literal: PredicateLiteral, model: ManagedObjectModel?) -> Value? {
        written(literal, model: model) ?? literal.alone.flatMap { PredicateCasting.value($0, as: self, model: model) }
    }

    /// Returns the value of a literal in a notation of this type; nil for any other literal.
    private func written(_ literal: PredicateLiteral, model: ManagedObjectModel?) -> Value? {
        switch (self, literal) {
        case (_, .null): return .null
        case (.number, .bool(let flag)): return .bool(flag)
        case (.number, .number(let text)):
            if let number = Int64(text) { return .int(number) }
            return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
        case (.number, .string(let text)): return JSONNode.Content.string(text).double.map { .double($0) }
        case (.date, .number(let text)):
            return Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case (.date, .string(let text)):
            return (JSONNode.Content.string(text).double ?? DateText.seconds(text))
                .map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case (.decimal, .string(let text)), (.decimal, .number(let text)):
            return DecimalNumber(utf8: text.utf8).map { .decimal($0.decimal) }
        case (.string, .string(let text)): return .string(text)
        case (.data, .string(let text)): return Base64.data(text).map { .data($0) }
        case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) }
        case (.uri, .string(let text)): return .uri(text)
        case (.objectID, .string(let text)):
            if let model { return model.objectID(text).map { .objectID($0) } }
            return ObjectID(text: text) { EntityName(String($0)) }.map { .objectID($0) }
        default: return nil
        }
    }
}

extension ManagedObjectModel {
    /// Parses `Entity/5` and `Entity/p5`; nil for other texts and for unknown entities.
    package func objectID(_ text: String) -> ObjectID? {
        // Entities are searched by text, because an `EntityName` for an unknown name would never be
        // freed.
        ObjectID(text: text) { name in entities.first { $0.name.text == name }?.name }
    }
}

extension ObjectID {
    fileprivate init?(text: String, entity: (Substring) -> EntityName?) {
        guard let slash = text.lastIndex(of: "/") else { return nil }
        var digits = text[text.index(after: slash)...]
        if digits.first == "p" { digits.removeFirst() }
        guard !text[..<slash].isEmpty,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let key = Int64(digits),
            key > 0, let name = entity(text[..<slash])
        else { return nil }
        self.init(name, key: key)
    }
}
