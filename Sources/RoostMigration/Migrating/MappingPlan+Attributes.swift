internal import RoostCore

extension MappingPlan {
    /// Finds out what the attributes of a maker's objects get.
    mutating func resolveAttributes(of number: Int) throws(StoreError) {
        let maker = makers[number]
        let mapping = entityMapping(of: maker)
        var statements: [String: AttributeStatement] = [:]
        for property in mapping.attributeMappings where mapping.type != .copy {
            guard let statement = AttributeStatement(property.valueExpression, source: maker.source) else {
                addObstacle("mapping '\(mapping.name)' asks a policy or the migration for '\(property.name)'")
                continue
            }
            statements[property.name] = statement
        }
        if mapping.type == .copy {
            for attribute in maker.source.attributes {
                if let field = maker.source.layout.field(attribute.name) { statements[attribute.name] = .field(field) }
            }
        }
        var resolution = AttributeResolution(maker, mapping, statements, destination)
        for attribute in maker.destination.attributes where attribute.isStored {
            try resolution.resolve(
                attribute, at: attribute.name, in: nil, statements[attribute.name] ?? .standard)
        }
        // Who names objects must know which of them are left out.
        for case .objectID in resolution.fields.map(\.source) {
            for maker in makers where maker.filter != nil { _ = keySet(of: [maker]) }
        }
        let (fields, missing) = (resolution.fields, resolution.missing)
        update(number) { maker in
            maker.fields = fields
            maker.missing = missing
        }
    }

    /// By the number of each source entity that of the only entity its objects become, −1 where they become none or several.
    var entityTable: [Int32] {
        source.entities.map { entity in
            let makers = makers.filter { $0.source.number == entity.number }
            return makers.count == 1 ? Int32(truncatingIfNeeded: makers[0].destination.number) : -1
        }
    }
}

/// Resolves the attributes of one entity, composites with their elements.
private struct AttributeResolution {
    let maker: MappingPlan.Maker
    let mapping: EntityMapping
    let statements: [String: AttributeStatement]
    let properties: BatchProperties
    var fields: [FieldPlan] = []
    var missing: [String] = []

    init(
        _ maker: MappingPlan.Maker, _ mapping: EntityMapping, _ statements: [String: AttributeStatement],
        _ destination: ManagedObjectModel
    ) {
        self.maker = maker
        self.mapping = mapping
        self.statements = statements
        properties = BatchProperties(maker.destination, destination)
    }

    mutating func resolve(
        _ attribute: AttributeDescription, at path: String, in marker: RecordLayout.Field?,
        _ statement: AttributeStatement
    ) throws(StoreError) {
        let to = try maker.destination.layout.requireField(path)
        if attribute.type == .composite { return try resolveComposite(attribute, to, in: marker, statement) }
        // A derived attribute is for others to keep up to date: it takes what there is.
        let isMandatory = !attribute.isOptional && attribute.derivationExpression == nil
        let fallback: Value? = isMandatory && !attribute.defaultValue.isNull ? .some(attribute.defaultValue) : .none
        switch statement {
        case .standard: try setConstant(attribute.defaultValue, to, in: marker, isMandatory: isMandatory)
        case .constant(let value): try setConstant(value, to, in: marker, isMandatory: isMandatory)
        case .field(let from):
            guard from.kind != .composite else { throw misfit(path, "a composite cannot become a single value") }
            let wasMandatory = isMandatorySource(from)
            fields.append(
                FieldPlan(
                    to: to, source: source(from, to), marker: marker,
                    fallback: wasMandatory ? .none : fallback,
                    isRequired: isMandatory && fallback == nil && (!wasMandatory || from.kind == .objectID)))
        case .expression(let expression):
            fields.append(
                FieldPlan(
                    to: to, source: .expression(expression), marker: marker, fallback: fallback,
                    isRequired: isMandatory && fallback == nil))
        }
    }

    private func source(_ from: RecordLayout.Field, _ to: RecordLayout.Field) -> FieldPlan.Source {
        if from.kind != to.kind { return .convert(from) }
        return from.kind == .objectID ? .objectID(from) : .move(from)
    }

    private mutating func setConstant(
        _ value: Value, _ to: RecordLayout.Field, in marker: RecordLayout.Field?, isMandatory: Bool
    ) throws(StoreError) {
        guard !value.isNull else {
            guard isMandatory else { return }
            if marker == nil {
                missing.append(to.name)
            } else {
                fields.append(FieldPlan(to: to, source: .constant(.null), marker: marker, isRequired: true))
            }
            return
        }
        guard let stored = value.converted(to: to.kind) else {
            throw misfit(to.name, "type \(to.kind) cannot hold \(value.kindDescription)")
        }
        fields.append(FieldPlan(to: to, source: .constant(stored), marker: marker))
    }

    // MARK: Composites

    private mutating func resolveComposite(
        _ attribute: AttributeDescription, _ to: RecordLayout.Field, in outer: RecordLayout.Field?,
        _ statement: AttributeStatement
    ) throws(StoreError) {
        let isMandatory = !attribute.isOptional && attribute.derivationExpression == nil
        var from: RecordLayout.Field?
        switch statement {
        case .field(let field):
            guard field.kind == .composite else { throw misfit(to.name, "a single value cannot become a composite") }
            from = field
            let wasMandatory = isMandatorySource(field)
            fields.append(
                FieldPlan(to: to, source: .move(field), marker: outer, isRequired: isMandatory && !wasMandatory))
        case .standard where hasMappedElements(to):
            // Elements of their own make the composite be there.
            fields.append(
                FieldPlan(to: to, source: .presence(elements(of: to)), marker: outer, isRequired: isMandatory))
        case .standard: return try setComposite(attribute.defaultValue, to, in: outer, isMandatory: isMandatory)
        case .constant(let value): return try setComposite(value, to, in: outer, isMandatory: isMandatory)
        case .expression:
            throw misfit(to.name, "a composite is no value that an expression has; its elements have some")
        }
        for element in attribute.elements where element.type != .undefined {
            let path = "\(to.name).\(element.name)"
            let same = from.flatMap { maker.source.layout.field("\($0.name).\(element.name)") }
            let statement = statements[path] ?? same.map { .field($0) } ?? .standard
            try resolve(element, at: path, in: from == nil ? nil : to, statement)
        }
    }

    /// Sets a composite as a whole to a value, elements that it does not name to their defaults.
    private mutating func setComposite(
        _ value: Value, _ to: RecordLayout.Field, in outer: RecordLayout.Field?, isMandatory: Bool
    ) throws(StoreError) {
        guard !value.isNull else {
            if isMandatory, outer == nil { missing.append(to.name) }
            return
        }
        var values: [Int: Value] = [:]
        try properties.forEachField(of: value, for: .composite(to), { "mapping '\(mapping.name)'" }) {
            values[$0.index] = $1
        }
        for (composite, element, attribute) in properties.elementDefaults
        where values[composite.index].map({ !$0.isNull }) ?? false && values[element.index].map(\.isNull) ?? true {
            try properties.forEachField(
                of: attribute.defaultValue, for: element.kind == .composite ? .composite(element) : .field(element),
                { "its default" }, { values[$0.index] = $1 })
        }
        for field in maker.destination.layout.fields {
            if let value = values[field.index], !value.isNull {
                fields.append(FieldPlan(to: field, source: .constant(value), marker: outer))
            }
        }
    }

    private func elements(of composite: RecordLayout.Field) -> [RecordLayout.Field] {
        maker.destination.layout.fields.filter { $0.name.hasPrefix(composite.name + ".") }
    }

    private func hasMappedElements(_ composite: RecordLayout.Field) -> Bool {
        statements.contains { name, statement in
            if case .standard = statement { return false }
            return name.hasPrefix(composite.name + ".")
        }
    }

    // MARK: The source's side

    /// Whether the source has a value in a field of each object already, as far as its model says.
    private func isMandatorySource(_ field: RecordLayout.Field) -> Bool {
        maker.source.attribute(atPath: field.name).map { !$0.isOptional } ?? false
    }

    private func misfit(_ property: String, _ reason: String) -> StoreError {
        StoreError(
            .invalidValue,
            "Mapping '\(mapping.name)' cannot set '\(maker.destination.name).\(property)': \(reason); give it another expression."
        )
    }
}
