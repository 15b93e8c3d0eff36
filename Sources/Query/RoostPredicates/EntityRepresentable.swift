public import RoostCore

/// A Swift type whose key paths are properties: one that stands for an entity or for a composite attribute.
public protocol PropertyNaming {
    /// The name of the property that a key path of the type is; nil for one that is none.
    ///
    /// ```swift
    /// static func propertyName(of keyPath: PartialKeyPath<Self>) -> String? {
    ///     switch keyPath {
    ///     case \.title: "title"
    ///     case \.tracks: "tracks"
    ///     default: nil
    ///     }
    /// }
    /// ```
    static func propertyName(of keyPath: PartialKeyPath<Self>) -> String?
}

/// A Swift type that stands for an entity, so that its key paths and Foundation's `#Predicate` can be used in requests.
///
/// The type needs no objects: only its key paths are used.
public protocol EntityRepresentable: PropertyNaming {
    /// The entity.
    static var entityName: EntityName { get }
}

extension PropertyNaming {
    /// The property's name; for a key path that is none, a name that no property has, which the request's check will name.
    static func predicatePath(of keyPath: PartialKeyPath<Self>) -> String {
        propertyName(of: keyPath) ?? String(describing: keyPath).replacing(".", with: "·")
    }

    /// As ``propertyName(of:)``, for a key path of any type.
    static func propertyName(ofAny keyPath: AnyKeyPath) -> String? {
        (keyPath as? PartialKeyPath<Self>).flatMap { propertyName(of: $0) }
    }
}
