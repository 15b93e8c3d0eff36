/// A whole number computed from all objects of a request, which a store may know without making
/// records of them.
package enum WholeNumberAggregate: Hashable, Sendable {
    /// The number of objects.
    case objects
    /// The number of objects with a value of the attribute.
    ///
    /// Here and below, the attribute has whole numbers or is a boolean.
    case count(String)
    /// The sum of the attribute's values; nil if no object has one.
    case sum(String)
    /// The minimum of the attribute's values; nil if no object has one.
    case minimum(String)
    /// The maximum of the attribute's values; nil if no object has one.
    case maximum(String)
}
