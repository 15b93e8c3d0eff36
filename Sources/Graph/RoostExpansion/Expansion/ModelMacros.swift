#if Macros
    /// The macros, by the names of their implementations.
    enum ModelMacros {
        /// Expands a macro.
        ///
        /// A problem is reported once, in one role.
        static func expand(_ expansion: PluginRequest.Expansion) -> MacroResult {
            switch (expansion.macro, expansion.role) {
            case ("ModelMacro", .member): return members(expansion)
            case ("ModelMacro", .memberAttribute): return MacroResult(source: memberAttribute(expansion))
            case ("ModelMacro", .extension): return MacroResult(source: conformance(expansion))
            case ("ModelPropertyMacro", .accessor): return MacroResult(source: accessors(expansion))
            case ("PropertyMacro", .peer): return memberProblem(expansion)
            case ("PropertiesMacro", .peer): return typeProblem(expansion)
            default:
                let diagnostic = MacroDiagnostic(
                    message: "'\(expansion.macro)' is not a macro of this version of Roost.",
                    fileName: expansion.attribute.fileName, byteOffset: expansion.attribute.byteOffset)
                return MacroResult(diagnostics: [diagnostic])
            }
        }

        // MARK: @Model

        private static func members(_ expansion: PluginRequest.Expansion) -> MacroResult {
            let model = ModelClassSyntax(expansion.declaration)
            guard model.problems.isEmpty else {
                return MacroResult(
                    diagnostics: model.problems.map {
                        MacroDiagnostic(
                            message: $0.message, fileName: expansion.declaration.fileName, byteOffset: $0.byteOffset)
                    })
            }
            return MacroResult(source: ModelCode(model).members)
        }

        /// The attribute that gives a property its accessors; empty for other members.
        private static func memberAttribute(_ expansion: PluginRequest.Expansion) -> String {
            guard let parent = expansion.parent, let variable = DeclarationReader.variable(expansion.declaration) else {
                return ""
            }
            let model = ModelClassSyntax(parent)
            guard model.isComplete,
                let slot = model.properties.firstIndex(where: {
                    $0.name == ModelClassSyntax.unquoted(variable.name.text)
                })
            else { return "" }
            let owner = model.superclass.map { _ in ", after: \"\(model.syntax.name.text)\"" } ?? ""
            return "@_ModelProperty(slot: \(slot)\(owner))"
        }

        private static func conformance(_ expansion: PluginRequest.Expansion) -> String {
            // A subclass inherits the conformance, so none is missing.
            guard expansion.needsConformance, let type = expansion.extendedType,
                ModelClassSyntax(expansion.declaration).isComplete
            else { return "" }
            return "nonisolated extension \(type): ModelClass {}"
        }

        private static func accessors(_ expansion: PluginRequest.Expansion) -> String {
            guard let attribute = DeclarationReader.attribute(expansion.attribute),
                let slot = attribute.argument("slot")?.text,
                let variable = DeclarationReader.variable(expansion.declaration)
            else { return "" }
            var problems: [ModelClassSyntax.Problem] = []
            guard let property = ModelPropertySyntax(variable, &problems) else { return "" }
            guard let owner = attribute.argument("after")?.text else {
                return PropertyAccessors(property, slot: slot).code
            }
            let name = owner.filter { $0 != "\"" }
            return PropertyAccessors(property, slot: "\(name)._modelSlot + \(slot)").code
        }

        // MARK: Attributes of properties

        /// A problem of an attribute of a property: the type around it is not a model class.
        private static func memberProblem(_ expansion: PluginRequest.Expansion) -> MacroResult {
            guard let text = expansion.context.first else {
                return misplaced(expansion, "a property of a @Model class")
            }
            let type = DeclarationReader.type(SourceText(text: text))
            guard type.head.attribute("Model") == nil else { return MacroResult() }
            return misplaced(expansion, "a property of a @Model class")
        }

        /// A problem of an attribute of a property or a class.
        private static func typeProblem(_ expansion: PluginRequest.Expansion) -> MacroResult {
            if DeclarationReader.variable(expansion.declaration) != nil { return memberProblem(expansion) }
            guard DeclarationReader.type(expansion.declaration).head.attribute("Model") == nil else {
                return MacroResult()
            }
            return misplaced(expansion, "a @Model class and its properties")
        }

        private static func misplaced(_ expansion: PluginRequest.Expansion, _ place: String) -> MacroResult {
            let attribute = DeclarationReader.attribute(expansion.attribute)
            return MacroResult(diagnostics: [
                MacroDiagnostic(
                    message: "'@\(attribute?.name ?? expansion.macro)' is for \(place).",
                    fileName: expansion.attribute.fileName,
                    byteOffset: attribute?.byteOffset ?? expansion.attribute.byteOffset)
            ])
        }
    }
#endif
