#if Macros
    internal import RoostJSONText

    /// A piece of source code from the compiler, with its location in a file.
    struct SourceText: Equatable {
        let text: String
        let fileName: String
        /// The offset of the text in the file.
        let byteOffset: Int

        init(text: String, fileName: String = "", byteOffset: Int = 0) {
            self.text = text
            self.fileName = fileName
            self.byteOffset = byteOffset
        }

        /// Reads a part of a message, or returns nil if the part has no source text.
        init?(_ node: JSONNode?) {
            guard let node, let text = node["source"]?.text else { return nil }
            let location = node["location"]
            self.init(
                text: text, fileName: location?["fileName"]?.text ?? "",
                byteOffset: max(0, location?["offset"]?.integer ?? 0))
        }
    }

    /// A message from the compiler.
    enum PluginRequest {
        /// A role in which the compiler expands an attached macro.
        enum Role: String {
            case accessor, member, memberAttribute, peer
            case `extension`
        }

        /// A macro that is attached to a declaration.
        struct Expansion {
            /// The name of the implementation, such as `ModelMacro`.
            let macro: String
            let role: Role
            let attribute: SourceText
            let declaration: SourceText
            /// The type that contains the declaration, for the role `memberAttribute`.
            let parent: SourceText?
            /// The name of the extended type, for the role `extension`.
            let extendedType: String?
            /// Whether the role `extension` must add the conformance.
            let needsConformance: Bool
            /// The enclosing declarations, innermost first, without their members.
            let context: [String]
        }

        /// A request for the plugin's protocol version, with the compiler's version.
        case capability(version: Int?)
        case expansion(Expansion)
        /// A message that this program does not understand, with its name or a description.
        case unknown(String)

        /// Reads a message; the result is ``unknown(_:)`` for invalid text or missing parts.
        init(_ bytes: [UInt8]) {
            guard let node = try? JSONNode(bytes), case .object(let members) = node.content, let first = members.first
            else {
                self = .unknown("not JSON")
                return
            }
            switch first.key {
            case "getCapability":
                self = .capability(version: first.value["capability"]?["protocolVersion"]?.integer)
            case "expandAttachedMacro": self = Self.expansion(of: first.value)
            default: self = .unknown(first.key)
            }
        }

        private static func expansion(of node: JSONNode) -> PluginRequest {
            let name = node["macroRole"]?.text ?? "?"
            guard let role = Role(rawValue: name), let macro = node["macro"]?["typeName"]?.text,
                let attribute = SourceText(node["attributeSyntax"]),
                let declaration = SourceText(node["declSyntax"])
            else { return .unknown("expandAttachedMacro in the role '\(name)'") }
            return .expansion(
                Expansion(
                    macro: macro, role: role, attribute: attribute, declaration: declaration,
                    parent: SourceText(node["parentDeclSyntax"]),
                    extendedType: SourceText(node["extendedTypeSyntax"])?.text,
                    needsConformance: SourceText(node["conformanceListSyntax"]) != nil,
                    context: node["lexicalContext"]?.elements.compactMap { SourceText($0)?.text } ?? []))
        }
    }

    extension JSONNode {
        fileprivate subscript(_ key: String) -> JSONNode? {
            guard case .object(let members) = content else { return nil }
            return members.first { $0.key == key }?.value
        }

        fileprivate var text: String? {
            guard case .string(let text) = content else { return nil }
            return text
        }

        fileprivate var integer: Int? {
            guard case .number(let text) = content else { return nil }
            return Int(text)
        }

        fileprivate var elements: [JSONNode] {
            guard case .array(let elements) = content else { return [] }
            return elements
        }
    }
#endif
