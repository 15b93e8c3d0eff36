internal import RoostCore

/// The default values and the mandatory properties of one entity.
struct EntityBlueprint {
    let properties: BatchProperties
    private let values: [(field: RecordLayout.Field, value: Value)]
    /// The properties by name, cached because policies set them one at a time.
    private let settable: [String: BatchProperties.Property]
    private let layout: RecordLayout
    private let model: ManagedObjectModel

    init(_ entity: ManagedObjectModel.Entity, model: ManagedObjectModel) throws(StoreError) {
        properties = BatchProperties(entity, in: model)
        layout = entity.layout
        self.model = model
        var values: [Int: Value] = [:]
        for attribute in entity.attributes where attribute.isStored && !attribute.defaultValue.isNull {
            let field = try layout.requireField(attribute.name)
            try properties.forEachField(
                of: attribute.defaultValue, for: field.kind == .composite ? .composite(field) : .field(field),
                owner: { "its default" }, { values[$0.index] = $1 })
        }
        var settable: [String: BatchProperties.Property] = [:]
        for field in layout.fields { settable[field.name] = try? properties.property(field.name) }
        self.settable = settable
        self.values = layout.fields.compactMap { field in values[field.index].map { (field, $0) } }
    }

    func property(_ name: String) throws(StoreError) -> BatchProperties.Property {
        if let known = settable[name] { return known }
        return try properties.property(name)
    }

    func append(key: Int64, to batch: inout RecordBatch) throws(StoreError) {
        batch.beginRecord(layout, key: key, version: 1)
        do throws(StoreError) {
            for (field, value) in values { try batch.set(value, for: field) }
        } catch {
            batch.abandonRecord()
            throw error
        }
        batch.endRecord()
    }

    func requireRange(of value: Value, field: RecordLayout.Field) throws(StoreError) {
        switch field.kind {
        case .integer16, .integer32, .float, .decimal:
            var scratch = RecordBatch(model: model)
            scratch.beginRecord(layout, key: 1, version: 1)
            defer { scratch.abandonRecord() }
            try scratch.set(value, for: field)
        default: return
        }
    }

    func isIncomplete(_ record: RecordReader) -> Bool {
        properties.mandatory.contains { record.isNull($0) }
            || properties.mandatoryElements.contains { !record.isNull($0.composite) && record.isNull($0.element) }
    }

    func missing(in record: RecordReader) -> [RecordLayout.Field] {
        properties.mandatory.filter { record.isNull($0) }
            + properties.mandatoryElements.filter { !record.isNull($0.composite) && record.isNull($0.element) }
            .map(\.element)
    }
}
