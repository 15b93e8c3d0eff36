internal import RoostCore
internal import RoostStores

/// The parts of an entity that contexts need, computed once for each container.
final class EntityInfo: Sendable {
    /// The field or relationship for a property of the entity's class.
    struct Slot: Sendable {
        let name: String
        /// The field of a stored attribute or a to-one relationship, or nil.
        let field: RecordLayout.Field?
        let relationship: Int?
        let isTransient: Bool
    }

    let entity: ManagedObjectModel.Entity
    let type: ManagedObject.Type
    let slots: [Slot]
    let tail: RowAccess.TailLayout
    /// The index of the field that begins at each byte offset, or −1; composites are ignored.
    let fieldAtOffset: [Int32]
    /// The fields of to-one relationships, by relationship number; nil for other relationships.
    let references: [RecordLayout.Field?]
    let referenceFields: [RecordLayout.Field]
    let referenceRanges: [Range<Int>]
    /// The fields with the object's positions in ordered relationships.
    ///
    /// The index is the number of the to-one inverse; all other entries are nil.
    let places: [RecordLayout.Field?]
    /// The fields in ``places``, without nil.
    let placeFields: [RecordLayout.Field]
    /// The offsets of the 32-bit words that hold references or positions in ordered relationships.
    let linkOffsets: [Int]
    /// The fields of derived attributes, which saves compute.
    let derivedFields: [RecordLayout.Field]
    /// The row of a new object: the model's defaults, and null in fields without a default.
    let newRow: [UInt8]
    /// The transient attributes by name, with their defaults.
    let transients: [String: AttributeDescription]
    var relationships: [ManagedObjectModel.Relationship] { entity.relationships }

    init(
        _ entity: ManagedObjectModel.Entity, type: ManagedObject.Type, shape: ClassShape?, model: ManagedObjectModel
    ) throws(StoreError) {
        self.entity = entity
        self.type = type
        tail = RowAccess.TailLayout(entity.layout)
        var fieldAtOffset = [Int32](repeating: -1, count: entity.layout.fixedByteCount)
        for field in entity.layout.fields
        where field.kind != .composite && fieldAtOffset.indices.contains(field.byteOffset) {
            fieldAtOffset[field.byteOffset] = Int32(truncatingIfNeeded: field.index)
        }
        self.fieldAtOffset = fieldAtOffset
        var references = [RecordLayout.Field?](repeating: nil, count: model.relationships.count)
        var places = references
        for relationship in entity.relationships where relationship.storage == .field {
            references[relationship.number] = entity.layout.field(relationship.name.name)
            places[relationship.number] = entity.layout.field(
                RecordLayout.orderFieldName(of: relationship.name.name))
        }
        self.references = references
        referenceFields = references.compactMap { $0 }
        referenceRanges = referenceFields.map {
            $0.byteOffset..<$0.byteOffset + ($0.kind == .reference ? 8 : 12)
        }
        self.places = places
        placeFields = places.compactMap { $0 }
        linkOffsets = (referenceRanges + placeFields.map { $0.byteOffset..<$0.byteOffset + 8 })
            .flatMap { stride(from: $0.lowerBound, to: $0.upperBound, by: 4) }
        derivedFields = entity.attributes.filter { $0.derivationExpression != nil }
            .compactMap { entity.layout.field($0.name) }
        var slots: [Slot] = []
        for property in shape?.properties ?? [] { slots.append(try property.slot(in: entity, of: type)) }
        self.slots = slots
        newRow = try Self.newRow(entity, model: model)
        transients = Dictionary(
            uniqueKeysWithValues: entity.attributes.filter(\.isTransient).map { ($0.name, $0) })
    }

    /// Returns whether two rows have equal references and equal positions.
    @inline(__always)
    func haveEqualLinks(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer) -> Bool {
        for offset in linkOffsets
        where left.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            != right.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        {
            return false
        }
        for field in placeFields
        where RowAccess.isNull(left, field: field.index) != RowAccess.isNull(right, field: field.index) {
            return false
        }
        return true
    }

    /// Replaces keys in the references of a row; only temporary keys if `areTemporary` is true.
    func replaceKeys(
        _ new: [ObjectPlace: Int64], in row: UnsafeMutableRawPointer, model: ManagedObjectModel,
        areTemporary: Bool = true
    ) {
        for field in entity.layout.fields where field.kind == .reference || field.kind == .polymorphicReference {
            guard let (entity, key) = RowAccess.reference(row, field: field), key < 0 || !areTemporary,
                let final = new[ObjectPlace(root: model.entities[entity].root, key: key)]
            else { continue }
            if isPlanted(.keepsTemporaryReferences) { continue }
            RowAccess.setReference((entity, final), row: row, field: field)
        }
    }

    private static func newRow(
        _ entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) throws(StoreError) -> [UInt8] {
        guard !entity.isAbstract else { return entity.layout.template }
        var defaults: [String: Value] = [:]
        for attribute in entity.attributes where attribute.isStored && !attribute.defaultValue.isNull {
            defaults[attribute.name] = attribute.defaultValue
        }
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID(entity.name, key: 1), version: 1, values: defaults)
        return batch.withRecord(at: 0) { Array($0.bytes) }
    }
}

/// The classes and rules of a container's model, shared by the container's contexts.
final class ModelClasses: Sendable {
    let model: ManagedObjectModel
    /// The information about each entity, by entity number.
    private let entities: [EntityInfo]
    /// ``entities`` as a table, for fast access.
    let table: EntityTable
    /// The rules of transient attributes, or nil if the model has none.
    let transientRules: ModelRules?

    /// Creates the classes of a model.
    ///
    /// - Throws: `invalidModel` if a class does not match its entity; `unknownEntity`.
    init(_ model: ManagedObjectModel, types: [any ManagedObjectClass.Type]) throws(StoreError) {
        self.model = model
        var shapes: [Int: (type: ManagedObject.Type, shape: ClassShape)] = [:]
        for type in types {
            let shape = type.shape
            shapes[try model.requireEntity(shape.entity).number] = (type, shape)
        }
        var entities: [EntityInfo] = []
        for entity in model.entities {
            // An entity without a class uses the class of the nearest superentity that has one.
            var number: Int? = entity.number
            while let current = number, shapes[current] == nil { number = model.entities[current].superentity }
            let found = number.flatMap { shapes[$0] }
            entities.append(
                try EntityInfo(entity, type: found?.type ?? ManagedObject.self, shape: found?.shape, model: model))
        }
        self.entities = entities
        var transients: [EntityDescription] = []
        for entity in model.entities where !entity.isAbstract {
            let attributes = entity.attributes.filter { $0.isTransient && $0.type != .undefined }
            guard !attributes.isEmpty else { continue }
            transients.append(
                EntityDescription(
                    entity.name.text,
                    attributes: attributes.map { attribute in
                        var stored = attribute
                        stored.isTransient = false
                        return stored
                    }))
        }
        transientRules =
            transients.isEmpty ? nil : try ModelRules(try ManagedObjectModel(entities: transients))
        table = EntityTable(entities)
    }

    deinit { table.deallocate() }
}
