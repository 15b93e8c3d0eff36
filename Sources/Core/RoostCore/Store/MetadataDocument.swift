internal import Foundation
internal import RoostJSONText
internal import RoostSystem

/// User metadata, or the settings of a history, as JSON that preserves every value and its type.
///
/// Text, booleans, lists and dictionaries use the JSON types. A number with a point or an exponent
/// is a `double`, any other number an `int`. Other values are objects with one key: `{"$date":
/// 12.5}` (seconds since 2001-01-01), `{"$data": "<base64>"}`, `{"$double": "NaN"}` for values that
/// JSON numbers cannot express, and `{"$dictionary": {…}}` for a dictionary whose only key starts
/// with `$`.
package enum MetadataDocument {
    /// Returns the metadata as compact JSON with keys in byte order, so that equal metadata has
    /// equal bytes.
    ///
    /// - Throws: `limitExceeded` if values nest deeper than a reader accepts.
    public static func encode(_ metadata: [String: MetadataValue]) throws(StoreError) -> [UInt8] {
        JSONText.bytes(JSONNode(.object(try members(metadata, depth: 1))))
    }

    /// Reads the output of ``encode(_:)``.
    ///
    /// - Throws: `corrupted` for text of another form, with the position.
    public static func decode(_ bytes: [UInt8]) throws(StoreError) -> [String: MetadataValue] {
        let node = try JSONNode.document(bytes, as: "The store's user metadata", code: .corrupted)
        guard case .object(let members) = node.content else {
            throw corrupted(node, expected: "an object", bytes: bytes)
        }
        return try dictionary(members, bytes: bytes)
    }

    // MARK: Writing

    private static func members(
        _ values: [String: MetadataValue], depth: Int
    ) throws(StoreError) -> [JSONMember] {
        var members: [JSONMember] = []
        for (key, value) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            members.append(JSONMember(key, try content(value, depth: depth)))
        }
        return members
    }

    private static func content(_ value: MetadataValue, depth: Int) throws(StoreError) -> JSONNode.Content {
        // A dictionary with a `$` key takes two levels: its own, and that of the `$dictionary` object.
        guard depth < JSONTokenizer.maximumDepth - 2 else {
            throw StoreError(
                .limitExceeded, "User metadata nests deeper than \(JSONTokenizer.maximumDepth - 2) levels.")
        }
        switch value {
        case .string(let text): return .string(text)
        case .int(let number): return .number("\(number)")
        case .double(let number):
            let content = JSONNode.Content.double(number)
            if case .number = content { return content }
            return tagged("$double", content: content)
        case .bool(let value): return .bool(value)
        case .date(let date): return tagged("$date", content: .double(date.timeIntervalSinceReferenceDate))
        case .data(let data): return tagged("$data", content: .string(Base64.text(data)))
        case .array(let values):
            var nodes: [JSONNode] = []
            for value in values { nodes.append(JSONNode(try content(value, depth: depth + 1))) }
            return .array(nodes)
        case .dictionary(let values):
            guard values.count == 1, values.keys.first?.utf8.first == UInt8(ascii: "$") else {
                return .object(try members(values, depth: depth + 1))
            }
            return tagged("$dictionary", content: .object(try members(values, depth: depth + 2)))
        }
    }

    private static func tagged(_ tag: String, content: JSONNode.Content) -> JSONNode.Content {
        .object([JSONMember(tag, content)])
    }

    // MARK: Reading

    private static func dictionary(
        _ members: [JSONMember], bytes: [UInt8]
    ) throws(StoreError) -> [String: MetadataValue] {
        var result: [String: MetadataValue] = [:]
        for member in members { result[member.key] = try value(member.value, bytes: bytes) }
        return result
    }

    private static func value(_ node: JSONNode, bytes: [UInt8]) throws(StoreError) -> MetadataValue {
        switch node.content {
        case .null: throw corrupted(node, expected: "a value", bytes: bytes)
        case .bool(let value): return .bool(value)
        case .string(let text): return .string(text)
        case .number(let text):
            if text.utf8.contains(where: { $0 == 0x2E || $0 == 0x65 || $0 == 0x45 }) {
                guard let number = node.content.double else {
                    throw corrupted(node, expected: "a number in range", bytes: bytes)
                }
                return .double(number)
            }
            guard let number = Int64(text) else {
                throw corrupted(node, expected: "a whole number of 64 bits", bytes: bytes)
            }
            return .int(number)
        case .array(let nodes):
            var values: [MetadataValue] = []
            for node in nodes { values.append(try value(node, bytes: bytes)) }
            return .array(values)
        case .object(let members):
            if members.count == 1, let member = members.first, member.key.utf8.first == UInt8(ascii: "$") {
                return try tagged(member, bytes: bytes)
            }
            return .dictionary(try dictionary(members, bytes: bytes))
        }
    }

    private static func tagged(_ member: JSONMember, bytes: [UInt8]) throws(StoreError) -> MetadataValue {
        let node = member.value
        switch (member.key, node.content) {
        case ("$double", let content):
            if let number = content.double { return .double(number) }
        case ("$date", let content):
            if let seconds = content.double { return .date(Date(timeIntervalSinceReferenceDate: seconds)) }
        case ("$data", .string(let text)):
            if let data = Base64.data(text) { return .data(data) }
        case ("$dictionary", .object(let members)): return .dictionary(try dictionary(members, bytes: bytes))
        default: break
        }
        throw corrupted(node, expected: "the value of a known tag", bytes: bytes)
    }

    private static func corrupted(_ node: JSONNode, expected: String, bytes: [UInt8]) -> StoreError {
        let position = TextPosition(of: node.byteOffset, in: bytes)
        return StoreError(.corrupted, "The store's user metadata is damaged: \(position): \(expected) is expected.")
    }
}
