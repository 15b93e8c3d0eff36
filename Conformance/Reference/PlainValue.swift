internal import Foundation
internal import RoostCore

/// The comparison of values of any type.
struct PlainValue {
    private let model: ManagedObjectModel
    private let text: PlainText

    init(model: ManagedObjectModel, text: PlainText) { (self.model, self.text) = (model, text) }

    /// Returns whether two values are equal.
    ///
    /// Two nulls are equal, and NaN equals nothing. Object IDs are equal if their root entities and
    /// keys are equal.
    func equal(_ left: Value, right: Value, options: FetchRequest.Comparison.Options) -> Bool {
        if left.isNull || right.isNull { return left.isNull && right.isNull }
        if let a = left.plainText, let b = right.plainText {
            return text.folded(a, options: options).utf8.elementsEqual(text.folded(b, options: options).utf8)
        }
        switch (left, right) {
        case (.objectID(let a), .objectID(let b)):
            guard let one = model.entity(a.entity), let other = model.entity(b.entity) else { return false }
            return one.root == other.root && a.key == b.key
        case (.data(let a), .data(let b)): return a == b
        default: return Self.order(left, right) == 0
        }
    }

    /// Returns −1, 0 or 1, or nil if two values have no order.
    func order(_ left: Value, right: Value, options: FetchRequest.Comparison.Options) -> Int? {
        if let a = left.plainText, let b = right.plainText {
            let (a, b) = (text.folded(a, options: options), text.folded(b, options: options))
            return options.contains(.localized)
                ? text.localizedStandardOrder(a, b) : Self.order(Array(a.utf8), Array(b.utf8))
        }
        return Self.order(left, right)
    }

    /// Returns the order of two values: −1, 0 or 1.
    ///
    /// Texts are ordered by code point, data and UUIDs by byte, and dates and numbers by value.
    /// Returns nil if the values have no order, for example nulls, NaN and values of different
    /// kinds.
    static func order(_ left: Value, _ right: Value) -> Int? {
        if let a = left.plainText, let b = right.plainText { return order(Array(a.utf8), Array(b.utf8)) }
        switch (left, right) {
        case (.data(let a), .data(let b)): return order([UInt8](a), [UInt8](b))
        case (.uuid(let a), .uuid(let b)): return order(bytes(a), bytes(b))
        case (.date(let a), .date(let b)):
            return PlainNumber.order(
                .double(a.timeIntervalSinceReferenceDate), .double(b.timeIntervalSinceReferenceDate))
        default: return PlainNumber.order(left, right)
        }
    }

    /// Returns the total order of two values: null before everything, NaN after every number.
    static func rank(_ left: Value, _ right: Value) -> Int {
        let (a, b) = (place(left), place(right))
        return a == b ? (a == 1 ? order(left, right) ?? 0 : 0) : (a < b ? -1 : 1)
    }

    private static func place(_ value: Value) -> Int { value.isNull ? 0 : (isNaN(value) ? 2 : 1) }

    static func isNaN(_ value: Value) -> Bool {
        switch value {
        case .double(let number): number.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        case .decimal(let number): number.isNaN
        default: false
        }
    }

    private static func bytes(_ uuid: UUID) -> [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }

    static func order(_ a: [UInt8], _ b: [UInt8]) -> Int { a == b ? 0 : (a.lexicographicallyPrecedes(b) ? -1 : 1) }
}

extension Value {
    /// The text of a string or a URI.
    var plainText: String? {
        switch self {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }
}
