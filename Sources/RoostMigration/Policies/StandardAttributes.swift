internal import RoostCore

/// The attributes that the standard behaviour gives an object, compiled from the attribute mappings of one entity mapping.
final class StandardAttributes {
    private enum Step {
        case constant(Value)
        case field(RecordLayout.Field)
        case expression(FetchRequest.Expression)
        case compiled(ExpressionEvaluator)
        /// The value of a policy's function, by its number.
        case policy(Int)
    }

    private let destination: ManagedObjectModel.Entity
    private let source: ManagedObjectModel.Entity
    private var steps: [(field: RecordLayout.Field, step: Step, fallback: Value?)] = []
    private var policyValues: [(property: PropertyMapping, value: PolicyExpression)] = []
    private let properties: BatchProperties
    private let entities: [EntityName?]
    private let mappingName: String

    init(_ mapping: PolicyMapping, _ plan: PolicyPlan) throws(StoreError) {
        guard let source = mapping.source, let destination = mapping.destination else {
            throw StoreError(.internalInconsistency, "An entity mapping without entities makes no objects.")
        }
        self.source = source
        self.destination = destination
        mappingName = mapping.declaration.name
        properties = BatchProperties(destination, plan.destination)
        entities = plan.source.entities.map { plan.destination.entity($0.name)?.name }
        var found: [Int: (Step, Value?)] = [:]
        for attribute in destination.attributes where attribute.isStored {
            let property = Self.property(attribute.name, mapping.declaration, source)
            let fallback = attribute.isOptional || attribute.defaultValue.isNull ? nil : attribute.defaultValue
            try resolve(property, attribute, fallback, &found)
        }
        for property in mapping.declaration.attributeMappings where property.name.contains(".") {
            let field = try destination.layout.requireField(property.name)
            if let step = try step(property) { found[field.index] = (step, nil) }
        }
        steps = destination.layout.fields.compactMap { field in
            found[field.index].map { (field, $0.0, $0.1) }
        }
    }

    /// What a mapping says of an attribute; of type copy, the attribute of the same name.
    private static func property(
        _ name: String, _ mapping: EntityMapping, _ source: ManagedObjectModel.Entity
    ) -> PropertyMapping {
        if mapping.type == .copy, source.attribute(name) != nil { return PropertyMapping(name, .source(name)) }
        return mapping.attributeMappings.first { $0.name == name } ?? PropertyMapping(name)
    }

    private func resolve(
        _ property: PropertyMapping, _ attribute: AttributeDescription, _ fallback: Value?,
        _ found: inout [Int: (Step, Value?)]
    ) throws(StoreError) {
        let field = try destination.layout.requireField(attribute.name)
        guard let step = try step(property) else {
            try properties.forEachField(
                of: attribute.defaultValue, for: field.kind == .composite ? .composite(field) : .field(field),
                { "its default" }, { found[$0.index] = (.constant($1), nil) })
            return
        }
        found[field.index] = (step, fallback)
        guard attribute.type == .composite, case .field(let from) = step else { return }
        // Elements of the same name go along.
        for element in destination.layout.fields where element.name.hasPrefix(attribute.name + ".") {
            let path = from.name + element.name.dropFirst(attribute.name.count)
            if let origin = source.layout.field(path) { found[element.index] = (.field(origin), nil) }
        }
    }

    private func step(_ property: PropertyMapping) throws(StoreError) -> Step? {
        guard let expression = property.valueExpression else { return nil }
        guard let own = expression.ofSourceObject() else {
            policyValues.append((property, try PolicyExpression(expression, mappingName, property.name)))
            return .policy(policyValues.count - 1)
        }
        switch own {
        case .constant(let value): return .constant(value)
        case .keyPath(let names):
            if let field = source.layout.field(names.joined(separator: ".")) { return .field(field) }
            return .expression(own)
        default: return .expression(own)
        }
    }

    /// Compiles the expressions over the source.
    func prepare(_ source: MigrationSource, mapping: EntityMapping) throws(StoreError) {
        for index in steps.indices {
            guard case .expression(let expression) = steps[index].step else { continue }
            let compiled = try naming(steps[index].field.name) { () throws(StoreError) in
                try CompiledExpression(expression, for: self.source.name, model: source.model)
            }
            steps[index].step = .compiled(compiled.evaluator(over: source.objectGraph))
        }
        for index in policyValues.indices {
            policyValues[index].value = try naming(policyValues[index].property.name) { () throws(StoreError) in
                try policyValues[index].value.compiled(for: self.source.name, source)
            }
        }
    }

    private func naming<Result>(_ property: String, _ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) { return try body() } catch {
            throw StoreError(error.code, "Mapping '\(mappingName)', '\(property)': \(error.message)", underlying: error.underlying)
        }
    }

    /// Asks the policy for the values that come from it; before the object is made, since the policy may do anything meanwhile.
    func policyValues(
        _ object: SourceObject, _ destination: ObjectID, _ mapping: PolicyMapping, _ session: MigrationSession
    ) throws -> [Value] {
        guard !policyValues.isEmpty else { return [] }
        var values: [Value] = []
        for (property, value) in policyValues {
            let call = PolicyCall(source: object, destination: destination, property: property, mapping: mapping)
            values.append(try value.value(call, session))
        }
        return values
    }

    /// Appends the record of a new object.
    func append(
        _ record: RecordReader, key: Int64, policyValues: [Value], rules: [RelationshipRule], to batch: inout RecordBatch
    ) throws(StoreError) {
        batch.beginRecord(destination.layout, key: key, version: 1)
        do throws(StoreError) {
            for rule in rules { try rule.setField(record, &batch) }
            for (field, step, fallback) in steps {
                var value: Value
                switch step {
                case .constant(let constant): value = constant
                case .field(let from): value = record.value(from)
                case .compiled(let evaluator): value = try evaluator.value(of: record)
                case .policy(let number): value = policyValues[number]
                case .expression: continue
                }
                if value.isNull, let fallback { value = fallback }
                try set(value, field, record, &batch)
            }
        } catch {
            batch.abandonRecord()
            throw error
        }
        batch.endRecord()
    }

    private func set(
        _ value: Value, _ field: RecordLayout.Field, _ record: RecordReader, _ batch: inout RecordBatch
    ) throws(StoreError) {
        guard !value.isNull else { return }
        guard let stored = value.converted(to: field.kind) else {
            throw StoreError(
                .migrationFailed,
                "'\(destination.name).\(field.name)' of \(record.id) has type \(field.kind) in the new model and cannot hold \(value.kindDescription) with its value; give the mapping an expression for it, or change the object."
            )
        }
        do throws(StoreError) { try batch.set(stored, field) } catch  where error.code == .invalidValue {
            throw StoreError(
                .migrationFailed,
                "'\(destination.name).\(field.name)' of \(record.id) has type \(field.kind) in the new model, and the value is outside its range; give the mapping an expression for it, or change the object."
            )
        }
    }
}
