#if Macros
    import RoostJSONText
    import Testing

    @testable import RoostExpansion

    /// A member or class that `@Model` refuses, with `→` before the position of the error.
    struct WrongModel: CustomTestStringConvertible, Sendable {
        let text: String
        let message: String
        var testDescription: String { message }

        static let members: [WrongModel] = [
            WrongModel("var →x = make()", message: "Write the type of 'x'"),
            WrongModel("var →x, y: Int16", message: "with a 'var' of its own"),
            WrongModel("var →(x, y) = (1, 2)", message: "with a 'var' of its own"),
            WrongModel("let →x: Int16", message: "is a 'var'"),
            WrongModel("var →x: Int16 { didSet {} }", message: "has observers"),
            WrongModel("var →x: Int16 = 3 { willSet { print(newValue) } }", message: "has observers"),
            WrongModel("weak var →x: Artist?", message: "cannot be 'weak'"),
            WrongModel("var x: →Int16!", message: "Write '?' instead of '!'."),
            WrongModel("var →context: String", message: "is the name of a member of ManagedObject"),
            WrongModel("var →`self`: String", message: "'self' means the object itself in a key path"),
            WrongModel("#if DEBUG\nvar →x: Int16\n#endif", message: "is between #if and #endif"),
            WrongModel("var x: Date = →Date()", message: "the same for all objects"),
            WrongModel("var x: Date = →.now", message: "the same for all objects"),
            WrongModel("var x: UUID = →UUID()", message: "the same for all objects"),
            WrongModel("var x: →Cover", message: "needs an initial value, or an optional type: 'Cover?'"),
            WrongModel("@Transient var x: →Int16", message: "needs an initial value, or an optional type: 'Int16?'"),
            WrongModel(
                "@Relationship var x: →Artist", message: "A to-one relationship is optional in Swift. Write 'Artist?'"),
            WrongModel(
                "@Relationship var x: Artist? = →.first", message: "A relationship cannot have an initial value."),
            WrongModel("→@Relationship var x: Int16?", message: "has the type of an attribute. Use '@Attribute'."),
            WrongModel(
                "→@Attribute(type: .uri) var x: ToMany<Track>", message: "is a relationship. Use '@Relationship'."),
            WrongModel("var x: →ToMany<Track>?", message: "is empty, never nil"),
            WrongModel("var x: ToMany<Track> = →tracks()", message: "begins empty"),
            WrongModel(
                "→@Unique var x: ToMany<Track>", message: "'@Unique' cannot be combined with a to-many relationship."),
            WrongModel("@Relationship →@Attribute var x: Artist?", message: "cannot have both '@Attribute' and"),
            WrongModel(
                "@Relationship →@Transient var x: ToMany<Artist>",
                message: "cannot be combined with a to-many relationship"),
            WrongModel("@Transient →@Index var x: [Int] = []", message: "is not in the model"),
            WrongModel("→@Attribute var x: Int { 3 }", message: "'x' is not one"),
            WrongModel("→@Index static var x: Int = 3", message: "'x' is not one"),
            WrongModel("@Relationship(inverse: →name) var x: Artist?", message: "Write the inverse as a key path"),
            WrongModel(
                "@Relationship(inverse: →\"a\\(1)\") var x: Artist?", message: "Write the inverse as a key path"),
            WrongModel(
                "@Relationship(inverse: →\\Artist.albums[0]) var x: Artist?", message: "Write the inverse as a key path"
            ),
            WrongModel("var x: →[String: Value]?", message: "needs '@Attribute(elements: [...])'"),
            WrongModel("var x: →ObjectID", message: "A property of this type is optional."),
            WrongModel("@Attribute(derivation: \"a\") var x: →Int64", message: "is nil until the first save"),
            WrongModel("@Attribute(derivation: \"a\") var x: Int64? = →3", message: "cannot have an initial value"),
            WrongModel("@Attribute(derivation: →\"a\") @Transient var x: Int64?", message: "cannot be transient"),
        ]

        static let classes: [WrongModel] = [
            WrongModel("@Model struct →Album { var x: Int16 }", message: "@Model needs a class, not struct."),
            WrongModel(
                "@Model final class →Album { var x: Int16 }", message: "'Album' needs a superclass: ManagedObject"),
            WrongModel("@Model final class →Album<T>: ManagedObject { }", message: "cannot be generic"),
            WrongModel(
                "@Unique(→\"tite\") @Model final class Album: ManagedObject { var title: String }",
                message: "'Album' has no property 'tite'."),
            WrongModel(
                "@Index(→name) @Model final class Album: ManagedObject { var title: String }",
                message: "Write the name of a property as a string literal."),
            WrongModel(
                "→@Unique @Model final class Album: ManagedObject { var title: String }",
                message: "needs the names of properties"
            ),
        ]

        init(_ text: String, message: String) {
            self.text = text
            self.message = message
        }
    }

    @Suite("Errors of @Model")
    struct DiagnosticTests {
        private func check(_ text: String, expecting wrong: WrongModel, at byteOffset: Int) throws {
            let parts = text.split(separator: "→", omittingEmptySubsequences: false)
            try #require(parts.count == 2)
            let result = try Compiler.members(parts.joined(), at: byteOffset)
            #expect(result.diagnostics.count == 1, "\(result.diagnostics)")
            let diagnostic = try #require(result.diagnostics.first)
            #expect(diagnostic.message.contains(wrong.message), "\(diagnostic.message)")
            #expect(diagnostic.fileName == "Models.swift")
            #expect(diagnostic.byteOffset == byteOffset + parts[0].utf8.count)
        }

        @Test("an error of a @Model property is reported at its place", arguments: WrongModel.members)
        func member(_ wrong: WrongModel) throws {
            // Characters of several bytes precede the position.
            try check(
                "\n@Model final class Album: ManagedObject {\n    // é 𝄞\n    var title: String\n    \(wrong.text)\n}",
                expecting: wrong, at: 37)
        }

        @Test("@Model leaves out a property with an error and describes the others")
        func others() throws {
            let result = try Compiler.members("@Model final class A: ManagedObject { var x = f(); var y: Int16 }")
            #expect(result.diagnostics.count == 1)
            #expect(result.source.contains("\\A.y") && !result.source.contains("\\A.x"))
        }

        @Test("a @Model class with an error of its own gets no members")
        func noMembers() throws {
            let result = try Compiler.members("@Model final class A { var y: Int16 }")
            #expect(result.diagnostics.count == 1 && result.source == "")
        }

        @Test("an error of a @Model class is reported at its place", arguments: WrongModel.classes)
        func type(_ wrong: WrongModel) throws { try check(wrong.text, expecting: wrong, at: 5) }

        @Test("all errors of a @Model class are reported together")
        func list() throws {
            let result = try Compiler.members("@Model class A { var x = f(); var context: Int16!; var y: Cover }")
            #expect(result.diagnostics.count == 5)
        }

        /// Returns the errors that a macro reports for an attribute of a property in a class.
        private func diagnostics(
            _ macro: String, attribute: String, in context: String
        ) throws -> [MacroDiagnostic] {
            var compiler = Compiler()
            return try compiler.expand(
                "peer", of: macro,
                parts: [
                    "attributeSyntax": Compiler.source("\n  \(attribute)", at: 5),
                    "declSyntax": Compiler.source("\n  \(attribute) var x: Int16", at: 5),
                    "lexicalContext": .array([JSONNode(Compiler.source(context))]),
                ]
            ).diagnostics
        }

        @Test(
            "attributes of properties are accepted in a @Model class",
            arguments: [("PropertyMacro", "@Attribute"), ("PropertiesMacro", "@Unique")])
        func placed(macro: String, attribute: String) throws {
            let found = try diagnostics(macro, attribute: attribute, in: "@Model final class A: ManagedObject {}")
            #expect(found == [])
        }

        @Test(
            "attributes of properties are refused outside a @Model class",
            arguments: [("PropertyMacro", "@Attribute"), ("PropertiesMacro", "@Unique")])
        func misplaced(macro: String, attribute: String) throws {
            let found = try diagnostics(macro, attribute: attribute, in: "final class A {}")
            #expect(found.count == 1)
            #expect(found.allSatisfy { $0.byteOffset == 8 && $0.message.contains("@Model class") })
        }
    }
#endif
