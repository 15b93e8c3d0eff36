#if Macros
    import RoostJSONText
    import Testing

    @testable import RoostExpansion

    /// The compiler's side of a conversation with the macro plugin.
    struct Compiler {
        private var conversation = PluginConversation()

        /// Sends the first message of a compiler, unless `version` is nil.
        init(version: Int? = 7) {
            guard let version else { return }
            _ = conversation.reply(to: Array(#"{"getCapability":{"capability":{"protocolVersion":\#(version)}}}"#.utf8))
        }

        mutating func send(_ message: String) throws -> JSONNode {
            try JSONNode(conversation.reply(to: Array(message.utf8)))
        }

        mutating func expand(
            _ role: String, of macro: String = "ModelMacro", parts: [String: JSONNode.Content]
        ) throws -> MacroResult {
            var members = [
                JSONMember("macro", .object([JSONMember("typeName", .string(macro))])),
                JSONMember("macroRole", .string(role)),
            ]
            members += parts.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
            let message = JSONNode(.object([JSONMember("expandAttachedMacro", .object(members))]))
            let answer = try send(String(decoding: JSONText.bytes(message), as: UTF8.self))
            let result = try #require(answer["expandMacroResult"])
            return MacroResult(
                source: result["expandedSource"]?.string ?? "",
                diagnostics: (result["diagnostics"]?.array ?? []).map { diagnostic in
                    #expect(diagnostic["severity"]?.string == "error")
                    return MacroDiagnostic(
                        message: diagnostic["message"]?.string ?? "",
                        fileName: diagnostic["position"]?["fileName"]?.string ?? "",
                        byteOffset: Int(diagnostic["position"]?["offset"]?.number ?? "") ?? -1)
                })
        }

        /// Returns source code and its location as the compiler sends them.
        static func source(_ text: String, at byteOffset: Int = 0) -> JSONNode.Content {
            .object([
                JSONMember("source", .string(text)),
                JSONMember(
                    "location",
                    .object([
                        JSONMember("fileName", .string("Models.swift")),
                        JSONMember("offset", .number("\(byteOffset)")),
                    ])),
            ])
        }

        /// Returns the members that `@Model` adds, and the errors.
        static func members(_ text: String, at byteOffset: Int = 0) throws -> MacroResult {
            var compiler = Compiler()
            return try compiler.expand(
                "member",
                parts: [
                    "attributeSyntax": source("@Model", at: byteOffset), "declSyntax": source(text, at: byteOffset),
                ])
        }
    }

    extension JSONNode {
        subscript(_ key: String) -> JSONNode? {
            guard case .object(let members) = content else { return nil }
            return members.first { $0.key == key }?.value
        }

        var string: String? { if case .string(let text) = content { text } else { nil } }
        var number: String? { if case .number(let text) = content { text } else { nil } }
        var array: [JSONNode]? { if case .array(let nodes) = content { nodes } else { nil } }
    }
#endif
