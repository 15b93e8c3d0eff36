public import Foundation
public import RoostCore

/// An object of either side of a migration, with its attributes by name.
///
/// Reading a property that the entity does not have gives null, and ends the migration as soon as
/// the callback returns, with code `unknownProperty` and the nearest name.
///
/// ```swift
/// func label(of album: some ObjectValues) -> String {
///     let title = album.string("title") ?? "Untitled"
///     return album.int("year").map { "\(title) (\($0))" } ?? title
/// }
/// ```
public protocol ObjectValues {
    /// The object's identity in its store.
    var id: ObjectID { get }
    /// The value of an attribute, or the ID of the destination of a to-one relationship.
    subscript(name: String) -> Value { get }
}

extension ObjectValues {
    /// The object's entity.
    public var entity: EntityName { id.entity }

    /// The text of a string or URI attribute; nil when it has none, or is of another type.
    public func string(_ name: String) -> String? {
        switch self[name] {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }

    /// The number of an integer attribute; nil when it has none, or is of another type.
    public func int(_ name: String) -> Int64? {
        guard case .int(let number) = self[name] else { return nil }
        return number
    }

    /// The number of a floating-point or integer attribute, rounded to the nearest double; nil when
    /// it has none, or is of another type.
    public func double(_ name: String) -> Double? {
        switch self[name] {
        case .double(let number): number
        case .int(let number): Double(number)
        default: nil
        }
    }

    /// The value of a boolean attribute; nil when it has none, or is of another type.
    public func bool(_ name: String) -> Bool? {
        guard case .bool(let flag) = self[name] else { return nil }
        return flag
    }

    /// The date of a date attribute; nil when it has none, or is of another type.
    public func date(_ name: String) -> Date? {
        guard case .date(let date) = self[name] else { return nil }
        return date
    }

    /// The bytes of a data or transformable attribute; nil when it has none, or is of another type.
    public func data(_ name: String) -> Data? {
        guard case .data(let data) = self[name] else { return nil }
        return data
    }

    /// The UUID of a UUID attribute; nil when it has none, or is of another type.
    public func uuid(_ name: String) -> UUID? {
        guard case .uuid(let uuid) = self[name] else { return nil }
        return uuid
    }

    /// The number of a decimal attribute; nil when it has none, or is of another type.
    public func decimal(_ name: String) -> Decimal? {
        guard case .decimal(let number) = self[name] else { return nil }
        return number
    }
}
