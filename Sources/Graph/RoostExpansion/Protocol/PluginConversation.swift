#if Macros
    internal import RoostJSONText

    /// An error to show at an offset in a file.
    struct MacroDiagnostic: Error, Equatable {
        let message: String
        let fileName: String
        let byteOffset: Int
    }

    struct MacroResult: Equatable {
        var source: String = ""
        var diagnostics: [MacroDiagnostic] = []
    }

    /// The plugin's side of the conversation with the compiler.
    package struct PluginConversation {
        /// The protocol version of the plugin, which refuses compilers with lower versions.
        static let version = 7

        /// The compiler's version of the protocol, or nil if the compiler has not sent it.
        private var compilerVersion: Int?
        private var macros = ModelMacros()

        package init() {}

        /// Returns the answer to a message; for an invalid message, an error for the compiler to
        /// show.
        package mutating func reply(to message: [UInt8]) -> [UInt8] {
            JSONText.bytes(reply(to: PluginRequest(message)))
        }

        private mutating func reply(to request: PluginRequest) -> JSONNode {
            switch request {
            case .capability(let version):
                compilerVersion = version
                let capability = Self.object([
                    ("protocolVersion", .number("\(Self.version)")), ("features", .array([])),
                ])
                return Self.node("getCapabilityResult", members: [("capability", capability.content)])
            case .expansion(let expansion):
                guard let compilerVersion, compilerVersion >= Self.version else {
                    return Self.node(refusal(of: expansion))
                }
                return Self.node(macros.expand(expansion))
            case .unknown(let name):
                let diagnostic = MacroDiagnostic(
                    message: "The compiler sends a message that @Model does not know: \(name). \(Self.remedy)",
                    fileName: "", byteOffset: 0)
                return Self.node(MacroResult(diagnostics: [diagnostic]))
            }
        }

        private static let remedy = "Use a version of Roost for this compiler, or generated classes."

        /// Returns the error for a compiler whose protocol version is too old or unknown.
        private func refusal(of expansion: PluginRequest.Expansion) -> MacroResult {
            let reported = compilerVersion.map { "reports version \($0)" } ?? "did not report a version"
            return MacroResult(diagnostics: [
                MacroDiagnostic(
                    message:
                        "@Model needs version \(Self.version) of the compiler's plugin protocol, and this compiler \(reported). \(Self.remedy)",
                    fileName: expansion.attribute.fileName, byteOffset: expansion.attribute.byteOffset)
            ])
        }

        // MARK: JSON

        private static func object(_ members: [(String, JSONNode.Content)]) -> JSONNode {
            JSONNode(.object(members.map { JSONMember($0.0, $0.1) }))
        }

        private static func node(_ name: String, members: [(String, JSONNode.Content)]) -> JSONNode {
            object([(name, object(members).content)])
        }

        private static func node(_ result: MacroResult) -> JSONNode {
            let diagnostics = result.diagnostics.map { diagnostic in
                object([
                    ("message", .string(diagnostic.message)), ("severity", .string("error")),
                    (
                        "position",
                        object([
                            ("fileName", .string(diagnostic.fileName)), ("offset", .number("\(diagnostic.byteOffset)")),
                        ]).content
                    ),
                    ("highlights", .array([])), ("notes", .array([])), ("fixIts", .array([])),
                ])
            }
            return node(
                "expandMacroResult",
                members: [("expandedSource", .string(result.source)), ("diagnostics", .array(diagnostics))])
        }
    }
#endif
