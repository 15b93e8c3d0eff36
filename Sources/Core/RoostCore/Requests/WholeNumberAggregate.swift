/// A whole number computed from all objects of a request.
///
/// A store may compute it without creating records. Attributes must be integers or booleans. A sum,
/// minimum or maximum is nil if no object has a value.
package enum WholeNumberAggregate: Hashable, Sendable {
    case objects
    /// The number of objects that have a value of the attribute.
    case count(String)
    case sum(String)
    case minimum(String)
    case maximum(String)
}
