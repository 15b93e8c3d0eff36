internal import Foundation
package import RoostCore
internal import RoostJSONText
internal import RoostSystem

/// A value as it is written in a predicate, before it is known what it is compared with.
indirect enum PredicateLiteral {
    case null
    case bool(Bool)
    /// A number as it is written, with its sign.
    case number(String)
    case string(String)
    /// A literal whose type is written with it: `CAST(…, "NSDate")`.
    case cast(PredicateLiteral, FetchRequest.CastType)
    /// A value that the program gives.
    case typed(Value)

    /// Whether what it is compared with may decide what it means.
    var isUntyped: Bool {
        switch self {
        case .cast, .typed: false
        case .null, .bool, .number, .string: true
        }
    }

    /// The kind of the value for messages, never the value itself.
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

    /// The value without regard to what it is compared with; nil of a number that no type holds.
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

    /// The value of a number without regard to what it is compared with.
    ///
    /// A whole number of 64 bits, else a double if that prints as the same number, else a decimal
    /// if that holds it, else the nearest double; nil for a number that is larger than all of them,
    /// or nearer to zero.
    static func number(_ text: String) -> Value? {
        if let number = Int64(text) { return .int(number) }
        let double = Double(text).flatMap { $0.isFinite ? $0 : nil }
        if let double, isSameNumber("\(double)", text), text.contains(where: { $0 == "." || $0 == "e" }) {
            return .double(double)
        }
        if let decimal = DecimalNumber(utf8: text.utf8) { return .decimal(decimal.decimal) }
        // What is too small for all of them is not zero.
        guard let double, double != 0 || significance(text).digits.isEmpty else { return nil }
        return .double(double)
    }

    /// Whether a number means the nearest 32-bit floating-point number, where it meets one.
    ///
    /// Every such number prints with at most nine digits; what is written with more is meant
    /// exactly, and so is a whole number.
    static func isMeantAsFloat(_ number: String) -> Bool {
        number.contains { $0 == "." || $0 == "e" } && number.prefix { $0 != "e" }.count { $0.isNumber } <= 9
    }

    /// Whether two numbers are written with the same digits and the same power of ten.
    private static func isSameNumber(_ first: String, _ second: String) -> Bool {
        let (a, b) = (significance(first), significance(second))
        return a.digits == b.digits && (a.digits.isEmpty || a.exponent == b.exponent)
    }

    /// The digits without zeros around them, and the power of ten of the last one.
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
    /// The literals that may be the first argument of a cast.
    var expectedLiteral: String {
        switch self {
        case .number: "a number, a boolean, or one of them, \"NaN\", \"Infinity\" or \"-Infinity\" as a string"
        case .decimal: "a number of at most 38 digits, as a string or not, or a boolean"
        case .string: "a string"
        case .date: "seconds since 2001-01-01 as a number, or a date as a string such as \"2024-05-01T12:00:00Z\""
        case .data: "base64 as a string"
        case .uuid: "a UUID as a string"
        case .uri: "a URI as a string"
        case .objectID: "an object as a string such as \"Album/5\""
        }
    }

    /// The value of a cast of a literal, which is what the cast makes of the same value in a
    /// property; nil if the literal is not such a value.
    func value(_ literal: PredicateLiteral, model: ManagedObjectModel?) -> Value? {
        written(literal, model: model) ?? literal.alone.flatMap { PredicateCasting.value($0, as: self, model: model) }
    }

    /// The value that is written as this literal.
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
    /// Reads `Entity/5` and `Entity/p5`; nil for other texts and for unknown entities.
    package func objectID(_ text: String) -> ObjectID? {
        // Looked for by its text: an unknown name must not become an entity name for the life of
        // the process.
        ObjectID(text: text) { name in entities.first { $0.name.text == name }?.name }
    }
}

extension ObjectID {
    /// Reads `Entity/5` and `Entity/p5`; nil for other texts and for unknown entities.
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
