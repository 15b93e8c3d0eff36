internal import RoostCore

extension RecordTextReader {
    /// Reads the value of a field, whose first token is the reader's current one, into the field's slot.
    mutating func readValue(
        of field: RecordLayout.Field, _ header: Header, from reader: inout JSONTokenReader
    ) throws(StoreError) {
        let isRead: Bool
        switch field.kind {
        case .integer64, .order: isRead = note(reader.integer, field)
        case .integer32: isRead = note(reader.integer.flatMap(Int32.init(exactly:)).map(Int64.init), field)
        case .integer16: isRead = note(reader.integer.flatMap(Int16.init(exactly:)).map(Int64.init), field)
        case .reference: isRead = note(reader.integer.flatMap { $0 > 0 ? $0 : nil }, field)
        case .boolean:
            let token = reader.token
            isRead = note(token == .true ? 1 : token == .false ? 0 : nil, field)
        case .double, .date:
            let value = reader.double
            slots[field.index].bits = value?.bitPattern ?? 0
            isRead = value != nil
        case .float:
            let value = reader.float
            slots[field.index].bits = UInt64(value?.bitPattern ?? 0)
            isRead = value != nil
        case .decimal:
            let value = reader.decimal
            slots[field.index].number = decimals.count
            decimals.append(value ?? .zero)
            isRead = value != nil
        case .objectID, .polymorphicReference:
            isRead = readReference(field, reader)
        case .uuid: isRead = noteBytes(of: field) { reader.appendUUID(to: &$0) }
        case .data, .transformable: isRead = noteBytes(of: field) { reader.appendBase64(to: &$0) }
        case .string, .uri:
            guard reader.token == .string else { throw wrongValue(reader, field, header) }
            isRead = noteBytes(of: field) { bytes in
                reader.withText { bytes.append(contentsOf: $0) }
                return true
            }
        case .composite: isRead = false
        }
        guard isRead else { throw wrongValue(reader, field, header) }
    }

    private mutating func note(_ number: Int64?, _ field: RecordLayout.Field) -> Bool {
        guard let number else { return false }
        slots[field.index].bits = UInt64(bitPattern: number)
        return true
    }

    private mutating func noteBytes(of field: RecordLayout.Field, _ append: (inout [UInt8]) -> Bool) -> Bool {
        let start = bytes.count
        guard append(&bytes) else { return false }
        slots[field.index].bytes = start..<bytes.count
        return true
    }

    /// Reads `Entity/key`.
    private mutating func readReference(_ field: RecordLayout.Field, _ reader: borrowing JSONTokenReader) -> Bool {
        guard reader.token == .string else { return false }
        let found: (entity: Int, key: Int64)? = reader.withText { text in
            guard let slash = text.lastIndex(of: UInt8(ascii: "/")),
                let entity = entityNames.index(of: UnsafeRawBufferPointer(rebasing: text[..<slash])),
                let key = JSONTokenReader.integer(UnsafeRawBufferPointer(rebasing: text[(slash + 1)...])), key > 0,
                text[slash + 1] != UInt8(ascii: "0"),
                field.destination.map({ model.entities[$0].includes(entity) }) ?? true
            else { return nil }
            return (entity, key)
        }
        guard let found else { return false }
        slots[field.index].number = found.entity
        return note(found.key, field)
    }

    /// Puts the value of a field that was read into the record that is being built.
    func set(_ field: RecordLayout.Field, in batch: inout RecordBatch) throws(StoreError) {
        let slot = slots[field.index]
        switch field.kind {
        case .integer64, .integer32, .integer16, .boolean, .order:
            try batch.setInteger(Int64(bitPattern: slot.bits), field)
        case .double, .date: try batch.setDouble(Double(bitPattern: slot.bits), field)
        case .float: batch.setFloatBits(UInt32(truncatingIfNeeded: slot.bits), field)
        case .decimal: batch.setDecimal(decimals[slot.number], field)
        case .reference:
            try batch.setReference(entity: field.destination ?? -1, key: Int64(bitPattern: slot.bits), field)
        case .objectID, .polymorphicReference:
            try batch.setReference(entity: slot.number, key: Int64(bitPattern: slot.bits), field)
        case .composite: batch.setComposite(field)
        case .uuid:
            try bytes.span.bytes.withUnsafeBytes { (all) throws(StoreError) in
                try batch.setUUID(UnsafeRawBufferPointer(rebasing: all[slot.bytes]), field)
            }
        case .string, .uri, .data, .transformable:
            try bytes.span.bytes.withUnsafeBytes { (all) throws(StoreError) in
                try batch.setBytes(UnsafeRawBufferPointer(rebasing: all[slot.bytes]), field)
            }
        }
    }
}
