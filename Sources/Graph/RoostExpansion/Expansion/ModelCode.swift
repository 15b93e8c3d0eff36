#if Macros
    /// The members that `@Model` adds to a class.
    struct ModelCode {
        private let model: ModelClassSyntax
        private var name: String { model.syntax.name.text }

        init(_ model: ModelClassSyntax) { self.model = model }

        /// Whether the class is final and derives directly from `ManagedObject`.
        private var isFlat: Bool { model.isFinal && model.superclass == nil }

        var members: String {
            let access = ["open", "public", "package"].first { model.syntax.head.modifiers.contains($0) }
            // A member of a final class cannot be open.
            let modifier = access.map { "\($0 == "open" && model.isFinal ? "public" : $0) " } ?? ""
            let overriding = model.superclass == nil ? "" : "override "
            let kind = isFlat ? "static" : "\(overriding)class"
            var parts = [
                "nonisolated \(modifier)\(kind) var modelDescription: ModelDescription { _modelDescription }",
                description,
            ]
            if !isFlat { parts.append(propertyName("nonisolated \(modifier)\(kind)")) }
            if let superclass = model.superclass {
                parts.append(
                    """
                    /// The number of properties of the superclass, which come first.
                    nonisolated private static let _modelSlot = \(superclass).modelDescription.propertyCount
                    """)
            }
            return parts.joined(separator: "\n\n")
        }

        // MARK: The description

        private var description: String {
            let arguments = model.syntax.head.attribute("Model")
            var lines = ["nonisolated private static let _modelDescription = ModelDescription("]
            let entity = arguments?.argument("entity")?.text ?? Self.literal(ModelClassSyntax.unquoted(name))
            lines.append("    \(entity),")
            if let superclass = model.superclass { lines.append("    superclass: \(superclass).self,") }
            lines.append("    properties: " + Self.list(model.properties.map(code)) + (isFlat ? "," : ""))
            if isFlat { lines.append("    paths: " + Self.list(model.properties.map { "\\\(name).\($0.quotedName)" })) }
            lines.append(")")
            if let value = arguments?.argument("isAbstract") { lines.append(".abstract(\(value.text))") }
            if let value = arguments?.argument("renamingIdentifier") { lines.append(".renamed(from: \(value.text))") }
            for group in model.uniqueGroups { lines.append(".unique(\(Self.names(group)))") }
            for group in model.indexes {
                lines.append(".indexed(\(Self.names(group))\(group.name.map { ", as: \($0)" } ?? ""))")
            }
            return lines.joined(separator: "\n")
        }

        private static func names(_ group: ModelClassSyntax.Group) -> String {
            "[\(group.names.map(literal).joined(separator: ", "))]"
        }

        private static func literal(_ name: String) -> String { "\"\(name)\"" }

        private static func list(_ items: [String]) -> String {
            items.isEmpty ? "[]" : "[\n" + items.map { "        \($0),\n" }.joined() + "    ]"
        }

        private func code(_ property: ModelPropertySyntax) -> String {
            let (name, type) = (Self.literal(property.name), property.type)
            let value = property.initialValue.map { ", default: \($0.text)" } ?? ""
            func option(_ label: String) -> String? { property.options?.argument(label)?.text }
            var code: String
            switch type.kind {
            case .scalar where property.isDerived:
                code = ".derived(\(name), as: \(type.text).self, from: \(option("derivation") ?? ""))"
            case .scalar:
                let limits = Self.arguments([("minimum", option("minimum")), ("maximum", option("maximum"))])
                let suffix = limits.isEmpty ? "" : ", limits: ModelLimits(\(limits))"
                code = ".attribute(\(name), as: \(type.text).self, isOptional: \(type.isOptional)\(value)\(suffix))"
            case .objectID: code = ".reference(\(name))"
            case .composite: code = ".composite(\(name), elements: \(option("elements") ?? "[]"))"
            case .toMany(let element, let isOrdered):
                code = ".toMany(\(name), to: \(element).self, isOrdered: \(isOrdered))"
            case .other where property.isRelationship: code = ".toOne(\(name), to: \(type.text).self)"
            case .other:
                code = (type.isOptional ? ".optional" : ".mandatory") + "(\(name), as: \(type.text).self\(value))"
            }
            if let inverse = property.inverse { code += ".inverse(\(Self.literal(inverse)))" }
            if property.isRelationship {
                if let rule = option("deleteRule") { code += ".deleteRule(\(rule))" }
                let counts = Self.arguments([("minimum", option("minCount")), ("maximum", option("maxCount"))])
                if !counts.isEmpty { code += ".counts(\(counts))" }
                if let isOptional = option("isOptional") { code += ".emptiness(isAllowed: \(isOptional))" }
            } else {
                if let type = option("type") { code += ".ofType(\(type))" }
                let lengths = Self.arguments([
                    ("minimum", option("minimumLength")), ("maximum", option("maximumLength")),
                ])
                if !lengths.isEmpty { code += ".lengths(\(lengths))" }
                if let pattern = option("regularExpression") { code += ".matching(\(pattern))" }
            }
            if let identifier = option("renamingIdentifier") { code += ".renamed(from: \(identifier))" }
            if property.isUnique { code += ".unique()" }
            if let index = property.index { code += ".indexed(\(index.name.map { "as: \($0)" } ?? ""))" }
            if property.isTransient { code += ".transient()" }
            return code
        }

        private static func arguments(_ list: [(label: String, value: String?)]) -> String {
            list.compactMap { item in item.value.map { "\(item.label): \($0)" } }.joined(separator: ", ")
        }

        // MARK: Names

        /// Returns the code of the function that finds a property's name by its key path.
        ///
        /// The root of a key path can be a subclass. So the generated function compares the key
        /// path with key paths whose root is the class on which the function is called.
        private func propertyName(_ kind: String) -> String {
            let inherited = model.superclass == nil ? "" : " ?? super.propertyName(of: keyPath)"
            let cases = model.properties.map {
                "    case \\Root.\($0.quotedName): return \(Self.literal($0.name))\n"
            }.joined()
            return """
                \(kind) func propertyName(of keyPath: AnyKeyPath) -> String? {
                    let type: any (\(name) & ModelClass).Type = self
                    return _modelProperty(at: keyPath, of: type)\(inherited)
                }

                nonisolated private static func _modelProperty<Root: \(name)>(
                    at keyPath: AnyKeyPath, of type: Root.Type
                ) -> String? {
                    switch keyPath {
                \(cases)    default: return nil
                    }
                }
                """
        }
    }
#endif
