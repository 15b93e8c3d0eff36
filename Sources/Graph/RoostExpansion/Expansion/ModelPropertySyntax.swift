#if Macros
    /// A property of a `@Model` class, checked.
    struct ModelPropertySyntax {
        private typealias Problem = ModelClassSyntax.Problem

        /// The name without backticks.
        let name: String
        /// The name as the source has it.
        let quotedName: String
        /// The offset of the name in the file.
        let byteOffset: Int
        let type: PropertyType
        let initialValue: SyntaxText?
        /// `@Attribute` or `@Relationship`.
        let options: AttributeSyntax?
        let isRelationship: Bool
        let isTransient: Bool
        let isUnique: Bool
        /// The name of an index of its own as an expression, or nil without one.
        let index: Index?
        /// The name of the relationship back.
        let inverse: String?

        struct Index: Equatable { let name: String? }

        /// Whether a save computes the value.
        var isDerived: Bool { options?.argument("derivation") != nil }

        /// The members of `ManagedObject` whose names a property cannot have.
        static let reservedNames: Set<String> = [
            "objectID", "entity", "context", "isFault", "isInserted", "isUpdated", "isDeleted", "hasChanges",
            "hasPersistentChangedValues", "version", "dynamic", "hashValue", "description", "self",
        ]

        /// Expressions whose result is another one each time.
        private static let changingValues = ["Date()", "Date.now", ".now", "UUID()", ".random("]

        /// Reads a variable; nil if it is not a property of the model, or if it has a problem.
        init?(_ variable: VariableSyntax, problems: inout [ModelClassSyntax.Problem]) {
            let head = variable.head
            let count = problems.count
            func report(_ message: String, at byteOffset: Int) {
                problems.append(Problem(message: message, byteOffset: byteOffset))
            }
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

            // Variables that have nothing to do with the model.
            let isLeftAlone =
                variable.accessors == .computed
                || head.modifiers.contains(where: { ["static", "class", "lazy"].contains($0) })
                || (variable.isConstant && variable.initialValue != nil)
            if isLeftAlone {
                if let modelAttribute {
                    report(
                        "'@\(modelAttribute.name)' is for stored properties of the model; '\(name)' is none.",
                        at: modelAttribute.byteOffset)
                }
                return nil
            }
            let place = variable.name.byteOffset
            if variable.isPattern {
                report("Declare each property of a @Model class with a 'var' of its own.", at: place)
                return nil
            }
            guard
                let type = variable.type.map({ PropertyType($0.text) })
                    ?? variable.initialValue.flatMap({ PropertyType(ofLiteral: $0.text) })
            else {
                report("Write the type of '\(name)': the macro sees no more than the text.", at: place)
                return nil
            }
            self.type = type
            if isTransient, type.kind == .other || type.kind == .composite {
                // A stored property of Swift, which the model does not know.
                if let modelAttribute = head.attributes.first(where: {
                    ["Attribute", "Relationship", "Unique", "Index"].contains($0.name)
                }) {
                    report(
                        "'@\(modelAttribute.name)' does not fit '@Transient': '\(name)' is not in the model.",
                        at: modelAttribute.byteOffset)
                }
                return nil
            }
            if variable.isConditional {
                report(
                    "'\(name)' is between #if and #endif, where macros do not see which part counts. Move it out.",
                    at: place)
            }
            if variable.isConstant {
                report(
                    "A property of a @Model class is a 'var'. A constant with an initial value is left alone.",
                    at: place)
            }
            if variable.accessors == .observers {
                report(
                    "'\(name)' has observers, which would not be called. Override a hook such as willSave(), or add '@Transient' to a property that no store keeps.",
                    at: place)
            }
            if let modifier = head.modifiers.first(where: { ["weak", "unowned"].contains($0) }) {
                report(
                    "A property of a @Model class cannot be '\(modifier)'. The context keeps objects as long as they have changes.",
                    at: place)
            }
            if type.isImplicitlyUnwrapped {
                report("Write '?' instead of '!'.", at: variable.type?.byteOffset ?? place)
            }
            if Self.reservedNames.contains(name) {
                report(
                    "'\(name)' is the name of a member of ManagedObject. Rename the property, and set its renamingIdentifier to \"\(name)\" if stores have it.",
                    at: place)
            }
            inverse = Self.inverse(of: relationship, problems: &problems)
            isRelationship = relationship != nil
            Self.check(type, name: name, variable: variable, problems: &problems)
            if let value = variable.initialValue,
                let found = Self.changingValues.first(where: { value.text.contains($0) })
            {
                report(
                    "The initial value is the default of the model, the same for all objects. Set a value with '\(found)' in awakeFromInsert().",
                    at: value.byteOffset)
            }
            guard problems.count == count else { return nil }
        }

        /// The last name of the key path or the string after `inverse:`.
        private static func inverse(
            of attribute: AttributeSyntax?, problems: inout [ModelClassSyntax.Problem]
        ) -> String? {
            guard let value = attribute?.argument("inverse"), value.text != "nil" else { return nil }
            if let name = StringLiteral.value(of: value.text) { return name }
            // \Artist.albums, or \Music.Artist.albums: the last part is the property.
            let parts = value.text.split(separator: ".", omittingEmptySubsequences: false)
            if value.text.hasPrefix("\\"), parts.count >= 2, let last = parts.last,
                last.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "`" })
            {
                return ModelClassSyntax.unquoted(String(last))
            }
            problems.append(
                Problem(
                    message: "Write the inverse as a key path to a property (\\Artist.albums) or as a string literal.",
                    byteOffset: value.byteOffset))
            return nil
        }

        /// Checks that the type fits the attributes and the initial value.
        private static func check(
            _ type: PropertyType, name: String, variable: VariableSyntax,
            problems: inout [ModelClassSyntax.Problem]
        ) {
            let (head, value) = (variable.head, variable.initialValue)
            func report(_ message: String, at byteOffset: Int?) {
                problems.append(Problem(message: message, byteOffset: byteOffset ?? variable.name.byteOffset))
            }
            let (attribute, relationship) = (head.attribute("Attribute"), head.attribute("Relationship"))
            if let attribute, let relationship {
                report(
                    "'\(name)' is either an attribute or a relationship.",
                    at: max(attribute.byteOffset, relationship.byteOffset))
            }
            if relationship != nil, type.kind == .other, head.attribute("Transient") != nil {
                report("A relationship cannot be transient.", at: head.attribute("Transient")?.byteOffset)
            }
            let typeOffset = variable.type?.byteOffset
            switch type.kind {
            case .toMany:
                if let attribute {
                    report("'\(name)' is a relationship. Use '@Relationship'.", at: attribute.byteOffset)
                }
                if type.isOptional {
                    report("A to-many relationship is empty, never nil. Remove the '?'.", at: typeOffset)
                }
                if let value, value.text.filter({ !$0.isWhitespace }) != "[]" {
                    report("A to-many relationship begins empty. Remove the initial value.", at: value.byteOffset)
                }
                for name in ["Unique", "Index", "Transient"] {
                    if let found = head.attribute(name) {
                        report("'@\(name)' does not fit a to-many relationship.", at: found.byteOffset)
                    }
                }
            case .other:
                if relationship != nil {
                    if !type.isOptional {
                        report(
                            "A to-one relationship is optional in Swift. Write '\(type.text)?', and 'isOptional: false' in '@Relationship' if it is mandatory.",
                            at: typeOffset)
                    } else if let value, value.text != "nil" {
                        report("A relationship has no initial value.", at: value.byteOffset)
                    }
                } else if !type.isOptional, value == nil {
                    report("'\(name)' needs an initial value, or an optional type: '\(type.text)?'.", at: typeOffset)
                }
            case .scalar, .objectID, .composite:
                if let relationship {
                    report("'\(name)' has the type of an attribute. Use '@Attribute'.", at: relationship.byteOffset)
                }
                if type.kind == .composite || type.kind == .objectID {
                    if !type.isOptional {
                        report("A property of this type is optional. Write '\(type.text)?'.", at: typeOffset)
                    }
                    if let value, value.text != "nil" {
                        report("A property of this type has no initial value.", at: value.byteOffset)
                    }
                }
                if type.kind == .composite, attribute?.argument("elements") == nil {
                    report("A composite attribute needs '@Attribute(elements: [...])'.", at: typeOffset)
                }
            }
            if head.attribute("Transient") != nil, case .scalar = type.kind, !type.isOptional, value == nil {
                report("'\(name)' needs an initial value, or an optional type: '\(type.text)?'.", at: typeOffset)
            }
            if let derivation = attribute?.argument("derivation") {
                if !type.isOptional {
                    report("A derived attribute is nil until the first save. Make its type optional.", at: typeOffset)
                }
                if let value { report("A derived attribute has no initial value.", at: value.byteOffset) }
                if head.attribute("Transient") != nil {
                    report("A derived attribute is stored, so it cannot be transient.", at: derivation.byteOffset)
                }
                if case .scalar = type.kind {
                } else {
                    report("A derived attribute has a simple type such as Int64 or String.", at: typeOffset)
                }
            }
        }
    }
#endif
