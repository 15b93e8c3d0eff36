public import Foundation
public import RoostCore

/// A Swift type of attribute values.
public protocol AttributeValue: Sendable {
    /// Creates an instance from an attribute's value, or returns nil if `value` has another type or
    /// is out of range.
    init?(attribute value: Value)
    /// The instance as a ``Value``.
    var attributeValue: Value { get }
}

extension Value: AttributeValue {
    /// Copies `value`.
    public init?(attribute value: Value) { self = value }
    /// The value itself.
    public var attributeValue: Value { self }

    /// Returns whether the value, which must not be null, is valid for an attribute of the type.
    func fits(_ type: AttributeType) -> Bool {
        switch (self, type) {
        case (_, .undefined), (.bool, .boolean), (.double, .double), (.double, .float), (.decimal, .decimal),
            (.string, .string), (.data, .binaryData), (.data, .transformable), (.date, .date), (.uuid, .uuid),
            (.uri, .uri), (.objectID, .objectID), (.composite, .composite):
            true
        case (.int(let number), .integer16): Int16(exactly: number) != nil
        case (.int(let number), .integer32): Int32(exactly: number) != nil
        case (.int, .integer64): true
        default: false
        }
    }
}

extension Bool: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type.
    public init?(attribute value: Value) {
        guard case .bool(let value) = value else { return nil }
        self = value
    }
    /// The attribute value.
    public var attributeValue: Value { .bool(self) }
}

extension Double: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type.
    public init?(attribute value: Value) {
        guard case .double(let value) = value else { return nil }
        self = value
    }
    /// The attribute value.
    public var attributeValue: Value { .double(self) }
}

extension Decimal: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type.
    public init?(attribute value: Value) {
        guard case .decimal(let value) = value else { return nil }
        self = value
    }
    /// The attribute value.
    public var attributeValue: Value { .decimal(self) }
}

extension Data: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type.
    public init?(attribute value: Value) {
        guard case .data(let value) = value else { return nil }
        self = value
    }
    /// The attribute value.
    public var attributeValue: Value { .data(self) }
}

extension Date: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type.
    public init?(attribute value: Value) {
        guard case .date(let value) = value else { return nil }
        self = value
    }
    /// The attribute value.
    public var attributeValue: Value { .date(self) }
}

extension UUID: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type.
    public init?(attribute value: Value) {
        guard case .uuid(let value) = value else { return nil }
        self = value
    }
    /// The attribute value.
    public var attributeValue: Value { .uuid(self) }
}

extension ObjectID: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type.
    public init?(attribute value: Value) {
        guard case .objectID(let value) = value else { return nil }
        self = value
    }
    /// The attribute value.
    public var attributeValue: Value { .objectID(self) }
}

extension Int16: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type or is out of range.
    public init?(attribute value: Value) {
        guard case .int(let number) = value else { return nil }
        self.init(exactly: number)
    }
    /// The attribute value.
    public var attributeValue: Value { .int(Int64(self)) }
}

extension Int32: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type or is out of range.
    public init?(attribute value: Value) {
        guard case .int(let number) = value else { return nil }
        self.init(exactly: number)
    }
    /// The attribute value.
    public var attributeValue: Value { .int(Int64(self)) }
}

extension Int64: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type.
    public init?(attribute value: Value) {
        guard case .int(let number) = value else { return nil }
        self.init(exactly: number)
    }
    /// The attribute value.
    public var attributeValue: Value { .int(Int64(self)) }
}

extension Int: AttributeValue {
    /// Unwraps `value`, or returns nil if it has another type or is out of range.
    public init?(attribute value: Value) {
        guard case .int(let number) = value else { return nil }
        self.init(exactly: number)
    }
    /// The attribute value.
    public var attributeValue: Value { .int(Int64(self)) }
}

extension Float: AttributeValue {
    /// Rounds `value`, or returns nil if it has another type.
    public init?(attribute value: Value) {
        guard case .double(let number) = value else { return nil }
        self.init(number)
    }
    /// The attribute value.
    public var attributeValue: Value { .double(Double(self)) }
}

extension String: AttributeValue {
    /// Unwraps `value`, or returns nil if it is neither text nor a URI.
    public init?(attribute value: Value) {
        switch value {
        case .string(let text), .uri(let text): self = text
        default: return nil
        }
    }
    /// The attribute value.
    public var attributeValue: Value { .string(self) }
}
