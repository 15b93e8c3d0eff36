public import RoostCore

/// A Swift type for an entity or for a composite attribute.
///
/// Its key paths are the properties.
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

/// A Swift type for an entity.
///
/// Requests can use its key paths and Foundation's `#Predicate`.
///
/// The type needs no objects: only its key paths are used.
public protocol EntityRepresentable: PropertyNaming {
    /// The entity.
    static var entityName: EntityName { get }
}

extension PropertyNaming {
    /// Returns the name of the property at a key path.
    ///
    /// For a key path that is not a property, the result is a name that no property has. The check
    /// of the request reports it.
    static func predicatePath(of keyPath: AnyKeyPath) -> String {
        propertyName(of: keyPath) ?? String(describing: keyPath).replacing(".", with: "·")
    }
}
