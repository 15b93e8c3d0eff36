package import RoostJSONText

/// The members of a JSON object that is to be written.
///
/// The `add` methods omit nil, empty objects, and booleans that have their default.
package struct JSONMembers {
    package var members: [JSONMember] = []

    package init() {}

    package mutating func add(_ key: String, _ text: String?) {
        if let text { members.append(JSONMember(key, .string(text))) }
    }

    package mutating func add(_ key: String, _ number: Int?) {
        if let number { members.append(JSONMember(key, .number("\(number)"))) }
    }

    mutating func add(_ key: String, value: Bool, default standard: Bool) {
        if value != standard { members.append(JSONMember(key, .bool(value))) }
    }

    mutating func add(_ key: String, _ content: JSONNode.Content?) {
        if let content { members.append(JSONMember(key, content)) }
    }

    package mutating func add(_ key: String, object: [JSONMember]) {
        if !object.isEmpty { members.append(JSONMember(key, .object(object))) }
    }

    package mutating func add(_ key: String, _ texts: [String: String]) {
        let sorted = texts.sorted { ModelResolver.precedes($0.key, $1.key) }
        add(key, object: sorted.map { JSONMember($0.key, .string($0.value)) })
    }
}
