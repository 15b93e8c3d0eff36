#if Macros
    /// A declaration with `@Model`, and the problems in it.
    struct ModelClassSyntax {
        /// A problem at an offset in the file.
        struct Problem: Equatable {
            let message: String
            let byteOffset: Int
        }

        /// The properties that a `@Unique` or `@Index` attribute of the class lists.
        struct Group: Equatable {
            let names: [String]
            /// The source text of the argument `name:` of an `@Index` attribute, or nil.
            let name: String?
        }

        let syntax: TypeSyntax
        /// The first inherited type as written, or nil if it is `ManagedObject` or missing.
        let superclass: String?
        let properties: [ModelPropertySyntax]
        private(set) var uniqueGroups: [Group] = []
        private(set) var indexes: [Group] = []
        private(set) var problems: [Problem] = []

        /// Whether `@Model` adds members to the class.
        ///
        /// A problem of a property does not make this false. Instead, ``properties`` omits the
        /// property, because members for it would cause further errors.
        let canExpand: Bool

        var isFinal: Bool { syntax.head.modifiers.contains("final") }

        static func unquoted(_ name: String) -> String { name.filter { $0 != "`" } }

        private static let baseClasses: Set<String> = [
            "ManagedObject", "Roost.ManagedObject", "RoostGraph.ManagedObject",
        ]

        init(_ source: SourceText) {
            syntax = DeclarationReader.type(source)
            var problems: [Problem] = []
            let first = syntax.inherited.first
            superclass = first.flatMap { Self.baseClasses.contains($0.text) ? nil : $0.text }
            if syntax.keyword != "class" {
                problems.append(
                    Problem(message: "@Model needs a class, not \(syntax.keyword).", byteOffset: syntax.name.byteOffset)
                )
            } else if first == nil {
                problems.append(
                    Problem(
                        message:
                            "'\(syntax.name.text)' needs a superclass: ManagedObject, or another @Model class, whose entity is then the superentity.",
                        byteOffset: syntax.name.byteOffset))
            } else if syntax.isGeneric {
                problems.append(
                    Problem(message: "A @Model class cannot be generic.", byteOffset: syntax.name.byteOffset))
            }
            canExpand = problems.isEmpty
            var properties: [ModelPropertySyntax] = []
            for variable in syntax.variables {
                if let property = ModelPropertySyntax(variable, problems: &problems) { properties.append(property) }
            }
            self.properties = properties
            for attribute in syntax.head.attributes where ["Unique", "Index"].contains(attribute.name) {
                let group = group(of: attribute, problems: &problems)
                if attribute.name == "Unique" { uniqueGroups.append(group) } else { indexes.append(group) }
            }
            self.problems = problems
        }

        private func group(of attribute: AttributeSyntax, problems: inout [Problem]) -> Group {
            var names: [String] = []
            for argument in attribute.arguments where argument.label == nil {
                guard let name = StringLiteral.value(of: argument.value.text) else {
                    problems.append(
                        Problem(
                            message: "Write the name of a property as a string literal.",
                            byteOffset: argument.value.byteOffset))
                    continue
                }
                // In `address.city`, the property is `address`. With a superclass other than `ManagedObject`, names are
                // not checked, because the macro does not see inherited properties.
                let base = name.split(separator: ".").first.map(String.init) ?? name
                if superclass == nil, !properties.contains(where: { $0.name == base }) {
                    problems.append(
                        Problem(
                            message: "'\(syntax.name.text)' has no property '\(name)'.",
                            byteOffset: argument.value.byteOffset))
                }
                names.append(name)
            }
            if attribute.arguments.allSatisfy({ $0.label != nil }) {
                problems.append(
                    Problem(
                        message: "'@\(attribute.name)' of a class needs the names of properties.",
                        byteOffset: attribute.byteOffset))
            }
            return Group(names: names, name: attribute.argument("name")?.text)
        }
    }

    /// A parser of string literals without escapes and interpolations.
    enum StringLiteral {
        /// Returns the value of such a literal, or nil for any other expression.
        static func value(of text: String) -> String? {
            guard text.count >= 2, text.first == "\"", text.last == "\"" else { return nil }
            let value = text.dropFirst().dropLast()
            return value.contains(where: { $0 == "\"" || $0 == "\\" }) ? nil : String(value)
        }
    }
#endif
