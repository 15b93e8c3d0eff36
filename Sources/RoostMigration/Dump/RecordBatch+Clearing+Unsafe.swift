internal import RoostCore

extension RecordBatch {
    /// Appends a copy of a record in which the fields at some positions are null.
    mutating func append(_ record: RecordReader, clearing cleared: [Int]) throws(StoreError) {
        beginRecord(record.layout, key: record.key, version: record.version)
        do throws(StoreError) {
            for field in record.layout.fields where !record.isNull(field) && !cleared.contains(field.index) {
                try copy(field, of: record)
            }
        } catch {
            abandonRecord()
            throw error
        }
        endRecord()
    }

    /// Sets a field of the record that is being built to the value it has in another record of the same layout.
    private mutating func copy(_ field: RecordLayout.Field, of record: RecordReader) throws(StoreError) {
        switch field.kind {
        case .integer64, .integer32, .integer16, .boolean, .order: try setInteger(record.integer(field), field)
        case .double, .date: try setDouble(record.double(field), field)
        case .float: setFloatBits(record.floatBits(field), field)
        case .decimal:
            guard let number = record.decimal(field) else {
                throw StoreError(.corrupted, "Property '\(field.name)' of \(record.id) is not a canonical decimal.")
            }
            setDecimal(number, field)
        case .uuid: try setUUID(record.bytes(field), field)
        case .reference, .polymorphicReference, .objectID:
            guard let (entity, key) = record.reference(field) else { return }
            try setReference(entity: entity, key: key, field)
        case .composite: setComposite(field)
        case .string, .uri, .data, .transformable: try setBytes(record.bytes(field), field)
        }
    }
}
