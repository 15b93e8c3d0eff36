internal import RoostSystem

/// Fields of one entity in which two of its records are compared.
package struct RecordAgreement: Sendable {
    private let slots: [FieldSlot]

    /// Compares these fields of a layout, each once.
    package init(_ fields: [RecordLayout.Field], layout: RecordLayout) {
        let indexes = Set(fields.map(\.index)).sorted()
        slots = indexes.map { FieldSlot(layout.fields[$0], in: layout) }
    }

    /// Whether both records, which are of the layout's entity, hold the same bytes in all the
    /// fields.
    package func holds(_ left: RecordReader, _ right: RecordReader) -> Bool {
        for slot in slots {
            let (a, b) = (slot.bytes(in: left), slot.bytes(in: right))
            guard slot.isNull(in: left) == slot.isNull(in: right), a.count == b.count else { return false }
            // SAFETY: both have as many bytes.
            if let first = a.baseAddress, let second = b.baseAddress, memcmp(first, second, a.count) != 0 {
                return false
            }
        }
        return true
    }
}

extension RecordAgreement {
    /// Appends one bit for each field of a record's entity: whether two records differ in it.
    ///
    /// Bit *i* of byte *i* / 8 stands for field *i*. All fields of the layout must be compared.
    func appendDifferences(_ left: RecordReader, right: RecordReader, to bytes: inout HistoryBytes) {
        var (byte, bit) = (UInt8(0), 0)
        for slot in slots {
            let (a, b) = (slot.bytes(in: left), slot.bytes(in: right))
            var differs = slot.isNull(in: left) != slot.isNull(in: right) || a.count != b.count
            // SAFETY: both have as many bytes.
            if !differs, let first = a.baseAddress, let second = b.baseAddress {
                differs = memcmp(first, second, a.count) != 0
            }
            if differs { byte |= 1 << UInt8(bit) }
            bit += 1
            if bit == 8 {
                bytes.append(byte)
                (byte, bit) = (0, 0)
            }
        }
        if bit > 0 { bytes.append(byte) }
    }
}
