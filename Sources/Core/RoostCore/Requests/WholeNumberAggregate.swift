/// A whole number about all objects of a request together, which a store may know without making records of them.
package enum WholeNumberAggregate: Hashable, Sendable {
    /// How many objects there are.
    case objects
    /// How many objects have a value of the attribute, which has whole numbers or is a boolean; so with all below.
    case count(String)
    /// The sum of the attribute's values; nil where no object has one.
    case sum(String)
    /// The least of the attribute's values; nil where no object has one.
    case minimum(String)
    /// The greatest of the attribute's values; nil where no object has one.
    case maximum(String)
}
