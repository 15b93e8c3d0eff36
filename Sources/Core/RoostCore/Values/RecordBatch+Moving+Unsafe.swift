extension RecordBatch {
    /// Starts a record as a copy of a ``prototype(_:of:model:)`` of `layout`, with an empty tail.
    package mutating func beginRecord(
        _ layout: RecordLayout, key: Int64, version: UInt32, startingWith prototype: [UInt8]
    ) {
        precondition(prototype.count == layout.fixedByteCount, "the prototype is of another layout")
        beginRecord(layout, key: key, version: version)
        let base = buildOffset
        arena.withUnsafeMutableBytes { arena in
            prototype.withUnsafeBytes { prototype in
                // SAFETY: `beginRecord` has written a template of the same size at `base`.
                UnsafeMutableRawBufferPointer(rebasing: arena[base..<base + prototype.count])
                    .copyMemory(from: prototype)
            }
        }
    }

    /// Returns the header, the bitmap and the slots of a record with these values.
    ///
    /// Tail fields are null; their values are ignored.
    ///
    /// - Throws: `invalidValue`.
    package static func prototype(
        _ values: [(field: RecordLayout.Field, value: Value)], of layout: RecordLayout, model: ManagedObjectModel
    ) throws(StoreError) -> [UInt8] {
        var batch = RecordBatch(model: model)
        batch.beginRecord(layout, key: 1, version: 0)
        for (field, value) in values where !field.kind.isVariable { try batch.set(value, for: field) }
        return batch.arena.bytes
    }

    /// Copies slots and null bits from another record to the record being built.
    ///
    /// A field that is null in the other record becomes null.
    package mutating func moveSlots(of record: RecordReader, by moves: RecordMoves) {
        let base = buildOffset
        let bytes = record.bytes
        precondition(bytes.count >= moves.fixedByteCount, "the record is of another layout than the moves")
        arena.withUnsafeMutableBytes { arena in
            // SAFETY: the offsets of the moves are in the fixed parts of both layouts. The size of
            // the source's fixed part is checked above. `beginRecord` has written the fixed part of
            // the record being built.
            for slots in moves.slots {
                UnsafeMutableRawBufferPointer(rebasing: arena[base + slots.to..<base + slots.to + slots.count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[slots.from..<slots.from + slots.count]))
            }
            for bit in moves.nullBits {
                let isNull = bytes[bit.fromByte] & bit.fromMask != 0
                let rest = arena[base + bit.toByte] & ~bit.toMask
                arena[base + bit.toByte] = isNull ? rest | bit.toMask : rest
            }
        }
    }

    /// Copies the tail bytes of fields from another record to the record being built.
    ///
    /// ``moveSlots(of:by:)`` copies the null bits. Tail fields must be set in the layout's order.
    ///
    /// - Throws: `limitExceeded`.
    package mutating func moveTail(of record: RecordReader, tail: RecordMoves.Tail, by moves: RecordMoves)
        throws(StoreError)
    {
        precondition(tail.firstField >= buildNextVariable, "tail fields must be set in the layout's order")
        fillEnds(upTo: tail.firstField)
        let bytes = record.bytes
        // SAFETY: the record has the source layout of the moves, and its structure was checked: the
        // ends ascend and do not exceed the record's end. The bytes that are written are in the
        // fixed part that `beginRecord` has filled.
        let start = tail.isFirst ? 0 : Int(RecordReader.load(bytes, offset: tail.from - 4, as: UInt32.self))
        let end = Int(RecordReader.load(bytes, offset: tail.from + 4 * (tail.count - 1), as: UInt32.self))
        guard arena.count - buildOffset + end - start <= RecordLayout.maximumByteCount else { throw tooLarge }
        let shift = arena.count - buildTailOffset - start
        let fixed = moves.fixedByteCount
        arena.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[fixed + start..<fixed + end]))
        let base = buildOffset + tail.to
        arena.withUnsafeMutableBytes { arena in
            for position in 0..<tail.count {
                let end = Int(RecordReader.load(bytes, offset: tail.from + 4 * position, as: UInt32.self))
                arena.storeBytes(
                    of: UInt32(truncatingIfNeeded: end + shift).littleEndian, toByteOffset: base + 4 * position,
                    as: UInt32.self)
            }
        }
        buildNextVariable = tail.firstField + tail.count
    }

    /// Whether a field of the record being built is still null.
    package func isBuildingNull(_ field: RecordLayout.Field) -> Bool {
        arena[buildOffset + RecordLayout.Header.bitmap + field.index >> 3] & (1 << UInt8(field.index & 7)) != 0
    }

    /// Appends a copy of a record, with the entity of `layout`.
    ///
    /// The layouts must have the same fields; see ``RecordMoves/isWhole``.
    package mutating func append(_ record: RecordReader, as layout: RecordLayout) {
        let bytes = record.bytes
        let offset = arena.count
        arena.append(contentsOf: bytes)
        entries.append(
            Entry(
                offset: offset, count: bytes.count, key: record.key,
                entity: Int32(truncatingIfNeeded: layout.entityNumber)))
        guard record.entityNumber != layout.entityNumber else { return }
        let number = UInt16(truncatingIfNeeded: layout.entityNumber).littleEndian
        arena.withUnsafeMutableBytes { arena in
            // SAFETY: a record is at least as long as its header.
            arena.storeBytes(of: number, toByteOffset: offset + RecordLayout.Header.entity, as: UInt16.self)
            let hash = RecordHash.content(of: UnsafeRawBufferPointer(rebasing: arena[offset...]), key: record.key)
            arena.storeBytes(
                of: (hash ^ RecordHash.versionMask(record.version)).littleEndian,
                toByteOffset: offset + RecordLayout.Header.checksum, as: UInt64.self)
        }
    }
}
