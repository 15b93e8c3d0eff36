#if Macros
    import RoostJSONText
    import Testing

    @testable import RoostExpansion

    @Suite("The compiler's plugin protocol")
    struct PluginProtocolTests {
        private let declaration: [String: JSONNode.Content] = [
            "attributeSyntax": Compiler.source("\n@Model ", at: 20),
            "declSyntax": Compiler.source("\n@Model final class Album: ManagedObject {}", at: 20),
        ]

        @Test("the macro answers a capability message with protocol version 7", arguments: [7, 8, 100])
        func capability(version: Int) throws {
            var compiler = Compiler(version: nil)
            let answer = try compiler.send(#"{"getCapability":{"capability":{"protocolVersion":\#(version)}}}"#)
            #expect(answer["getCapabilityResult"]?["capability"]?["protocolVersion"]?.number == "7")
            #expect(try compiler.expand("member", parts: declaration).diagnostics == [])
        }

        @Test("a compiler with an older plugin protocol gets an error at the attribute", arguments: [nil, 1, 6])
        func olderVersion(version: Int?) throws {
            var compiler = Compiler(version: version)
            let result = try compiler.expand("member", parts: declaration)
            let diagnostic = try #require(result.diagnostics.first)
            #expect(result.source == "" && result.diagnostics.count == 1)
            #expect(diagnostic.message.contains("needs version 7 of the compiler's plugin protocol"))
            #expect(diagnostic.message.contains("generated classes"))
            #expect(diagnostic.fileName == "Models.swift" && diagnostic.byteOffset == 20)
        }

        @Test("a compiler that sends no protocol version gets an error")
        func noCapability() throws {
            var compiler = Compiler(version: nil)
            #expect(try compiler.send(#"{"getCapability":{}}"#)["getCapabilityResult"] != nil)
            #expect(try compiler.expand("member", parts: declaration).diagnostics.count == 1)
        }

        @Test(
            "an unknown message of the compiler is an error, and the conversation continues",
            arguments: [
                "", "{", "[]", "{}", "7", "\u{0}", #"{"loadPluginLibrary":{}}"#, #"{"expandFreestandingMacro":{}}"#,
                #"{"expandAttachedMacro":[]}"#, #"{"expandAttachedMacro":{"macroRole":"body"}}"#,
                #"{"expandAttachedMacro":{"macroRole":"member","macro":{"typeName":"ModelMacro"}}}"#,
            ])
        func unknown(message: String) throws {
            var compiler = Compiler()
            let answer = try compiler.send(message)
            let diagnostics = try #require(answer["expandMacroResult"]?["diagnostics"]?.array)
            #expect(diagnostics.count == 1)
            #expect(diagnostics.first?["message"]?.string?.contains("does not know") == true)
            #expect(try compiler.expand("member", parts: declaration).source.contains("modelDescription"))
        }

        @Test("an unknown macro name is an error that names it")
        func unknownMacro() throws {
            var compiler = Compiler()
            let result = try compiler.expand("peer", of: "OtherMacro", parts: declaration)
            #expect(result.diagnostics.map(\.message) == ["'OtherMacro' is not a macro of this version of Roost."])
        }

        @Test("@Model adds a conformance only if the compiler asks for one")
        func conformance() throws {
            var compiler = Compiler()
            var parts = declaration
            parts["extendedTypeSyntax"] = Compiler.source("Music.Album")
            #expect(try compiler.expand("extension", parts: parts).source == "")
            parts["conformanceListSyntax"] = Compiler.source("struct Placeholder: ModelClass {}")
            #expect(
                try compiler.expand("extension", parts: parts).source
                    == "nonisolated extension Music.Album: ModelClass {}")
        }

        @Test("a @Model class that is cut off anywhere gets an answer")
        func truncated() throws {
            let bytes = Array(ExpansionTests.source.utf8)
            for count in stride(from: 0, to: bytes.count, by: 9) {
                let text = String(decoding: bytes[..<count], as: UTF8.self)
                _ = try Compiler.members(text)
                _ = DeclarationReader.variable(SourceText(text: String(decoding: bytes[count...], as: UTF8.self)))
            }
        }

        @Test(
            "deeply nested source code gets an answer",
            arguments: ["(", "[", "{", "/*", "\"\\(", "<", "#if\n", "@a(", "\"\"\"\n\\("])
        func nesting(_ text: String) throws {
            let nested = String(repeating: text, count: 20_000)
            _ = try Compiler.members("@Model final class Album: ManagedObject { var x: Int = \(nested)")
            _ = try Compiler.members("@Model \(nested)")
        }
    }
#endif
