/// A whole number computed from all objects of a request.
///
/// A store may compute it without creating records.
package enum WholeNumberAggregate: Hashable, Sendable {
    /// The number of objects.
    case objects
    /// The number of objects that have a value of the attribute.
    ///
    /// In this and the following cases, the attribute must be an integer or a boolean.
    case count(String)
    /// The sum of the attribute's values; nil if no object has a value.
    case sum(String)
    /// The minimum of the attribute's values; nil if no object has a value.
    case minimum(String)
    /// The maximum of the attribute's values; nil if no object has a value.
    case maximum(String)
}
