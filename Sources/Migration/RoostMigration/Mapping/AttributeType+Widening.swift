package import RoostCore

extension AttributeType {
    /// Returns whether each value of the type has an exact counterpart in another type.
    ///
    /// A type widens to itself. A Boolean widens to a whole number, 0 or 1. A transformable widens
    /// to binary data, which gets the stored bytes. Binary data does not widen to a transformable,
    /// because the transformable's codec may reject the bytes. For composites, callers must compare
    /// the elements too.
    package func widens(to other: AttributeType) -> Bool {
        switch (self, other) {
        case (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64),
            (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64),
            (.integer16, .decimal), (.integer32, .decimal), (.integer64, .decimal),
            (.integer16, .float), (.integer16, .double), (.integer32, .double),
            (.float, .double), (.transformable, .binaryData):
            true
        default: self == other
        }
    }

    /// Returns whether only some values of an integer type are exact in a floating-point type.
    ///
    /// Every number up to 2^53 (double) or 2^24 (float) is exact, but some larger numbers are not.
    package func convertsWhereExact(to other: AttributeType) -> Bool {
        switch (self, other) {
        case (.integer64, .double), (.integer32, .float), (.integer64, .float): true
        default: false
        }
    }

    /// Whether `CAST(value, "NSString")` can convert values of the type to text.
    package var hasText: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .uuid, .uri: true
        case .undefined, .binaryData, .transformable, .objectID, .composite: false
        }
    }
}
