extension Record {
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in try body(bytes) }
    }
}

// MARK: Reading

extension RecordBatch {
    /// Runs `body` with a reader of the record at `index`.
    ///
    /// The reader is valid only inside `body`.
    @inlinable
    public func withRecord<Result, Failure: Error>(
        at index: Int, _ body: (RecordReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let entry = entries[index]
        return try arena.withUnsafeBytes { (arena) throws(Failure) in
            // SAFETY: only `endRecord` and `append` create entries, for bytes inside the arena.
            let bytes = UnsafeRawBufferPointer(rebasing: arena[entry.offset..<entry.offset + entry.count])
            return try body(RecordReader(unchecked: bytes, key: entry.key, model: model))
        }
    }

    /// Runs `body` once for each record, in order.
    @inlinable
    public func forEachRecord<Failure: Error>(_ body: (RecordReader) throws(Failure) -> Void) throws(Failure) {
        try arena.withUnsafeBytes { (arena) throws(Failure) in
            for index in 0..<entries.count {
                let entry = entries[index]
                let bytes = UnsafeRawBufferPointer(rebasing: arena[entry.offset..<entry.offset + entry.count])
                try body(RecordReader(unchecked: bytes, key: entry.key, model: model))
            }
        }
    }
}

// MARK: Appending whole records

extension RecordBatch {
    /// Verifies the structure and the checksum of a record from a file, and appends a copy.
    ///
    /// - Throws: `corrupted`, with a ``StoreError/damagedObject`` if the entity is known. After an
    ///   error, the batch is unchanged.
    public mutating func append(checking bytes: UnsafeRawBufferPointer, key: Int64) throws(StoreError) {
        let reader = try RecordReader(checking: bytes, key: key, model: model)
        try reader.verifyChecksum()
        append(reader)
    }

    /// Appends a copy of a record.
    ///
    /// The record must have a valid structure and the batch's model; neither is checked.
    public mutating func append(_ record: RecordReader) {
        let offset = arena.count
        arena.append(contentsOf: record.bytes)
        entries.append(
            Entry(
                offset: offset, count: record.bytes.count, key: record.key,
                entity: Int32(truncatingIfNeeded: record.entityNumber)))
    }

    /// Appends a copy of a record whose bytes, including the checksum, the caller has built.
    ///
    /// The structure must be valid for `entity`. Only debug builds check that.
    package mutating func append(built bytes: UnsafeRawBufferPointer, key: Int64, entity: Int) {
        assert((try? RecordReader(checking: bytes, key: key, model: model)) != nil, "invalid record structure")
        let offset = arena.count
        arena.append(contentsOf: bytes)
        entries.append(
            Entry(offset: offset, count: bytes.count, key: key, entity: Int32(truncatingIfNeeded: entity)))
    }

    package mutating func reserveCapacity(_ count: Int, byteCount: Int) {
        entries.reserveCapacity(entries.count + count)
        arena.reserveCapacity(arena.count + byteCount)
    }

    /// Appends a copy of a record, which must have the batch's model.
    public mutating func append(_ record: Record) {
        precondition(record.model.hasVersionHashes(of: model), "a record of another model")
        record.withReader { append($0) }
    }

    /// Appends a copy of the record at `index` of another batch, which must have the same model.
    public mutating func append(_ batch: RecordBatch, at index: Int) { batch.withRecord(at: index) { append($0) } }

    /// Appends copies of all records of another batch, which must have a compatible model.
    package mutating func append(contentsOf batch: RecordBatch) {
        let start = arena.count
        batch.arena.withUnsafeBytes { arena.append(contentsOf: $0) }
        for index in 0..<batch.entries.count {
            var entry = batch.entries[index]
            entry.offset += start
            entries.append(entry)
        }
    }

    package mutating func setVersionOfLast(_ version: UInt32) {
        guard let entry = entries.last else { return }
        arena.withUnsafeMutableBytes { arena in
            let base = entry.offset
            let old = UInt32(
                littleEndian: arena.loadUnaligned(fromByteOffset: base + RecordLayout.Header.version, as: UInt32.self))
            let sum = UInt64(
                littleEndian: arena.loadUnaligned(fromByteOffset: base + RecordLayout.Header.checksum, as: UInt64.self))
            let next = sum ^ RecordHash.versionMask(old) ^ RecordHash.versionMask(version)
            arena.storeBytes(
                of: version.littleEndian, toByteOffset: base + RecordLayout.Header.version, as: UInt32.self)
            arena.storeBytes(of: next.littleEndian, toByteOffset: base + RecordLayout.Header.checksum, as: UInt64.self)
        }
    }
}

// MARK: Building records field by field

extension RecordBatch {
    /// Starts a record in which every field is null.
    ///
    /// Set fields, then call ``endRecord()``. Tail fields must be set in the layout's order.
    public mutating func beginRecord(_ layout: RecordLayout, key: Int64, version: UInt32) {
        precondition(buildLayout == nil, "beginRecord without endRecord")
        buildLayout = layout
        buildOffset = arena.count
        buildKey = key
        buildVersion = version
        buildNextVariable = layout.firstVariableField
        buildFieldCount = layout.fields.count
        buildTailOffset = arena.count + layout.fixedByteCount
        arena.append(contentsOf: layout.template)
    }

    /// Starts a record as a copy of another record, including key and version.
    ///
    /// Set the fields to change, then call ``endRecord()``. Fields in the tail cannot be changed.
    ///
    /// - Parameter record: A record of the batch's model that is not in this batch.
    public mutating func beginRecord(copying record: RecordReader) {
        precondition(buildLayout == nil, "beginRecord without endRecord")
        let layout = record.layout
        buildLayout = layout
        buildOffset = arena.count
        buildKey = record.key
        buildVersion = record.version
        buildFieldCount = layout.fields.count
        // No tail field can be set.
        buildNextVariable = buildFieldCount
        buildTailOffset = arena.count + layout.fixedByteCount
        arena.append(contentsOf: record.bytes)
    }

    /// Completes the record being built, and adds it to the batch.
    public mutating func endRecord() {
        guard let layout = buildLayout else { preconditionFailure("endRecord without beginRecord") }
        fillEnds(upTo: buildFieldCount)
        let (offset, count) = (buildOffset, arena.count - buildOffset)
        let (key, version) = (buildKey, buildVersion)
        arena.withUnsafeMutableBytes { arena in
            arena.storeBytes(
                of: version.littleEndian, toByteOffset: offset + RecordLayout.Header.version, as: UInt32.self)
            let hash = RecordHash.content(
                of: UnsafeRawBufferPointer(rebasing: arena[offset..<offset + count]), key: key)
            arena.storeBytes(
                of: (hash ^ RecordHash.versionMask(version)).littleEndian,
                toByteOffset: offset + RecordLayout.Header.checksum, as: UInt64.self)
        }
        entries.append(
            Entry(offset: offset, count: count, key: key, entity: Int32(truncatingIfNeeded: layout.entityNumber)))
        buildLayout = nil
    }

    /// Discards the record being built.
    public mutating func abandonRecord() {
        guard buildLayout != nil else { return }
        arena.removeLast(arena.count - buildOffset)
        buildLayout = nil
    }

    /// Sets an `integer64`, `order` or `reference` field.
    @inlinable
    public mutating func setInteger64(_ value: Int64, for field: RecordLayout.Field) {
        store(value.littleEndian, field: field)
    }

    /// Sets an integer field of any width, or a `boolean`, `order` or `reference` field.
    ///
    /// - Throws: `invalidValue` if the value does not fit, or the field has another kind.
    public mutating func setInteger(_ value: Int64, for field: RecordLayout.Field) throws(StoreError) {
        switch field.kind {
        case .integer64, .order, .reference: store(value.littleEndian, field: field)
        case .integer32:
            guard let narrow = Int32(exactly: value) else { throw outOfRange(field) }
            store(narrow.littleEndian, field: field)
        case .integer16:
            guard let narrow = Int16(exactly: value) else { throw outOfRange(field) }
            store(narrow.littleEndian, field: field)
        case .boolean:
            guard value == 0 || value == 1 else { throw outOfRange(field) }
            store(UInt8(truncatingIfNeeded: value), field: field)
        default: throw wrongType(field, what: "an integer")
        }
    }

    /// Sets a double or date field exactly, or a float field rounded to the nearest float.
    ///
    /// - Throws: `invalidValue` if a finite number is too large for a float, or the field has
    ///   another kind.
    public mutating func setDouble(_ value: Double, for field: RecordLayout.Field) throws(StoreError) {
        switch field.kind {
        case .double, .date: store(value.bitPattern.littleEndian, field: field)
        case .float:
            let narrow = Float(value)
            guard narrow.isFinite || !value.isFinite else { throw outOfRange(field) }
            store(narrow.bitPattern.littleEndian, field: field)
        default: throw wrongType(field, what: "a floating-point number")
        }
    }

    /// Sets the bits of a float field.
    public mutating func setFloatBits(_ bits: UInt32, for field: RecordLayout.Field) {
        store(bits.littleEndian, field: field)
    }

    package mutating func setDecimal(_ value: DecimalNumber, for field: RecordLayout.Field) {
        clearNull(field)
        let base = buildOffset + field.byteOffset
        arena.withUnsafeMutableBytes { arena in
            let (low, high) = (
                UInt64(truncatingIfNeeded: value.mantissa), UInt64(truncatingIfNeeded: value.mantissa >> 64)
            )
            arena.storeBytes(of: low.littleEndian, toByteOffset: base, as: UInt64.self)
            arena.storeBytes(of: high.littleEndian, toByteOffset: base + 8, as: UInt64.self)
            arena.storeBytes(of: value.exponent.littleEndian, toByteOffset: base + 16, as: Int16.self)
            arena[base + 18] = value.isNaN ? 2 : (value.isNegative ? 1 : 0)
        }
    }

    /// Sets a UUID field to 16 bytes; throws `invalidValue` for another byte count or field kind.
    public mutating func setUUID(_ bytes: UnsafeRawBufferPointer, for field: RecordLayout.Field) throws(StoreError) {
        guard bytes.count == 16, field.kind == .uuid else { throw wrongType(field, what: "a UUID") }
        clearNull(field)
        let base = buildOffset + field.byteOffset
        arena.withUnsafeMutableBytes { arena in
            UnsafeMutableRawBufferPointer(rebasing: arena[base..<base + 16]).copyMemory(from: bytes)
        }
    }

    /// Sets a reference or object-ID field to the object with this entity number and key.
    ///
    /// - Throws: `invalidValue` for a key below 1, or a field that cannot hold the object.
    public mutating func setReference(entity: Int, key: Int64, for field: RecordLayout.Field) throws(StoreError) {
        // Most references are to the destination entity itself, and need no look-up.
        guard key > 0,
            field.destination == entity
                || entity >= 0 && entity < model.entities.count
                    && (field.destination.map { model.entities[$0].includes(entity) } ?? true)
        else { throw wrongType(field, what: "this object's ID") }
        switch field.kind {
        case .reference: store(key.littleEndian, field: field)
        case .polymorphicReference, .objectID:
            store(key.littleEndian, field: field)
            let base = buildOffset + field.byteOffset + 8
            arena.withUnsafeMutableBytes {
                $0.storeBytes(of: UInt32(entity).littleEndian, toByteOffset: base, as: UInt32.self)
            }
        default: throw wrongType(field, what: "an object ID")
        }
    }

    /// Marks a composite as not null.
    package mutating func setComposite(_ field: RecordLayout.Field) { clearNull(field) }

    /// Sets a field in the tail.
    ///
    /// Text must be valid UTF-8, which this method does not check.
    ///
    /// - Throws: `limitExceeded` for a record over 1 GiB; `invalidValue` for a field that is not in
    ///   the tail.
    public mutating func setBytes(_ bytes: UnsafeRawBufferPointer, for field: RecordLayout.Field) throws(StoreError) {
        guard buildLayout != nil, field.kind.isVariable else { throw wrongType(field, what: "bytes") }
        precondition(field.index >= buildNextVariable, "tail fields must be set in the layout's order")
        guard arena.count - buildOffset + bytes.count <= RecordLayout.maximumByteCount else { throw tooLarge }
        fillEnds(upTo: field.index)
        arena.append(contentsOf: bytes)
        store(UInt32(truncatingIfNeeded: arena.count - buildTailOffset).littleEndian, field: field)
        buildNextVariable = field.index + 1
    }

    /// Stores the tail's current end in the slots of the unset tail fields before index `limit`.
    mutating func fillEnds(upTo limit: Int) {
        guard buildNextVariable < limit else { return }
        let end = UInt32(truncatingIfNeeded: arena.count - buildTailOffset).littleEndian
        // The slots of the tail fields, four bytes each, directly precede the tail.
        let (first, last) = (buildNextVariable - buildFieldCount, limit - buildFieldCount)
        let tail = buildTailOffset
        arena.withUnsafeMutableBytes { arena in
            for position in first..<last {
                // SAFETY: the bytes are between the start of the record and its tail, inside the
                // template.
                arena.storeBytes(of: end, toByteOffset: tail + 4 * position, as: UInt32.self)
            }
        }
        buildNextVariable = limit
    }

    @inlinable
    mutating func store<T: BitwiseCopyable>(_ value: T, field: RecordLayout.Field) {
        let (offset, bit) = (buildOffset + field.byteOffset, field.index)
        let bitmap = buildOffset + RecordLayout.Header.bitmap + bit >> 3
        // SAFETY: the slot and the bit of a field of the layout are inside the template. One access
        // writes both, because each access checks whether the array is shared.
        arena.withUnsafeMutableBytes { arena in
            arena[bitmap] &= ~(1 << UInt8(bit & 7))
            arena.storeBytes(of: value, toByteOffset: offset, as: T.self)
        }
    }

    @inlinable
    mutating func clearNull(_ field: RecordLayout.Field) {
        let bitmap = buildOffset + RecordLayout.Header.bitmap + field.index >> 3
        // SAFETY: the bit of a field of the layout is inside the template.
        arena.withUnsafeMutableBytes { $0[bitmap] &= ~(1 << UInt8(field.index & 7)) }
    }

    @inline(never)
    func outOfRange(_ field: RecordLayout.Field) -> StoreError {
        StoreError(
            .invalidValue,
            "The value of '\(field.name)' of \(buildName) is outside the range of type \(field.kind).")
    }

    @inline(never)
    func wrongType(_ field: RecordLayout.Field, what: String) -> StoreError {
        StoreError(
            .invalidValue, "Property '\(field.name)' of \(buildName) has type \(field.kind) and cannot hold \(what).")
    }

    var tooLarge: StoreError {
        StoreError(
            .limitExceeded, "The record of \(buildName) would be larger than \(RecordLayout.maximumByteCount) bytes.")
    }

    private var buildName: String { "\(buildLayout?.entity.text ?? "object")/p\(buildKey)" }
}

extension RecordBatch {
    /// Runs `body` with a function that returns a reader of the record at an index.
    ///
    /// The function and its readers must not escape `body`.
    @inlinable
    package func withReaders<Result>(
        _ body: ((Int) -> RecordReader) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try arena.withUnsafeBytes { (arena) throws(StoreError) in
            try body { index in
                let entry = entries[index]
                return RecordReader(
                    unchecked: UnsafeRawBufferPointer(rebasing: arena[entry.offset..<entry.offset + entry.count]),
                    key: entry.key, model: model)
            }
        }
    }
}
