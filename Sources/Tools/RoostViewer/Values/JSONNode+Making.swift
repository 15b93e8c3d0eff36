#if Interactive
    internal import RoostJSONText

    extension JSONNode {
        init(_ text: String?) { self.init(text.map { .string($0) } ?? .null) }
        init(_ flag: Bool) { self.init(.bool(flag)) }

        /// Creates a number, or a string beyond ±2^53, where readers could round.
        init(_ number: Int64) {
            let exact = Int64(-1) << 53...1 << 53
            self.init(exact.contains(number) ? .number("\(number)") : .string("\(number)"))
        }

        init(_ number: Int) { self.init(Int64(number)) }

        init(_ members: KeyValuePairs<String, JSONNode>) {
            self.init(.object(members.map { JSONMember($0.key, $0.value) }))
        }

        init(list: some Sequence<JSONNode>) { self.init(.array(Array(list))) }
        init(texts: some Sequence<String>) { self.init(.array(texts.map { JSONNode($0) })) }

        static var null: JSONNode { JSONNode(.null) }

        subscript(_ key: String) -> JSONNode? {
            guard case .object(let members) = content else { return nil }
            return members.first { $0.key == key }?.value
        }

        var text: String? {
            guard case .string(let text) = content else { return nil }
            return text
        }

        /// The integer in a number or string node, or nil for any other node.
        var integer: Int64? {
            switch content {
            case .number(let text), .string(let text): Int64(text)
            default: nil
            }
        }

        var elements: [JSONNode]? {
            guard case .array(let elements) = content else { return nil }
            return elements
        }
    }
#endif
