internal import RoostCore

/// The JSON keys of records, and descriptions of the expected values.
enum RecordText {
    /// The keys of members that are not properties.
    static let reservedKeys = ["id", "version", "entity"]

    /// Returns the key of a field: its name, or `name#value` if the name is a reserved key.
    ///
    /// No property's name contains `#`, so the key is unique.
    static func key(of field: RecordLayout.Field) -> String {
        reservedKeys.contains(field.name) ? field.name + "#value" : field.name
    }

    /// Returns a description, for messages, of the values that a kind of property expects.
    static func expectation(_ kind: RecordLayout.Field.Kind) -> String {
        switch kind {
        case .integer16: "a whole number from -32768 to 32767"
        case .integer32: "a whole number of 32 bits"
        case .integer64, .order: "a whole number of 64 bits"
        case .reference: "the key of an object, a whole number above 0,"
        case .polymorphicReference, .objectID: "an object as \"Entity/key\""
        case .double, .float: "a number, or \"NaN\", \"Infinity\" or \"-Infinity\","
        case .date: "a number of seconds since 2001-01-01"
        case .boolean: "true or false"
        case .decimal: "a decimal number as a string"
        case .uuid: "a UUID as a string"
        case .string, .uri: "a string"
        case .data, .transformable: "a string in base64"
        case .composite: "an object"
        }
    }
}
