internal import RoostCore

extension RecordTextWriter {
    /// Appends the value of a field that is neither null nor a composite.
    func appendValue(
        of field: borrowing RecordLayout.Field, _ record: RecordReader, to text: inout [UInt8]
    ) throws(StoreError) {
        switch field.kind {
        case .integer64, .integer32, .integer16, .order, .reference: JSONText.append(record.integer(field), to: &text)
        case .double, .date: JSONText.append(record.double(field), to: &text)
        case .float: JSONText.append(Float(bitPattern: record.floatBits(field)), to: &text)
        case .boolean: text.append(contentsOf: (record.boolean(field) ? "true" : "false").utf8)
        case .decimal:
            guard let number = record.decimal(field) else {
                throw Self.unwritable(field, record, "a canonical decimal")
            }
            JSONText.append(number, to: &text)
        case .uuid: JSONText.append(uuid: record.bytes(field), to: &text)
        case .objectID, .polymorphicReference:
            guard let (entity, key) = record.reference(field), entity < plans.count else {
                throw Self.unwritable(field, record, "an object of the model")
            }
            text.append(contentsOf: plans[entity].idPrefix)
            JSONText.append(key, to: &text)
            text.append(UInt8(ascii: "\""))
        case .string, .uri:
            let bytes = record.bytes(field)
            guard bytes.isValidUTF8 else { throw Self.unwritable(field, record, "valid UTF-8") }
            JSONText.append(string: bytes, to: &text)
        case .data, .transformable: JSONText.append(base64: record.bytes(field), to: &text)
        case .composite: break
        }
    }

    @inline(never)
    private static func unwritable(
        _ field: borrowing RecordLayout.Field, _ record: RecordReader, _ what: String
    ) -> StoreError {
        StoreError(
            .corrupted,
            "Property '\(field.name)' of \(record.id) is not \(what), so no text can hold it; 'roost check' says more.",
            damagedObject: record.id)
    }
}
