internal import RoostCore
internal import RoostJSONText

extension RecordTextReader {
    /// Reads a field's value into the draft; the reader is at the value's first token.
    func readValue(
        of field: borrowing RecordLayout.Field, header: Header, from reader: inout JSONTokenReader
    ) throws(StoreError) {
        let isRead: Bool
        switch field.kind {
        case .integer64, .order: isRead = note(reader.integer, field: field)
        case .integer32: isRead = note(reader.integer.flatMap(Int32.init(exactly:)), field: field)
        case .integer16: isRead = note(reader.integer.flatMap(Int16.init(exactly:)), field: field)
        case .reference: isRead = note(reader.integer.flatMap { $0 > 0 ? $0 : nil }, field: field)
        case .boolean:
            let token = reader.token
            isRead = note(token == .true ? UInt8(1) : token == .false ? 0 : nil, field: field)
        case .double, .date: isRead = note(reader.double?.bitPattern, field: field)
        case .float: isRead = note(reader.float?.bitPattern, field: field)
        case .decimal:
            let value = reader.decimal
            if let value { draft.set(value, field: field) }
            isRead = value != nil
        case .objectID, .polymorphicReference:
            isRead = reader.token == .string && reader.withText { readReference(field, text: $0) }
        case .uuid:
            isRead = draft.setUUID(field) { reader.decodeUUID(into: $0) }
        case .data, .transformable:
            let count = reader.withText { $0.count } / 4 * 3
            isRead = draft.setBytes(field, atMost: count) { reader.decodeBase64(into: $0) }
        case .string, .uri:
            isRead =
                reader.token == .string
                && reader.withText { text in
                    draft.setBytes(field, atMost: text.count) { room in
                        room.copyMemory(from: text)
                        return text.count
                    }
                }
        case .composite: isRead = false
        }
        guard isRead else { throw wrongValue(reader, field: field, header: header) }
    }

    @inline(__always)
    private func note<T: FixedWidthInteger & BitwiseCopyable>(
        _ number: T?, field: borrowing RecordLayout.Field
    ) -> Bool {
        guard let number else { return false }
        draft.set(number, field: field)
        return true
    }

    /// Reads `Entity/key`; returns false for other text and for an entity that the field cannot
    /// refer to.
    func readReference(_ field: borrowing RecordLayout.Field, text: UnsafeRawBufferPointer) -> Bool {
        guard let slash = text.lastIndex(of: UInt8(ascii: "/")),
            let entity = entityNames.index(of: UnsafeRawBufferPointer(rebasing: text[..<slash])),
            let key = JSONNumbers.integer(UnsafeRawBufferPointer(rebasing: text[(slash + 1)...])), key > 0,
            text[slash + 1] != UInt8(ascii: "0")
        else { return false }
        if let destination = field.destination, !model.entities[destination].includes(entity) { return false }
        draft.set(key: key, entity: entity, field: field)
        return true
    }
}
