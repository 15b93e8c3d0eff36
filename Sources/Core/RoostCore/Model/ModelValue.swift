internal import Foundation
internal import RoostJSONText
internal import RoostSystem

/// The JSON form of default values and limits in a model document.
enum ModelValue {
    static func content(_ value: Value) -> JSONNode.Content? {
        switch value {
        case .null: nil
        case .bool(let value): .bool(value)
        case .int(let value): .number("\(value)")
        case .double(let value): .double(value)
        case .decimal(let value): .string(DecimalNumber(value)?.description ?? value.description)
        case .string(let value), .uri(let value): .string(value)
        case .data(let value): .string(Base64.text(value))
        case .date(let value): .double(value.timeIntervalSinceReferenceDate)
        case .uuid(let value): .string(value.uuidString)
        // A valid model contains no object IDs.
        case .objectID(let value): .string("\(value)")
        case .composite(let elements):
            .object(
                elements.sorted { ModelResolver.precedes($0.key, $1.key) }.compactMap { name, value in
                    content(value).map { JSONMember(name, $0) }
                })
        }
    }

    /// Reads a value; if the content does not fit the type, reports a problem and returns null.
    static func value(
        _ node: JSONNode, type: AttributeType, elements: [AttributeDescription], path: String, problems: JSONProblems
    ) -> Value {
        if type == .composite {
            let reader = JSONObjectReader(node, path: path, keys: elements.map(\.name), problems: problems)
            var values: [String: Value] = [:]
            for element in elements {
                guard let node = reader.node(element.name) else { continue }
                values[element.name] = value(
                    node, type: element.type, elements: element.elements, path: reader.path(element.name),
                    problems: problems)
            }
            return .composite(values)
        }
        guard let value = scalar(node, type: type) else {
            if isOutOfRange(node, type: type) {
                problems.addOutOfRange(node, expected: expectation(of: type), path: path)
            } else {
                problems.addMismatch(node, expected: expectation(of: type), path: path)
            }
            return .null
        }
        return value
    }

    private static func scalar(_ node: JSONNode, type: AttributeType) -> Value? {
        switch (type, node.content) {
        case (.integer16, .number(let text)), (.integer32, .number(let text)), (.integer64, .number(let text)):
            Int64(text).map { .int($0) }
        case (.double, let content), (.float, let content): content.double.map { .double($0) }
        case (.date, let content):
            content.double.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case (.decimal, .string(let text)), (.decimal, .number(let text)):
            DecimalNumber(utf8: text.utf8).map { .decimal($0.decimal) }
        case (.boolean, .bool(let value)): .bool(value)
        case (.string, .string(let text)): .string(text)
        case (.uri, .string(let text)): .uri(text)
        case (.uuid, .string(let text)): UUID(uuidString: text).map { .uuid($0) }
        case (.binaryData, .string(let text)), (.transformable, .string(let text)):
            Base64.data(text).map { .data($0) }
        default: nil
        }
    }

    /// Whether content that does not fit a type is a number of the right form, but out of range.
    private static func isOutOfRange(_ node: JSONNode, type: AttributeType) -> Bool {
        switch (type, node.content) {
        case (.integer16, _), (.integer32, _), (.integer64, _): node.isWholeNumber
        case (.double, .number), (.float, .number), (.date, .number), (.decimal, .number): true
        default: false
        }
    }

    private static func expectation(of type: AttributeType) -> String {
        switch type {
        case .integer16, .integer32, .integer64: "a whole number of 64 bits"
        case .double, .float: "a number, \"NaN\", \"Infinity\" or \"-Infinity\""
        case .date: "a number of seconds since 2001-01-01 00:00:00 UTC"
        case .decimal: "a decimal of at most 38 digits, as a string,"
        case .boolean: "true or false"
        case .string: "a string"
        case .uri: "a URI as a string"
        case .uuid: "a UUID as a string"
        case .binaryData, .transformable: "base64 text"
        case .undefined, .objectID, .composite: "no value, for an attribute of type \(type.name),"
        }
    }
}
