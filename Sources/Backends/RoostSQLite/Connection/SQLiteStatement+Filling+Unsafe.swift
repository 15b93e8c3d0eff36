internal import CSQLite
package import RoostCore
package import RoostSQL

// This file converts rows to records, in memory that is reused for each row.

extension SQLiteStatement {
    /// Adds the records of the next rows to a batch until the batch is full.
    package func fill(
        _ batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
    ) throws(StoreError) -> SQLFill {
        let handle = try open()
        guard !batch.isFull else { return .full }
        guard try step() else { return .end }
        while true {
            // Successive rows usually have the same entity, so the entity's data is looked up once
            // for all of them.
            guard let entity = entity(handle, plan: plan) else { return .damaged(foreign(handle, plan: plan)) }
            let end = entity.steps.withUnsafeBufferPointer { steps in
                fill(&batch, handle: handle, steps: steps, entity: entity, plan: plan, accepting: accepting)
            }
            if case .otherEntity = end { continue }
            try connection?.verifyUnchanged()
            switch end {
            case .full: return .full
            case .end: return .end
            case .otherEntity: continue
            case .failed(let code): throw failure(code)
            case .damaged(let field, let reason):
                return .damaged(damaged(handle, plan: plan, entity: entity, field: field, reason: reason))
            case .changed: return .damaged(plan.changed(key: sqlite3_column_int64(handle, 0), entity: entity.number))
            }
        }
    }

    /// Adds the record with the key `key`, if it exists, and resets the statement.
    ///
    /// Returns an error if the row is damaged.
    package func look(
        up key: Int64, into batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
    ) throws(StoreError) -> StoreError? {
        let handle = try open()
        try check(sqlite3_bind_int64(handle, 1, key))
        defer { reset() }
        guard try step() else { return nil }
        guard let entity = entity(handle, plan: plan) else { return foreign(handle, plan: plan) }
        let fixed = entity.template.count
        reserve(fixed)
        let end = entity.steps.withUnsafeBufferPointer { steps in
            appendRow(
                to: &batch, handle: handle, steps: steps, entity: entity, fixed: fixed, plan: plan, accepting: accepting
            )
        }
        try connection?.verifyUnchanged()
        switch end {
        case .changed: return plan.changed(key: key, entity: entity.number)
        case .failed(let code): throw failure(code)
        case .damaged(let field, let reason):
            return damaged(handle, plan: plan, entity: entity, field: field, reason: reason)
        default: return nil
        }
    }

    /// Returns the plan for the current row's entity, or nil for an entity of another table.
    private func entity(_ handle: OpaquePointer, plan: SQLReadPlan) -> SQLReadPlan.Entity? {
        let value = sqlite3_column_value(handle, 1)
        let number = sqlite3_value_int64(value)
        guard sqlite3_value_type(value) == SQLITE_INTEGER, number >= 0, number < plan.entities.count else { return nil }
        return plan.entities[Int(number)]
    }

    @inline(never)
    private func foreign(_ handle: OpaquePointer, plan: SQLReadPlan) -> StoreError {
        plan.damaged(
            key: sqlite3_column_int64(handle, 0), entity: nil, reason: "its entity does not belong to the table")
    }

    @inline(never)
    private func damaged(
        _ handle: OpaquePointer, plan: SQLReadPlan, entity: SQLReadPlan.Entity, field: Int32?,
        reason: StaticString
    ) -> StoreError {
        plan.damaged(key: sqlite3_column_int64(handle, 0), entity: entity.number, field: field, reason: "\(reason)")
    }

    /// The reason why reading rows of one entity ended.
    private enum RunEnd {
        case full
        case end
        case otherEntity
        case failed(Int32)
        case damaged(Int32?, StaticString)
        /// The current row's values do not match its checksum.
        case changed
    }

    private func fill(
        _ batch: inout RecordBatch, handle: OpaquePointer, steps: UnsafeBufferPointer<SQLStep>,
        entity: SQLReadPlan.Entity, plan: SQLReadPlan, accepting: Bool
    ) -> RunEnd {
        let number = Int64(entity.number)
        let fixed = entity.template.count
        reserve(fixed)
        let clock = connection?.clock
        while true {
            let end = appendRow(
                to: &batch, handle: handle, steps: steps, entity: entity, fixed: fixed, plan: plan, accepting: accepting
            )
            if let end { return end }
            if batch.isFull { return .full }
            clock?.pointee.reset()
            let code = sqlite3_step(handle)
            guard code == SQLITE_ROW else { return code == SQLITE_DONE ? .end : .failed(code) }
            if sqlite3_value_int64(sqlite3_column_value(handle, 1)) != number { return .otherEntity }
        }
    }

    private func reserve(_ count: Int) {
        guard scratchByteCount < count else { return }
        let byteCount = max(count, scratchByteCount * 2)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        larger.copyMemory(from: scratch, byteCount: scratchByteCount)
        scratch.deallocate()
        scratchByteCount = byteCount
        scratch = larger
    }

    /// Adds the current row to the batch, and returns nil on success.
    ///
    /// Only one thread at a time uses a connection, so reading unprotected values is safe
    /// (<https://www.sqlite.org/c3ref/value.html>).
    ///
    /// The function is long because it is the hot loop of scans: a call for each column would cost
    /// more than reading the column.
    private func appendRow(
        to batch: inout RecordBatch, handle: OpaquePointer, steps: UnsafeBufferPointer<SQLStep>,
        entity: SQLReadPlan.Entity, fixed: Int, plan: SQLReadPlan, accepting: Bool
    ) -> RunEnd? {
        let (keyValue, versionValue) = (sqlite3_column_value(handle, 0), sqlite3_column_value(handle, 2))
        guard sqlite3_value_type(keyValue) == SQLITE_INTEGER, sqlite3_value_type(versionValue) == SQLITE_INTEGER,
            let version = UInt32(exactly: sqlite3_value_int64(versionValue))
        else { return .damaged(nil, "its key or version is invalid") }
        let key = sqlite3_value_int64(keyValue)
        guard key > 0 else { return .damaged(nil, "its key is not positive") }
        // SAFETY: `scratch` has at least `fixed` bytes, and every slot of the layout lies within
        // the first `fixed` bytes.
        var base = scratch
        entity.template.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: base, count: fixed).copyMemory(from: $0)
        }
        var length = fixed
        // Steps are read in place, because the compiler would save a local copy of a step to memory
        // for every call below.
        for index in steps.indices {
            let value = sqlite3_column_value(handle, steps[index].column)
            let type = sqlite3_value_type(value)
            let offset = Int(steps[index].byteOffset)
            if type == SQLITE_NULL {
                let nullByte = Int(steps[index].nullByte)
                let byte = base.load(fromByteOffset: nullByte, as: UInt8.self)
                base.storeBytes(of: byte | steps[index].nullMask, toByteOffset: nullByte, as: UInt8.self)
                if steps[index].kind.isVariable {
                    base.storeBytes(of: UInt32(length - fixed).littleEndian, toByteOffset: offset, as: UInt32.self)
                }
                continue
            }
            switch steps[index].kind {
            case .integer64, .order:
                guard type == SQLITE_INTEGER else { return .damaged(steps[index].fieldIndex, "is not an integer") }
                base.storeBytes(of: sqlite3_value_int64(value).littleEndian, toByteOffset: offset, as: Int64.self)
            case .string, .uri, .data, .transformable:
                let isText = steps[index].kind == .string || steps[index].kind == .uri
                guard type == (isText ? SQLITE_TEXT : SQLITE_BLOB) else {
                    return .damaged(steps[index].fieldIndex, isText ? "is not text" : "is not a blob")
                }
                // Texts are read as blobs too, because sqlite3_value_text would copy the value to
                // add a terminating zero.
                let start = sqlite3_value_blob(value)
                let count = Int(sqlite3_value_bytes(value))
                guard start != nil || count == 0 else { return .failed(SQLITE_NOMEM) }
                guard length + count <= RecordLayout.maximumByteCount else {
                    return .damaged(steps[index].fieldIndex, "is too large")
                }
                if count > 0, let start {
                    if isText, !UnsafeRawBufferPointer(start: start, count: count).isValidUTF8 {
                        return .damaged(steps[index].fieldIndex, "is not valid UTF-8")
                    }
                    if length + count > scratchByteCount {
                        reserve(length + count)
                        base = scratch
                    }
                    (base + length).copyMemory(from: start, byteCount: count)
                    length += count
                }
                base.storeBytes(of: UInt32(length - fixed).littleEndian, toByteOffset: offset, as: UInt32.self)
            case .double, .date:
                guard let bits = doubleBits(value, type: type) else {
                    return .damaged(steps[index].fieldIndex, "is not a number")
                }
                base.storeBytes(of: bits.littleEndian, toByteOffset: offset, as: UInt64.self)
            case .boolean:
                let number = sqlite3_value_int64(value)
                guard type == SQLITE_INTEGER, number == 0 || number == 1 else {
                    return .damaged(steps[index].fieldIndex, "is neither 0 nor 1")
                }
                base.storeBytes(of: UInt8(truncatingIfNeeded: number), toByteOffset: offset, as: UInt8.self)
            case .uuid:
                guard type == SQLITE_BLOB, let start = sqlite3_value_blob(value), sqlite3_value_bytes(value) == 16
                else {
                    return .damaged(steps[index].fieldIndex, "is not a blob of 16 bytes")
                }
                (base + offset).copyMemory(from: start, byteCount: 16)
            case .reference:
                let key = sqlite3_value_int64(value)
                guard type == SQLITE_INTEGER, key > 0 else { return .damaged(steps[index].fieldIndex, "is not a key") }
                base.storeBytes(of: key.littleEndian, toByteOffset: offset, as: Int64.self)
            default:
                if let reason = decode(
                    handle, steps: steps, index: index, value: value, type: type, to: base, plan: plan)
                {
                    return .damaged(steps[index].fieldIndex, reason)
                }
            }
        }
        let bytes = UnsafeRawBufferPointer(start: base, count: length)
        base.storeBytes(of: version.littleEndian, toByteOffset: RecordLayout.Header.version, as: UInt32.self)
        let hash = RecordHash.content(of: bytes, key: key)
        if !accepting {
            let stored = sqlite3_column_value(handle, 3)
            guard sqlite3_value_type(stored) == SQLITE_INTEGER,
                UInt64(bitPattern: sqlite3_value_int64(stored))
                    == plan.checksum.checksum(contentHash: hash, version: version)
            else { return .changed }
        }
        let checksum = hash ^ RecordHash.versionMask(version)
        base.storeBytes(of: checksum.littleEndian, toByteOffset: RecordLayout.Header.checksum, as: UInt64.self)
        // The template and the loop have set every slot, and the end of every variable value, as the
        // layout requires.
        batch.append(built: bytes, key: key, entity: entity.number)
        return nil
    }

    /// Returns the bits of a number or of the text of a NaN; nil for any other value.
    ///
    /// Another tool may have written an integer.
    private func doubleBits(_ value: OpaquePointer?, type: Int32) -> UInt64? {
        switch type {
        case SQLITE_FLOAT: sqlite3_value_double(value).bitPattern
        case SQLITE_INTEGER: Double(sqlite3_value_int64(value)).bitPattern
        case SQLITE_TEXT: SQLFloatingText.bits64(bytes(value))
        default: nil
        }
    }

    private func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    /// Decodes a value of a less frequent kind, and returns a description of its damage or nil.
    @inline(never)
    private func decode(
        _ handle: OpaquePointer, steps: UnsafeBufferPointer<SQLStep>, index: Int, value: OpaquePointer?,
        type: Int32, to base: UnsafeMutableRawPointer, plan: SQLReadPlan
    ) -> StaticString? {
        let step = steps[index]
        let offset = Int(step.byteOffset)
        switch step.kind {
        case .integer32:
            guard type == SQLITE_INTEGER, let number = Int32(exactly: sqlite3_value_int64(value)) else {
                return "is not an integer of 32 bits"
            }
            base.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Int32.self)
        case .integer16:
            guard type == SQLITE_INTEGER, let number = Int16(exactly: sqlite3_value_int64(value)) else {
                return "is not an integer of 16 bits"
            }
            base.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Int16.self)
        case .float:
            guard let bits = floatBits(value, type: type) else { return "is not a number of 32 bits" }
            base.storeBytes(of: bits.littleEndian, toByteOffset: offset, as: UInt32.self)
        case .decimal:
            guard let number = decimal(value, type: type) else { return "is not a decimal number" }
            base.storeBytes(
                of: UInt64(truncatingIfNeeded: number.mantissa).littleEndian, toByteOffset: offset, as: UInt64.self)
            base.storeBytes(
                of: UInt64(truncatingIfNeeded: number.mantissa >> 64).littleEndian, toByteOffset: offset + 8,
                as: UInt64.self)
            base.storeBytes(of: number.exponent.littleEndian, toByteOffset: offset + 16, as: Int16.self)
            base.storeBytes(
                of: number.isNaN ? 2 : (number.isNegative ? 1 : 0), toByteOffset: offset + 18, as: UInt8.self)
        case .polymorphicReference, .objectID:
            let key = sqlite3_value_int64(value)
            let entity = sqlite3_column_value(handle, step.entityColumn)
            let number = sqlite3_value_int64(entity)
            guard type == SQLITE_INTEGER, key > 0, sqlite3_value_type(entity) == SQLITE_INTEGER,
                plan.allows(number, at: step)
            else { return "is not a key with a valid entity number" }
            base.storeBytes(of: key.littleEndian, toByteOffset: offset, as: Int64.self)
            base.storeBytes(
                of: UInt32(truncatingIfNeeded: number).littleEndian, toByteOffset: offset + 8, as: UInt32.self)
        default: break
        }
        return nil
    }

    private func floatBits(_ value: OpaquePointer?, type: Int32) -> UInt32? {
        if type == SQLITE_TEXT { return SQLFloatingText.bits32(bytes(value)) }
        guard let bits = doubleBits(value, type: type) else { return nil }
        let (wide, narrow) = (Double(bitPattern: bits), Float(Double(bitPattern: bits)))
        return narrow.isFinite || !wide.isFinite ? narrow.bitPattern : nil
    }

    private func decimal(_ value: OpaquePointer?, type: Int32) -> DecimalNumber? {
        switch type {
        case SQLITE_TEXT: return DecimalNumber(utf8: bytes(value))
        case SQLITE_INTEGER:
            let number = sqlite3_value_int64(value)
            return DecimalNumber(isNegative: number < 0, mantissa: UInt128(number.magnitude), exponent: 0)
        default: return nil
        }
    }

    /// Adds links until the batch is full; returns false if the rows end first.
    package func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        let handle = try open()
        while !batch.isFull {
            guard try step() else { return false }
            guard let source = integer(handle, column: 0), let target = integer(handle, column: 1),
                let order = integer(handle, column: 2),
                let inverseOrder = integer(handle, column: 3)
            else { throw StoreError(.corrupted, "'\(path)' is damaged: a link's key or place is not an integer.") }
            batch.links.append(Link(source, target, order: order, inverseOrder: inverseOrder))
        }
        return true
    }

    private func integer(_ handle: OpaquePointer, column: Int32) -> Int64? {
        let value = sqlite3_column_value(handle, column)
        return sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : nil
    }
}
