/// A plan for copying fields from records of one layout to records of another layout.
///
/// For each record, call ``RecordBatch/beginRecord(_:key:version:startingWith:)``, then
/// ``RecordBatch/moveSlots(of:by:)``, then ``RecordBatch/moveTail(of:tail:by:)`` for each of the
/// ``tails``. Set all tail fields, moved or not, in the destination layout's order.
package struct RecordMoves: Sendable {
    /// A range of slots that are adjacent in both layouts; offsets and length in bytes.
    struct Slots: Sendable {
        var from: Int
        var to: Int
        var count: Int
    }

    /// The positions of a field's null bit in the two layouts.
    struct NullBit: Sendable {
        var fromByte: Int
        var toByte: Int
        var fromMask: UInt8
        var toMask: UInt8
    }

    /// A range of tail fields that are adjacent in both layouts; `from` and `to` are the offsets of
    /// its first slot.
    package struct Tail: Sendable {
        /// The index, in the destination layout, of the first field of the range.
        package let firstField: Int
        package fileprivate(set) var count: Int
        let from: Int
        let to: Int
        /// Whether the range starts with the first tail field of the source layout.
        let isFirst: Bool
    }

    let slots: [Slots]
    let nullBits: [NullBit]
    /// The number of bytes before the tail of a source record.
    let fixedByteCount: Int
    /// The tails, in the destination layout's order.
    package let tails: [Tail]
    /// Whether a whole record can be copied, with only the entity number and the checksum changed.
    package let isWhole: Bool

    /// Creates a plan for pairs of fields.
    ///
    /// The two fields of a pair must have the same kind. A destination field may occur in only one
    /// pair.
    package init(
        _ fields: [(from: RecordLayout.Field, to: RecordLayout.Field)], from: RecordLayout, to: RecordLayout
    ) {
        let fields = fields.sorted { $0.to.index < $1.to.index }
        assert(fields.allSatisfy { $0.from.kind == $0.to.kind }, "bytes mean the same only in fields of one kind")
        var slots: [Slots] = []
        var tails: [Tail] = []
        var previous: (from: RecordLayout.Field, to: RecordLayout.Field)?
        for pair in fields {
            let isNext =
                previous.map { $0.from.index + 1 == pair.from.index && $0.to.index + 1 == pair.to.index } ?? false
            if pair.to.kind.isVariable {
                if isNext, !tails.isEmpty {
                    tails[tails.count - 1].count += 1
                } else {
                    tails.append(
                        Tail(
                            firstField: pair.to.index, count: 1, from: pair.from.byteOffset, to: pair.to.byteOffset,
                            isFirst: pair.from.index == from.firstVariableField))
                }
            } else if isNext, !slots.isEmpty {
                slots[slots.count - 1].count += pair.to.kind.width
            } else {
                slots.append(Slots(from: pair.from.byteOffset, to: pair.to.byteOffset, count: pair.to.kind.width))
            }
            previous = pair
        }
        self.slots = slots.filter { $0.count > 0 }
        self.tails = tails
        nullBits = fields.map { pair in
            NullBit(
                fromByte: RecordLayout.Header.bitmap + pair.from.index >> 3,
                toByte: RecordLayout.Header.bitmap + pair.to.index >> 3,
                fromMask: 1 << UInt8(pair.from.index & 7), toMask: 1 << UInt8(pair.to.index & 7))
        }
        fixedByteCount = from.fixedByteCount
        isWhole =
            fields.count == to.fields.count && from.fields.count == to.fields.count
            && fields.allSatisfy { $0.from.index == $0.to.index }
    }
}
