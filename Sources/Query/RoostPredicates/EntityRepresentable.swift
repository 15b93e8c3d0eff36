public import RoostCore

/// A Swift type that represents an entity or a composite attribute.
///
/// Key paths of the type represent the properties.
public protocol PropertyNaming {
    /// Returns the name of the property at a key path, or nil if the key path is not a property.
    ///
    /// ```swift
    /// static func propertyName(of keyPath: AnyKeyPath) -> String? {
    ///     switch keyPath {
    ///     case \Album.title: "title"
    ///     case \Album.tracks: "tracks"
    ///     default: nil
    ///     }
    /// }
    /// ```
    ///
    /// The parameter is an `AnyKeyPath`, because a class with subclasses cannot conform to a
    /// protocol that requires a `PartialKeyPath<Self>`.
    static func propertyName(of keyPath: AnyKeyPath) -> String?
}

/// A Swift type that represents an entity.
///
/// Requests for the entity can use the type's key paths and Foundation's `#Predicate` macro.
/// Requests never create instances of the type.
public protocol EntityRepresentable: PropertyNaming {
    /// The name of the entity.
    static var entityName: EntityName { get }
}

extension PropertyNaming {
    /// Returns the name of the property at a key path.
    ///
    /// If the key path is not a property, returns a description that cannot be a property name. A
    /// request then fails with an error that quotes the description.
    static func predicatePath(of keyPath: AnyKeyPath) -> String {
        propertyName(of: keyPath) ?? String(describing: keyPath).replacing(".", with: "·")
    }
}
