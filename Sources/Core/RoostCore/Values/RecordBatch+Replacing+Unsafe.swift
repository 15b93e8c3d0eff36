extension RecordBatch {
    /// Appends a copy of a record, with new values for some fields.
    ///
    /// A new value can be null. The version is unchanged. The copy has the same bytes as a new
    /// record with the copy's values. The record must not be in this batch. `values` must contain
    /// at most one value for each field.
    ///
    /// - Throws: `invalidValue`, `limitExceeded`. After an error the batch is unchanged.
    package mutating func append(
        _ record: RecordReader, replacing values: [(field: RecordLayout.Field, value: Value)]
    ) throws(StoreError) {
        let layout = record.layout
        beginRecord(layout, key: record.key, version: record.version)
        do throws(StoreError) {
            copyFixedPart(of: record)
            for (field, _) in values { clear(field) }
            for (field, value) in values where !field.kind.isVariable { try set(value, for: field) }
            for index in layout.firstVariableField..<max(layout.firstVariableField, layout.fields.count) {
                let field = layout.fields[index]
                if let replacement = values.first(where: { $0.field.index == index }) {
                    try set(replacement.value, for: field)
                } else if !record.isNull(field) {
                    try setBytes(record.bytes(field), for: field)
                }
            }
        } catch {
            abandonRecord()
            throw error
        }
        endRecord()
    }

    private mutating func copyFixedPart(of record: RecordReader) {
        let (from, to) = (RecordLayout.Header.bitmap, record.layout.fixedByteCount)
        let base = buildOffset
        arena.withUnsafeMutableBytes { arena in
            // SAFETY: `beginRecord` has written a template of `to` bytes at `base`, and a record
            // has at least `to` bytes.
            UnsafeMutableRawBufferPointer(rebasing: arena[base + from..<base + to])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: record.bytes[from..<to]))
        }
    }

    /// Sets a field of the record being built to null.
    private mutating func clear(_ field: RecordLayout.Field) {
        let base = buildOffset
        arena.withUnsafeMutableBytes { arena in
            // SAFETY: the slot and the bit of a field of the layout are inside the template.
            arena[base + RecordLayout.Header.bitmap + field.index >> 3] |= 1 << UInt8(field.index & 7)
            for offset in 0..<field.kind.width { arena[base + field.byteOffset + offset] = 0 }
        }
    }
}
