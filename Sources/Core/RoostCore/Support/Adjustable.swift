/// A value with more properties than its initializer takes.
///
/// `with(_:)` sets the others.
public protocol Adjustable {}

extension Adjustable {
    /// A copy with properties changed.
    ///
    /// ```swift
    /// let title = AttributeDescription.string("title").with { $0.renamingIdentifier = "name" }
    /// ```
    ///
    /// - Parameter change: Sets the properties.
    /// - Returns: The copy.
    /// - Throws: What `change` throws.
    public func with<Failure: Error>(_ change: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
        var copy = self
        try change(&copy)
        return copy
    }
}
