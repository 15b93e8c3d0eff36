internal import RoostCore

extension MappingPlan {
    mutating func resolveAttributes(of number: Int) throws(StoreError) {
        let entityPlan = entityPlans[number]
        let mapping = entityMapping(of: entityPlan)
        var statements: [String: AttributeStatement] = [:]
        var asked: [String] = []
        for property in mapping.attributeMappings
        where mapping.type != .copy && !entityPlan.destination.computes(property.name) {
            guard let statement = AttributeStatement(property.valueExpression, source: entityPlan.source) else {
                addObstacle("mapping '\(mapping.name)' asks a policy or the migration for '\(property.name)'")
                asked.append(property.name)
                continue
            }
            statements[property.name] = statement
        }
        if mapping.type == .copy {
            for attribute in entityPlan.source.attributes {
                if let field = entityPlan.source.layout.field(attribute.name) {
                    statements[attribute.name] = .field(field)
                }
            }
        }
        for attribute in entityPlan.destination.attributes where entityPlan.destination.computes(attribute.name) {
            statements[attribute.name] = derivedStatement(of: attribute, entityPlan: entityPlan)
        }
        var resolution = AttributeResolution(
            entityPlan, mapping: mapping, statements: statements, destination: destination)
        for attribute in entityPlan.destination.attributes where attribute.isStored {
            try resolution.resolve(
                attribute, at: attribute.name, in: nil, statement: statements[attribute.name] ?? .standard)
        }
        // A policy or the migration may still provide a value.
        resolution.leave { name in asked.contains { $0 == name || $0.hasPrefix(name + ".") } }
        // IDs of excluded objects become null, so the keys of included objects must be known.
        for case .objectID in resolution.fields.map(\.source) {
            for entityPlan in entityPlans where entityPlan.filter != nil { _ = keySet(of: [entityPlan]) }
        }
        let (fields, missing) = (resolution.fields, resolution.missing)
        update(number) { entityPlan in
            entityPlan.fields = fields
            entityPlan.missing = missing
        }
    }

    /// Returns the provisional value of a derived attribute.
    ///
    /// A source value that is probably right saves a second write of the object. A unique attribute
    /// starts as null, because a wrong value could conflict with another object.
    private func derivedStatement(of attribute: AttributeDescription, entityPlan: EntityPlan) -> AttributeStatement {
        let (entity, number) = (entityPlan.source, entityPlan.destination.number)
        let isUnique = destination.uniquenessConstraints.contains { constraint in
            constraint.attributes.contains(attribute.name) && destination.entities[constraint.entity].includes(number)
        }
        guard !isUnique, let old = entity.attribute(attribute.name), old.isStored, old.type == attribute.type,
            old.type != .objectID,
            old.derivationExpression == attribute.derivationExpression, let field = entity.layout.field(old.name)
        else { return .constant(.null) }
        return .field(field)
    }

    /// The entity plans, by the number of their source entity.
    var entityPlansBySource: [[EntityPlan]] {
        var table = [[EntityPlan]](repeating: [], count: source.entities.count)
        for entityPlan in entityPlans { table[entityPlan.source.number].append(entityPlan) }
        return table
    }
}

/// A resolution of one entity's attributes, including elements of composites.
private struct AttributeResolution {
    let entityPlan: MappingPlan.EntityPlan
    let mapping: EntityMapping
    let statements: [String: AttributeStatement]
    let properties: BatchProperties
    var fields: [FieldPlan] = []
    var missing: [String] = []

    init(
        _ entityPlan: MappingPlan.EntityPlan, mapping: EntityMapping, statements: [String: AttributeStatement],
        destination: ManagedObjectModel
    ) {
        self.entityPlan = entityPlan
        self.mapping = mapping
        self.statements = statements
        properties = BatchProperties(entityPlan.destination, in: destination)
    }

    struct Composite {
        let field: RecordLayout.Field
        /// The source composite to copy, or nil if the composite is built from its elements.
        let from: RecordLayout.Field?
        /// Whether the composite or an enclosing one may be absent although an element has a value
        /// in the source.
        let mayHide: Bool
    }

    mutating func resolve(
        _ attribute: AttributeDescription, at path: String, in outer: Composite?, statement: AttributeStatement
    ) throws(StoreError) {
        let to = try entityPlan.destination.layout.requireField(path)
        if attribute.type == .composite {
            return try resolveComposite(attribute, to: to, in: outer, statement: statement)
        }
        // A derived attribute is computed later, so it may be null here.
        let isMandatory = !attribute.isOptional && attribute.derivationExpression == nil
        let fallback: Value? = isMandatory && !attribute.defaultValue.isNull ? .some(attribute.defaultValue) : .none
        switch statement {
        case .standard: try setConstant(attribute.defaultValue, to: to, in: outer, isMandatory: isMandatory)
        case .constant(let value):
            try setConstant(value.isNull ? fallback ?? .null : value, to: to, in: outer, isMandatory: isMandatory)
        case .field(let from):
            guard from.kind != .composite else {
                throw misfit(path, reason: "a composite cannot become a single value")
            }
            let wasMandatory = isMandatorySource(from, in: outer?.from)
            let mayHide = (outer?.mayHide ?? false) && !Self.isInside(from, composite: outer?.from)
            fields.append(
                FieldPlan(
                    to: to, source: source(from, to: to, isMoved: !mayHide), marker: outer?.field,
                    fallback: wasMandatory ? .none : fallback,
                    isRequired: isMandatory && fallback == nil && (!wasMandatory || from.kind == .objectID)))
        case .expression(let expression):
            fields.append(
                FieldPlan(
                    to: to, source: .expression(expression), marker: outer?.field, fallback: fallback,
                    isRequired: isMandatory && fallback == nil))
        }
    }

    /// Allows null for the properties for which `isAsked` returns true.
    mutating func leave(_ isAsked: (String) -> Bool) {
        missing.removeAll(where: isAsked)
        for index in fields.indices where isAsked(fields[index].to.name) { fields[index].isRequired = false }
    }

    private func source(
        _ from: RecordLayout.Field, to: RecordLayout.Field, isMoved: Bool
    ) -> FieldPlan.Source {
        if from.kind != to.kind { return .convert(from) }
        if from.kind == .objectID { return .objectID(from) }
        return isMoved ? .move(from) : .convert(from)
    }

    private mutating func setConstant(
        _ value: Value, to: RecordLayout.Field, in outer: Composite?, isMandatory: Bool
    ) throws(StoreError) {
        guard !value.isNull else { return leaveEmpty(to, in: outer, isMandatory: isMandatory) }
        guard let stored = value.converted(to: to.kind) else {
            throw misfit(to.name, reason: "type \(to.kind) cannot hold \(value.kindDescription)")
        }
        fields.append(FieldPlan(to: to, source: .constant(stored), marker: outer?.field))
    }

    /// Records that a field gets no value, if the field is mandatory.
    ///
    /// A mandatory field of a composite may be null only if the composite is absent.
    private mutating func leaveEmpty(_ to: RecordLayout.Field, in outer: Composite?, isMandatory: Bool) {
        guard isMandatory else { return }
        if let outer {
            fields.append(FieldPlan(to: to, source: .constant(.null), marker: outer.field, isRequired: true))
        } else {
            missing.append(to.name)
        }
    }

    // MARK: Composites

    private mutating func resolveComposite(
        _ attribute: AttributeDescription, to: RecordLayout.Field, in outer: Composite?,
        statement: AttributeStatement
    ) throws(StoreError) {
        let isMandatory = !attribute.isOptional && attribute.derivationExpression == nil
        let this: Composite
        switch statement {
        case .field(let field):
            guard field.kind == .composite else {
                throw misfit(to.name, reason: "a single value cannot become a composite")
            }
            this = Composite(field: to, from: field, mayHide: true)
            let wasMandatory = isMandatorySource(field, in: outer?.from)
            fields.append(
                FieldPlan(
                    to: to, source: .move(field), marker: outer?.field, isRequired: isMandatory && !wasMandatory))
        case .standard where hasMappedElements(to):
            // Mapped elements make the composite exist. Defaults do so only if the composite is
            // mandatory.
            this = Composite(field: to, from: nil, mayHide: outer?.mayHide ?? false)
            let isAlwaysThere = isMandatory && hasDefaults(attribute)
            fields.append(
                FieldPlan(
                    to: to, source: isAlwaysThere ? .presence([.constant(.bool(true))]) : .presence(values(of: to)),
                    marker: outer?.field, isRequired: isMandatory))
        case .standard: return try setComposite(attribute.defaultValue, to: to, in: outer, isMandatory: isMandatory)
        case .constant(let value):
            let value = value.isNull && isMandatory ? attribute.defaultValue : value
            return try setComposite(value, to: to, in: outer, isMandatory: isMandatory)
        case .expression:
            throw misfit(to.name, reason: "an expression cannot give a whole composite, only its elements")
        }
        for element in attribute.elements where element.type != .undefined {
            let path = "\(to.name).\(element.name)"
            let same = this.from.flatMap { entityPlan.source.layout.field("\($0.name).\(element.name)") }
            let statement = statements[path] ?? same.map { .field($0) } ?? .standard
            try resolve(element, at: path, in: this, statement: statement)
        }
    }

    /// Sets a composite to a value, with defaults for elements that are null or missing in it.
    private mutating func setComposite(
        _ value: Value, to: RecordLayout.Field, in outer: Composite?, isMandatory: Bool
    ) throws(StoreError) {
        guard !value.isNull else { return leaveEmpty(to, in: outer, isMandatory: isMandatory) }
        var values: [Int: Value] = [:]
        try properties.forEachField(of: value, for: .composite(to), owner: { "mapping '\(mapping.name)'" }) {
            values[$0.index] = $1
        }
        for (composite, element, attribute) in properties.elementDefaults
        where values[composite.index].map({ !$0.isNull }) ?? false && values[element.index].map(\.isNull) ?? true {
            try properties.forEachField(
                of: attribute.defaultValue, for: element.kind == .composite ? .composite(element) : .field(element),
                owner: { "its default" }, { values[$0.index] = $1 })
        }
        for field in entityPlan.destination.layout.fields {
            if let value = values[field.index], !value.isNull {
                fields.append(FieldPlan(to: field, source: .constant(value), marker: outer?.field))
            }
        }
    }

    /// Returns the mapped values of a composite's elements, without constant nulls.
    private func values(of composite: RecordLayout.Field) -> [FieldPlan.Presence] {
        statements.sorted { $0.key < $1.key }.compactMap { name, statement in
            guard name.hasPrefix(composite.name + ".") else { return nil }
            switch statement {
            case .standard: return nil
            case .constant(let value): return value.isNull ? nil : .constant(value)
            case .field(let field): return .field(field)
            case .expression(let expression): return .expression(expression)
            }
        }
    }

    private func hasDefaults(_ composite: AttributeDescription) -> Bool {
        composite.elements.contains { !$0.defaultValue.isNull || hasDefaults($0) }
    }

    private func hasMappedElements(_ composite: RecordLayout.Field) -> Bool {
        statements.contains { name, statement in
            if case .standard = statement { return false }
            return name.hasPrefix(composite.name + ".")
        }
    }

    // MARK: The source

    /// Returns whether the source model guarantees a value in a field if `composite` exists.
    private func isMandatorySource(_ field: RecordLayout.Field, in composite: RecordLayout.Field?) -> Bool {
        var names = field.name.split(separator: ".")
        while !names.isEmpty {
            let path = names.joined(separator: ".")
            if path == composite?.name { return true }
            guard let attribute = entityPlan.source.attribute(atPath: path), !attribute.isOptional else { return false }
            names.removeLast()
        }
        return true
    }

    private static func isInside(_ field: RecordLayout.Field, composite: RecordLayout.Field?) -> Bool {
        composite.map { field.name.hasPrefix($0.name + ".") } ?? false
    }

    private func misfit(_ property: String, reason: String) -> StoreError {
        StoreError(
            .invalidValue,
            "Mapping '\(mapping.name)' cannot set '\(entityPlan.destination.name).\(property)': \(reason); give it another expression."
        )
    }
}
