internal import RoostSystem

/// A comparison of some fields in two records of one entity.
package struct RecordAgreement: Sendable {
    private let slots: [FieldSlot]

    package init(_ fields: [RecordLayout.Field], layout: RecordLayout) {
        let indexes = Set(fields.map(\.index)).sorted()
        slots = indexes.map { FieldSlot(layout.fields[$0], in: layout) }
    }

    /// Whether two records have the same bytes in all of the fields.
    package func holds(_ left: RecordReader, _ right: RecordReader) -> Bool {
        for slot in slots {
            let (a, b) = (slot.bytes(in: left), slot.bytes(in: right))
            guard slot.isNull(in: left) == slot.isNull(in: right), a.count == b.count else { return false }
            // SAFETY: both buffers have the same number of bytes.
            if let first = a.baseAddress, let second = b.baseAddress, memcmp(first, second, a.count) != 0 {
                return false
            }
        }
        return true
    }
}

extension RecordAgreement {
    /// Appends a bitmap of the fields that differ between two records.
    ///
    /// Bit *i* mod 8 of byte *i* / 8 belongs to field *i*. This comparison must include all fields
    /// of the layout.
    func appendDifferences(_ left: RecordReader, right: RecordReader, to bytes: inout HistoryBytes) {
        var (byte, bit) = (UInt8(0), 0)
        for slot in slots {
            let (a, b) = (slot.bytes(in: left), slot.bytes(in: right))
            var differs = slot.isNull(in: left) != slot.isNull(in: right) || a.count != b.count
            // SAFETY: both buffers have the same number of bytes.
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
