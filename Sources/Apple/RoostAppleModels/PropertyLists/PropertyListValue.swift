package import RoostCore
internal import RoostSystem

/// A value of a property list.
package enum PropertyListValue: Equatable {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var dictionary: [String: PropertyListValue]? {
        if case .dictionary(let members) = self { members } else { nil }
    }

    /// Reads a property list in binary or XML form.
    package static func read(_ bytes: [UInt8], file: String) throws(StoreError) -> PropertyListValue {
        if bytes.starts(with: Array("bplist".utf8)) { return try BinaryPropertyList(bytes, file: file).wholeValue() }
        let root = try XMLElement.document(bytes, file: file, allowsPlainDoctype: true)
        guard root.name == "plist", root.children.count == 1, let value = value(root.children[0]) else {
            throw StoreError(.invalidModel, "'\(file)' is not a property list.")
        }
        return value
    }

    private static func value(_ element: XMLElement) -> PropertyListValue? {
        switch element.name {
        case "string": return .string(element.text)
        case "integer": return Int64(element.text).map { .integer($0) }
        case "real": return Double(element.text).map { .real($0) }
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "date": return ISODate.seconds(element.text).map { .date($0) }
        case "data": return Base64.bytes(element.text, ignoringSpaces: true).map { .data($0) }
        case "array":
            var values: [PropertyListValue] = []
            for child in element.children {
                guard let value = value(child) else { return nil }
                values.append(value)
            }
            return .array(values)
        case "dict":
            var members: [String: PropertyListValue] = [:]
            var index = 0
            while index + 1 < element.children.count {
                guard element.children[index].name == "key", let value = value(element.children[index + 1]) else {
                    return nil
                }
                members[element.children[index].text] = value
                index += 2
            }
            return index == element.children.count ? .dictionary(members) : nil
        default: return nil
        }
    }
}
