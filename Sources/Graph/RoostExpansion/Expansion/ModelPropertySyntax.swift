#if Macros
    /// A checked property of a `@Model` class.
    struct ModelPropertySyntax {
        /// The name without backticks.
        let name: String
        /// The name as written, with backticks if any.
        let quotedName: String
        /// The offset of the name in the file.
        let byteOffset: Int
        let type: PropertyType
        let initialValue: SyntaxText?
        /// The attribute `@Attribute` or `@Relationship`, or nil.
        let options: AttributeSyntax?
        let isRelationship: Bool
        let isTransient: Bool
        let isUnique: Bool
        /// The index that an `@Index` attribute declares, or nil.
        let index: Index?
        let inverse: String?

        struct Index: Equatable { let name: String? }

        /// Whether the value is computed when the object is saved.
        var isDerived: Bool { options?.argument("derivation") != nil }

        /// Names that a property cannot have, most of them members of `ManagedObject`.
        static let reservedNames: Set<String> = [
            "objectID", "entity", "context", "isFault", "isInserted", "isUpdated", "isDeleted", "hasChanges",
            "hasPersistentChangedValues", "version", "dynamic", "hashValue", "description", "self",
        ]

        /// Texts of expressions whose value can differ at each evaluation.
        private static let changingValues = ["Date()", "Date.now", ".now", "UUID()", ".random("]

        /// Reads a variable, or returns nil if it is not a property of the model or has a problem.
        init?(_ variable: VariableSyntax, problems: inout [ModelClassSyntax.Problem]) {
            let head = variable.head
            var report = Report(variable)
            defer { problems += report.problems }
            name = ModelClassSyntax.unquoted(variable.name.text)
            quotedName = variable.name.text
            byteOffset = variable.name.byteOffset
            initialValue = variable.initialValue.flatMap { $0.text == "nil" ? nil : $0 }
            isTransient = head.attribute("Transient") != nil
            isUnique = head.attribute("Unique") != nil
            index = head.attribute("Index").map { Index(name: $0.argument("name")?.text) }
            let relationship = head.attribute("Relationship")
            options = relationship ?? head.attribute("Attribute")
            let modelAttribute = head.attributes.first {
                ["Attribute", "Relationship", "Unique", "Index", "Transient"].contains($0.name)
            }

            // Computed, static and lazy variables, and constants with a value, are not part of the model.
            let isLeftAlone =
                variable.accessors == .computed
                || head.modifiers.contains(where: { ["static", "class", "lazy"].contains($0) })
                || (variable.isConstant && variable.initialValue != nil)
            if isLeftAlone {
                if let modelAttribute {
                    report.add(
                        "'@\(modelAttribute.name)' is for stored properties of the model; '\(name)' is not one.",
                        at: modelAttribute.byteOffset)
                }
                return nil
            }
            if variable.isPattern {
                report.add("Declare each property of a @Model class with a 'var' of its own.")
                return nil
            }
            guard
                let type = variable.type.map({ PropertyType($0.text) })
                    ?? variable.initialValue.flatMap({ PropertyType(ofLiteral: $0.text) })
            else {
                report.add("Write the type of '\(name)': the macro cannot infer it.")
                return nil
            }
            self.type = type
            if isTransient, type.kind == .other || type.kind == .composite {
                // The property is an ordinary stored property, which is not part of the model.
                if let modelAttribute = head.attributes.first(where: {
                    ["Attribute", "Relationship", "Unique", "Index"].contains($0.name)
                }) {
                    report.add(
                        "'@\(modelAttribute.name)' cannot be combined with '@Transient': '\(name)' is not in the model.",
                        at: modelAttribute.byteOffset)
                }
                return nil
            }
            Self.checkDeclaration(type, name: name, report: &report)
            inverse = Self.inverse(of: relationship, report: &report)
            isRelationship = relationship != nil
            Self.checkType(type, name: name, report: &report)
            Self.checkInitialValue(&report)
            guard report.problems.isEmpty else { return nil }
        }

        private struct Report {
            let variable: VariableSyntax
            private(set) var problems: [ModelClassSyntax.Problem] = []

            init(_ variable: VariableSyntax) { self.variable = variable }

            /// Adds a problem, by default at the variable's name.
            mutating func add(_ message: String, at byteOffset: Int? = nil) {
                problems.append(
                    ModelClassSyntax.Problem(message: message, byteOffset: byteOffset ?? variable.name.byteOffset))
            }
        }

        /// Checks the parts of the declaration other than its attributes.
        private static func checkDeclaration(_ type: PropertyType, name: String, report: inout Report) {
            let variable = report.variable
            if variable.isConditional {
                report.add(
                    "'\(name)' is between #if and #endif, where macros cannot see which branch is active. Move it out.")
            }
            if variable.isConstant {
                report.add(
                    "A property of a @Model class is a 'var'. A constant with an initial value is not part of the model."
                )
            }
            if variable.accessors == .observers {
                report.add(
                    "'\(name)' has observers, which would not be called. Override a hook such as willSave(), or add '@Transient' to a property that no store keeps."
                )
            }
            if let modifier = variable.head.modifiers.first(where: { ["weak", "unowned"].contains($0) }) {
                report.add(
                    "A property of a @Model class cannot be '\(modifier)'. The context keeps objects as long as they have changes."
                )
            }
            if type.isImplicitlyUnwrapped { report.add("Write '?' instead of '!'.", at: variable.type?.byteOffset) }
            if reservedNames.contains(name) {
                let reason =
                    name == "self"
                    ? "means the object itself in a key path" : "is the name of a member of ManagedObject"
                report.add(
                    "'\(name)' \(reason). Rename the property. If existing stores contain it, set its renamingIdentifier to \"\(name)\"."
                )
            }
        }

        /// Refuses an initial value that differs at each evaluation, because all objects share it.
        private static func checkInitialValue(_ report: inout Report) {
            guard let value = report.variable.initialValue,
                let found = changingValues.first(where: { value.text.contains($0) })
            else { return }
            report.add(
                "The initial value cannot contain '\(found)', because it is the same for all objects. Set the property in awakeFromInsert().",
                at: value.byteOffset)
        }

        /// Returns the property name in the key path or string after `inverse:`.
        private static func inverse(of attribute: AttributeSyntax?, report: inout Report) -> String? {
            guard let value = attribute?.argument("inverse"), value.text != "nil" else { return nil }
            if let name = StringLiteral.value(of: value.text) { return name }
            // For `\Artist.albums` and `\Music.Artist.albums`, the last part is the property.
            let parts = value.text.split(separator: ".", omittingEmptySubsequences: false)
            if value.text.hasPrefix("\\"), parts.count >= 2, let last = parts.last,
                last.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "`" })
            {
                return ModelClassSyntax.unquoted(String(last))
            }
            report.add(
                "Write the inverse as a key path to a property (\\Artist.albums) or as a string literal.",
                at: value.byteOffset)
            return nil
        }

        /// Checks that the type matches the attributes and the initial value.
        private static func checkType(_ type: PropertyType, name: String, report: inout Report) {
            let head = report.variable.head
            let (attribute, relationship) = (head.attribute("Attribute"), head.attribute("Relationship"))
            if let attribute, let relationship {
                report.add(
                    "'\(name)' cannot have both '@Attribute' and '@Relationship'. Remove one of them.",
                    at: max(attribute.byteOffset, relationship.byteOffset))
            }
            if relationship != nil, type.kind == .other, let transient = head.attribute("Transient") {
                report.add("A relationship cannot be transient.", at: transient.byteOffset)
            }
            switch type.kind {
            case .toMany: checkToMany(type, name: name, report: &report)
            case .other: checkToOneOrValue(type, name: name, report: &report)
            case .scalar, .objectID, .composite: checkAttribute(type, name: name, report: &report)
            }
            if head.attribute("Transient") != nil, case .scalar = type.kind, !type.isOptional,
                report.variable.initialValue == nil
            {
                addMissingValue(type, name: name, report: &report)
            }
            if let derivation = attribute?.argument("derivation") {
                checkDerived(type, derivation: derivation.byteOffset, report: &report)
            }
        }

        private static func checkToMany(_ type: PropertyType, name: String, report: inout Report) {
            let variable = report.variable
            if let attribute = variable.head.attribute("Attribute") {
                report.add("'\(name)' is a relationship. Use '@Relationship'.", at: attribute.byteOffset)
            }
            if type.isOptional {
                report.add(
                    "A to-many relationship is empty, never nil. Remove the '?'.", at: variable.type?.byteOffset)
            }
            if let value = variable.initialValue, value.text.filter({ !$0.isWhitespace }) != "[]" {
                report.add("A to-many relationship begins empty. Remove the initial value.", at: value.byteOffset)
            }
            for name in ["Unique", "Index", "Transient"] {
                if let found = variable.head.attribute(name) {
                    report.add("'@\(name)' cannot be combined with a to-many relationship.", at: found.byteOffset)
                }
            }
        }

        /// Checks a property of the kind ``PropertyType/Kind/other``, which may be a relationship.
        private static func checkToOneOrValue(_ type: PropertyType, name: String, report: inout Report) {
            let variable = report.variable
            if variable.head.attribute("Relationship") != nil {
                if !type.isOptional {
                    report.add(
                        "A to-one relationship is optional in Swift. Write '\(type.text)?', and 'isOptional: false' in '@Relationship' if it is mandatory.",
                        at: variable.type?.byteOffset)
                } else if let value = variable.initialValue, value.text != "nil" {
                    report.add("A relationship cannot have an initial value.", at: value.byteOffset)
                }
            } else if !type.isOptional, variable.initialValue == nil {
                addMissingValue(type, name: name, report: &report)
            }
        }

        private static func checkAttribute(_ type: PropertyType, name: String, report: inout Report) {
            let variable = report.variable
            let typeOffset = variable.type?.byteOffset
            if let relationship = variable.head.attribute("Relationship") {
                report.add("'\(name)' has the type of an attribute. Use '@Attribute'.", at: relationship.byteOffset)
            }
            if type.kind == .composite || type.kind == .objectID {
                if !type.isOptional {
                    report.add("A property of this type is optional. Write '\(type.text)?'.", at: typeOffset)
                }
                if let value = variable.initialValue, value.text != "nil" {
                    report.add("A property of this type cannot have an initial value.", at: value.byteOffset)
                }
            }
            if type.kind == .composite, variable.head.attribute("Attribute")?.argument("elements") == nil {
                report.add("A composite attribute needs '@Attribute(elements: [...])'.", at: typeOffset)
            }
        }

        private static func checkDerived(_ type: PropertyType, derivation byteOffset: Int, report: inout Report) {
            let variable = report.variable
            let typeOffset = variable.type?.byteOffset
            if !type.isOptional {
                report.add("A derived attribute is nil until the first save. Make its type optional.", at: typeOffset)
            }
            if let value = variable.initialValue {
                report.add("A derived attribute cannot have an initial value.", at: value.byteOffset)
            }
            if variable.head.attribute("Transient") != nil {
                report.add("A derived attribute is stored, so it cannot be transient.", at: byteOffset)
            }
            if case .scalar = type.kind {
            } else {
                report.add("A derived attribute has a simple type such as Int64 or String.", at: typeOffset)
            }
        }

        private static func addMissingValue(_ type: PropertyType, name: String, report: inout Report) {
            report.add(
                "'\(name)' needs an initial value, or an optional type: '\(type.text)?'.",
                at: report.variable.type?.byteOffset)
        }
    }
#endif
