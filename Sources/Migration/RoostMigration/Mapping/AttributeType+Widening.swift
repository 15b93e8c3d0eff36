package import RoostCore

extension AttributeType {
    /// Whether an attribute can change to another type without losing a value: each value has an
    /// exact counterpart there.
    ///
    /// A type widens to itself; whole numbers to wider ones, and to decimals; those of at most 32
    /// bits to doubles, those of 16 also to floats; a float to a double; a boolean to a whole
    /// number, 0 or 1. A transformable widens to binary data, the bytes that are stored; the other
    /// way its codec might not read them. Composites are compared element by element instead.
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

    /// Whether a value can change to another type if that type holds it exactly, which each value
    /// decides.
    ///
    /// True for 64-bit integers to doubles, and for 32-bit and 64-bit integers to floats. Every
    /// number up to 2^53 or 2^24 is exact, some larger ones are not. False if the type
    /// ``widens(to:)`` the other one.
    package func convertsWhereExact(to other: AttributeType) -> Bool {
        switch (self, other) {
        case (.integer64, .double), (.integer32, .float), (.integer64, .float): true
        default: false
        }
    }

    /// Whether `CAST(value, "NSString")` gives a text for the values of the type.
    package var hasText: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .uuid, .uri: true
        case .undefined, .binaryData, .transformable, .objectID, .composite: false
        }
    }
}
