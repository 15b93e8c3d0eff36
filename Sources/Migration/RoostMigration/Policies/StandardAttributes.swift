internal import RoostCore

/// The values that the standard behavior gives to a new object in the first pass.
///
/// To-one relationships are set as if every object kept its key.
final class StandardAttributes {
    private let entityPlan: MappingPlan.EntityPlan
    private let plan: MappingPlan
    private var transform: RecordTransform?
    /// The attributes whose expressions use more than the source object, such as a policy function.
    private var policyValues: [(property: PropertyMapping, attribute: AttributeDescription, value: PolicyExpression)] =
        []
    private let properties: BatchProperties
    private let demanded: Set<String>

    /// Resolves an entity mapping, or returns nil if it creates no objects from source objects.
    init?(_ mapping: PolicyMapping, plan: MappingPlan) throws(StoreError) {
        guard let entityPlan = plan.entityPlans.first(where: { $0.mapping == mapping.number }),
            !entityPlan.destination.isAbstract
        else {
            return nil
        }
        self.plan = plan
        demanded = Set(entityPlan.missing + entityPlan.fields.filter(\.isRequired).map(\.to.name))
        properties = BatchProperties(entityPlan.destination, in: plan.destination)
        var lenient = entityPlan
        // Policies may set mandatory properties later; validation checks them at the end.
        for index in lenient.fields.indices { lenient.fields[index].isRequired = false }
        self.entityPlan = lenient
        guard mapping.declaration.type != .copy else { return }
        for property in mapping.declaration.attributeMappings {
            guard let expression = property.valueExpression, expression.ofSourceObject() == nil,
                let attribute = entityPlan.destination.attribute(atPath: property.name), attribute.isStored,
                !entityPlan.destination.computes(property.name)
            else { continue }
            policyValues.append(
                (
                    property, attribute,
                    try PolicyExpression(expression, mapping: mapping.declaration.name, property: property.name)
                ))
        }
    }

    /// The attributes that contain object IDs, with their source attributes.
    var objectIDs: [(to: RecordLayout.Field, from: RecordLayout.Field)] {
        entityPlan.fields.compactMap { field in
            if case .objectID(let from) = field.source { (field.to, from) } else { nil }
        }
    }

    /// Returns whether a new object must have a value for an attribute.
    ///
    /// If the source attribute is mandatory too, a value that the source lacks may stay missing.
    func demands(_ field: RecordLayout.Field) -> Bool { demanded.contains(field.name) }

    /// The number of IDs that became null in the first pass, by attribute.
    var lostIDs: [String: Int] { transform?.lostIDs ?? [:] }

    func prepare(_ source: MigrationSource, rules: [RelationshipRule]) throws(StoreError) {
        var entityPlan = entityPlan
        entityPlan.references = rules.compactMap { $0.reference(plan.source) }
        transform = try RecordTransform(entityPlan, in: plan, over: source.objectGraph)
        for index in policyValues.indices {
            policyValues[index].value = try policyValues[index].value.compiled(
                for: entityPlan.source.name, source: source)
        }
    }

    func make(
        _ object: SourceObject, key: Int64, mapping: PolicyMapping, session: MigrationSession
    ) throws -> DestinationObject {
        guard let transform else {
            throw StoreError(.internalInconsistency, "An entity mapping was used before it was prepared.")
        }
        var values: [Value] = []
        // The values are computed before the object is created, because the policy may create or
        // change other objects.
        for (property, _, expression) in policyValues {
            let call = PolicyCall(
                source: object, destination: ObjectID(entityPlan.destination.name, key: key), property: property,
                mapping: mapping
            )
            values.append(try expression.value(call, session: session))
        }
        let made = try session.content.append(entity: entityPlan.destination.number, key: key) {
            (batch) throws(StoreError) in
            try object.batch.records.withRecord(at: object.index) { (record) throws(StoreError) in
                try transform.append(record, key: key, to: &batch)
            }
        }
        for ((property, attribute, _), value) in zip(policyValues, values) {
            try set(
                value.isNull && !attribute.isOptional ? attribute.defaultValue : value, name: property.name, of: made,
                object: object)
        }
        return made
    }

    private func set(
        _ value: Value, name: String, of made: DestinationObject, object: SourceObject
    ) throws(StoreError) {
        do throws(StoreError) {
            try made.content.set(value, name: name, of: made)
        } catch  where error.code == .invalidValue {
            throw StoreError(
                .migrationFailed,
                "'\(entityPlan.destination.name).\(name)' of \(object.id) cannot hold \(value.kindDescription) from the policy; give another value, or change the attribute's type.",
                underlying: error)
        }
    }
}
