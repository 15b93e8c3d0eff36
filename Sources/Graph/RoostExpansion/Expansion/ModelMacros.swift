#if Macros
    /// The implementations of the macros.
    struct ModelMacros {
        /// The last parsed class, kept because the compiler sends a request for each member.
        private var last: (source: SourceText, model: ModelClassSyntax)?

        /// Expands a macro in one of its roles.
        ///
        /// Only one role reports the problems of the declaration, so that each problem appears
        /// once.
        mutating func expand(_ expansion: PluginRequest.Expansion) -> MacroResult {
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

        private mutating func model(_ source: SourceText) -> ModelClassSyntax {
            if let last, last.source == source { return last.model }
            let model = ModelClassSyntax(source)
            last = (source, model)
            return model
        }

        private mutating func members(_ expansion: PluginRequest.Expansion) -> MacroResult {
            let model = self.model(expansion.declaration)
            return MacroResult(
                source: model.canExpand ? ModelCode(model).members : "",
                diagnostics: model.problems.map {
                    MacroDiagnostic(
                        message: $0.message, fileName: expansion.declaration.fileName, byteOffset: $0.byteOffset)
                })
        }

        /// Returns the attribute that adds accessors to a property; empty for other members.
        private mutating func memberAttribute(_ expansion: PluginRequest.Expansion) -> String {
            guard let parent = expansion.parent, let variable = DeclarationReader.variable(expansion.declaration) else {
                return ""
            }
            let model = self.model(parent)
            guard model.canExpand,
                // A static variable may have the same name, so only the byte offset identifies the
                // property.
                let slot = model.properties.firstIndex(where: { $0.byteOffset == variable.name.byteOffset })
            else { return "" }
            let owner = model.superclass.map { _ in ", after: \"\(model.syntax.name.text)\"" } ?? ""
            return "@_ModelProperty(slot: \(slot)\(owner))"
        }

        private mutating func conformance(_ expansion: PluginRequest.Expansion) -> String {
            // For a subclass, which inherits the conformance, `needsConformance` is false.
            guard expansion.needsConformance, let type = expansion.extendedType,
                model(expansion.declaration).canExpand
            else { return "" }
            return "nonisolated extension \(type): ModelClass {}"
        }

        private func accessors(_ expansion: PluginRequest.Expansion) -> String {
            guard let attribute = DeclarationReader.attribute(expansion.attribute),
                let slot = attribute.argument("slot")?.text,
                let variable = DeclarationReader.variable(expansion.declaration)
            else { return "" }
            var problems: [ModelClassSyntax.Problem] = []
            guard let property = ModelPropertySyntax(variable, problems: &problems) else { return "" }
            guard let owner = attribute.argument("after")?.text else {
                return PropertyAccessors(property, slot: slot).code
            }
            let name = owner.filter { $0 != "\"" }
            return PropertyAccessors(property, slot: "\(name)._modelSlot + \(slot)").code
        }

        // MARK: Attributes of properties

        /// Returns a problem if a property with an attribute is not in a class with `@Model`.
        private func memberProblem(_ expansion: PluginRequest.Expansion) -> MacroResult {
            guard let text = expansion.context.first else {
                return misplaced(expansion, place: "a property of a @Model class")
            }
            let type = DeclarationReader.type(SourceText(text: text))
            guard type.head.attribute("Model") == nil else { return MacroResult() }
            return misplaced(expansion, place: "a property of a @Model class")
        }

        /// Returns a problem if an attribute is on neither a `@Model` class nor a property of one.
        private func typeProblem(_ expansion: PluginRequest.Expansion) -> MacroResult {
            if DeclarationReader.variable(expansion.declaration) != nil { return memberProblem(expansion) }
            guard DeclarationReader.type(expansion.declaration).head.attribute("Model") == nil else {
                return MacroResult()
            }
            return misplaced(expansion, place: "a @Model class and its properties")
        }

        private func misplaced(_ expansion: PluginRequest.Expansion, place: String) -> MacroResult {
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
