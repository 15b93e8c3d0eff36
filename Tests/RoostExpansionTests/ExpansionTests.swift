#if Macros
    import Foundation
    import RoostJSONText
    import Testing

    @testable import RoostExpansion

    @Suite("Expansions of @Model")
    struct ExpansionTests {
        /// A class with syntax that could hide declarations.
        static let source = ##"""

            /// A comment { with var no: Int
            @Unique("title", "year") @RoostModels.Model(entity: "Record", renamingIdentifier: "Disc")
            public final class Album: Roost.ManagedObject, @unchecked Sendable {
                /* a /* nested */ comment: var no1: Int */
                @Attribute(maximumLength: 40, regularExpression: #"[^"]\#\(1) "}"#) public var title: String = "a } \("b" + "}") {"
                var year: Int16 = 1_970; var rating: Double?
                @available(*, deprecated) private(set) var `default`: Swift.Int32
                var text = """
                    var no2: Int }
                    """
                var computed: Int { get { let x = [1: "}"]; var y = 2; return x.count + y } set {} }
                static var year: Int = 3
                lazy var no4: [String] = { var x = "{"; return [x] }()
                let no5 = 5
                @Relationship(
                    inverse: \Music.Artist.albums,
                    deleteRule: .deny
                )
                @Index(name: "byArtist")
                var artist: Artist?
                var ordered: Roost.OrderedToMany<Track> = []
                @Transient
                var nick: String?
                @Transient var cache: [Int: () -> Void] = [1: { var no6 = 1; _ = no6 }]
                @Attribute(derivation: "tracks.@count") var count: Optional<Int64>
                var kind: Kind = .studio
                var cover: Dictionary<String, [Int]>?
                var isOld: Bool { year < 1980 }
                func method(_ value: Int = 3) -> Int { var no7 = /[{"]/ ; _ = no7; return 4 / value / 2 }
                enum Kind: String { case studio; var no8: Int { 8 } }
                final class Nested { var no9: Int = 9 }
                init() {}
                subscript(index: Int) -> Int { var no10 = index; no10 += 1; return no10 }
            }
            """##

        @Test("@Model describes each property of the model, and no other variable")
        func members() throws {
            let result = try Compiler.members(Self.source)
            #expect(result.diagnostics == [])
            #expect(
                result.source == ##"""
                    nonisolated public static var modelDescription: ModelDescription { _modelDescription }

                    nonisolated private static let _modelDescription = ModelDescription(
                        "Record",
                        properties: [
                            .attribute("title", as: String.self, isOptional: false, default: "a } \("b" + "}") {").lengths(maximum: 40).matching(#"[^"]\#\(1) "}"#),
                            .attribute("year", as: Int16.self, isOptional: false, default: 1_970),
                            .attribute("rating", as: Double.self, isOptional: true),
                            .attribute("default", as: Swift.Int32.self, isOptional: false),
                            .attribute("text", as: String.self, isOptional: false, default: """
                            var no2: Int }
                            """),
                            .toOne("artist", to: Artist.self).inverse("albums").deleteRule(.deny).indexed(as: "byArtist"),
                            .toMany("ordered", to: Track.self, isOrdered: true),
                            .attribute("nick", as: String.self, isOptional: true).transient(),
                            .derived("count", as: Int64.self, from: "tracks.@count"),
                            .mandatory("kind", as: Kind.self, default: .studio),
                            .optional("cover", as: Dictionary<String, [Int]>.self),
                        ],
                        paths: [
                            \Album.title,
                            \Album.year,
                            \Album.rating,
                            \Album.`default`,
                            \Album.text,
                            \Album.artist,
                            \Album.ordered,
                            \Album.nick,
                            \Album.count,
                            \Album.kind,
                            \Album.cover,
                        ]
                    )
                    .renamed(from: "Disc")
                    .unique(["title", "year"])
                    """##)
        }

        @Test("@Model on a subclass overrides class members and numbers slots after the superclass's slots")
        func subclass() throws {
            let text = "@Model(isAbstract: true) open class Band: Artist { var size: Int32? }"
            let result = try Compiler.members(text)
            #expect(
                result.source == """
                    nonisolated open override class var modelDescription: ModelDescription { _modelDescription }

                    nonisolated private static let _modelDescription = ModelDescription(
                        "Band",
                        superclass: Artist.self,
                        properties: [
                            .attribute("size", as: Int32.self, isOptional: true),
                        ]
                    )
                    .abstract(true)

                    nonisolated open override class func propertyName(of keyPath: AnyKeyPath) -> String? {
                        let type: any (Band & ModelClass).Type = self
                        return _modelProperty(at: keyPath, of: type) ?? super.propertyName(of: keyPath)
                    }

                    nonisolated private static func _modelProperty<Root: Band>(
                        at keyPath: AnyKeyPath, of type: Root.Type
                    ) -> String? {
                        switch keyPath {
                        case \\Root.size: return "size"
                        default: return nil
                        }
                    }

                    /// The number of properties of the superclass, which come first.
                    nonisolated private static let _modelSlot = Artist.modelDescription.propertyCount
                    """)
            #expect(try attribute("var size: Int32?", in: text) == #"@_ModelProperty(slot: 0, after: "Band")"#)
        }

        private func attribute(_ member: String, in text: String) throws -> String {
            var compiler = Compiler()
            let place = try #require(text.range(of: member)?.lowerBound)
            return try compiler.expand(
                "memberAttribute",
                parts: [
                    "attributeSyntax": Compiler.source("@Model", at: 7),
                    "declSyntax": Compiler.source(member, at: 7 + text[..<place].utf8.count),
                    "parentDeclSyntax": Compiler.source(text, at: 7),
                ]
            ).source
        }

        @Test("@Model gives a property accessors for the slot at the property's position")
        func attributes() throws {
            #expect(try attribute(" var rating: Double?", in: Self.source) == "@_ModelProperty(slot: 2)")
            #expect(try attribute("var kind: Kind = .studio", in: Self.source) == "@_ModelProperty(slot: 9)")
        }

        @Test(
            "a member that is not in the model gets no accessors",
            arguments: [
                "var computed: Int { get { let x = [1: \"}\"]; var y = 2; return x.count + y } set {} }",
                "func method(_ value: Int = 3)", "static var year: Int = 3", "let no5 = 5",
                "@Transient var cache: [Int: () -> Void] = [1: { var no6 = 1; _ = no6 }]",
                "enum Kind: String { case studio; var no8: Int { 8 } }", "init() {}",
            ])
        func otherMember(_ text: String) throws { #expect(try attribute(text, in: Self.source) == "") }

        @Test(
            "the accessors of a property call the functions of its type",
            arguments: [
                ("var x: Int16", "int16(slot: 3)", "setInt16(newValue, slot: 3)"),
                ("var x: String?", "optionalText(slot: 3)", "setOptionalText(newValue, slot: 3)"),
                ("var x: Foundation.UUID", "uuid(slot: 3)", "setUUID(newValue, slot: 3)"),
                (
                    "var x: Int?", "optionalInt64(slot: 3).map { Int(truncatingIfNeeded: $0) }",
                    "setOptionalInt64(newValue.map { Int64($0) }, slot: 3)"
                ),
                ("var x = 5", "Int(truncatingIfNeeded: int64(slot: 3))", "setInt64(Int64(newValue), slot: 3)"),
                ("var x = 0.5", "double(slot: 3)", "setDouble(newValue, slot: 3)"),
                ("var x = 1E5", "double(slot: 3)", "setDouble(newValue, slot: 3)"),
                ("var x = 0x1P3", "double(slot: 3)", "setDouble(newValue, slot: 3)"),
                ("var x = 0xE", "Int(truncatingIfNeeded: int64(slot: 3))", "setInt64(Int64(newValue), slot: 3)"),
                ("@Transient var x: Bool = true", "transient(slot: 3) ?? (true)", "setTransient(newValue, slot: 3)"),
                ("var x: ObjectID?", "reference(slot: 3)", "setReference(newValue, slot: 3)"),
                ("var x: ToMany<A.B>", "toMany(slot: 3)", "setToMany(newValue, slot: 3)"),
                ("@Relationship var x: Artist?", "toOne(slot: 3)", "setToOne(newValue, slot: 3)"),
                ("var x: Artist?", "modelValue(slot: 3)", "setModelValue(newValue, slot: 3)"),
                ("var x: Kind = .a", "modelValue(slot: 3) ?? (.a)", "setModelValue(newValue, slot: 3)"),
                ("@Attribute(derivation: \"now()\") var x: Date?", "optionalDate(slot: 3)", nil),
            ])
        func accessors(variable: String, getter: String, setter: String?) throws {
            var compiler = Compiler()
            let parts: [String: JSONNode.Content] = [
                "attributeSyntax": Compiler.source("@_ModelProperty(slot: 3)"), "declSyntax": Compiler.source(variable),
            ]
            let code = try compiler.expand("accessor", of: "ModelPropertyMacro", parts: parts).source
            #expect(code == "{\n    get { \(getter) }\n" + (setter.map { "    set { \($0) }\n" } ?? "") + "}")
        }

        @Test(
            "a token begins a line if the comment before it contains a line end: LF, CR LF or CR",
            arguments: ["\n", "\r\n", "\r"])
        func commentAcrossLines(lineEnd: String) {
            let tokens = SwiftLexer.tokens(of: Array("a /* x\(lineEnd)y */ b".utf8))
            #expect(tokens.map(\.beginsLine) == [true, true])
        }

        @Test(
            "two slashes in different lines do not enclose a regular expression",
            arguments: ["\n", "\r\n", "\r"])
        func slashesInTwoLines(lineEnd: String) {
            let tokens = SwiftLexer.tokens(of: Array("(/)\(lineEnd)b / c".utf8))
            #expect(tokens.map(\.kind) == [.symbol, .symbol, .symbol, .word, .symbol, .word])
        }

        @Test("a division in an interpolation hides no later property of a @Model class")
        func interpolatedDivision() throws {
            let result = try Compiler.members(
                #"""
                @Model final class Box: ManagedObject {
                    var width: Int16
                    var ratio: String { return "\(width/height)/\(depth)" }
                    var found: String { return "\(name.contains(/[)"]/))" }
                    var title: String
                }
                """#)
            #expect(result.diagnostics == [])
            #expect(result.source.contains(#"\Box.width"#) && result.source.contains(#"\Box.title"#))
            #expect(!result.source.contains(#"\Box.ratio"#) && !result.source.contains(#"\Box.found"#))
        }

        @Test("an accessor in a subclass adds the superclass's number of slots to its own slot")
        func laterAccessors() throws {
            var compiler = Compiler()
            let code = try compiler.expand(
                "accessor", of: "ModelPropertyMacro",
                parts: [
                    "attributeSyntax": Compiler.source(#"@_ModelProperty(slot: 1, after: "Band")"#),
                    "declSyntax": Compiler.source("var x: Int16"),
                ]
            ).source
            #expect(code.contains("get { int16(slot: Band._modelSlot + 1) }"))
        }
    }
#endif
