/// A type whose initializer does not set all properties; `with(_:)` sets the others.
public protocol Adjustable {}

extension Adjustable {
    /// Returns a copy with changed properties.
    ///
    /// ```swift
    /// let title = AttributeDescription.string("title").with { $0.renamingIdentifier = "name" }
    /// ```
    ///
    /// - Parameter change: A function that sets the properties.
    /// - Returns: The copy.
    /// - Throws: The error of `change`.
    public func with<Failure: Error>(_ change: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
        var copy = self
        try change(&copy)
        return copy
    }
}
