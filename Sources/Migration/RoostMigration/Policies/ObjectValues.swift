public import Foundation
public import RoostCore

/// An object on either side of a migration, with its attributes by name.
///
/// Reading an unknown property returns null, and makes the migration fail with `unknownProperty`
/// when the callback returns.
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

    /// Returns the text of a string or URI attribute, or nil for null or another type.
    public func string(_ name: String) -> String? {
        switch self[name] {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }

    /// Returns the value of an integer attribute, or nil for null or another type.
    public func int(_ name: String) -> Int64? {
        guard case .int(let number) = self[name] else { return nil }
        return number
    }

    /// Returns the value of a floating-point or integer attribute, rounded to the nearest double,
    /// or nil for null or another type.
    public func double(_ name: String) -> Double? {
        switch self[name] {
        case .double(let number): number
        case .int(let number): Double(number)
        default: nil
        }
    }

    /// Returns the value of a Boolean attribute, or nil for null or another type.
    public func bool(_ name: String) -> Bool? {
        guard case .bool(let flag) = self[name] else { return nil }
        return flag
    }

    /// Returns the date of a date attribute, or nil for null or another type.
    public func date(_ name: String) -> Date? {
        guard case .date(let date) = self[name] else { return nil }
        return date
    }

    /// Returns the bytes of a data or transformable attribute, or nil for null or another type.
    public func data(_ name: String) -> Data? {
        guard case .data(let data) = self[name] else { return nil }
        return data
    }

    /// Returns the UUID of a UUID attribute, or nil for null or another type.
    public func uuid(_ name: String) -> UUID? {
        guard case .uuid(let uuid) = self[name] else { return nil }
        return uuid
    }

    /// Returns the value of a decimal attribute, or nil for null or another type.
    public func decimal(_ name: String) -> Decimal? {
        guard case .decimal(let number) = self[name] else { return nil }
        return number
    }
}
