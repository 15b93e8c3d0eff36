internal import CSQLite
public import RoostCore
public import RoostSQL

// Rows become records here, straight from SQLite's columns, in memory that is reused from row to row.

extension SQLiteStatement {
    /// Adds the records of the next rows to a batch until it is full.
    public func fill(_ batch: inout RecordBatch, plan: SQLReadPlan) throws(StoreError) -> SQLFill {
        let handle = try open()
        guard !batch.isFull else { return .full }
        guard try step() else { return .end }
        while true {
            // Rows of one entity mostly follow each other: what depends on the entity is looked up once for all of them.
            let number = sqlite3_column_int64(handle, 1)
            guard sqlite3_column_type(handle, 1) == SQLITE_INTEGER, number >= 0, number < plan.entities.count,
                let entity = plan.entities[Int(number)]
            else {
                return .damaged(
                    plan.damaged(
                        key: sqlite3_column_int64(handle, 0), entity: nil, "its entity is not one of the table's"))
            }
            let end = entity.steps.span.withUnsafeBufferPointer { steps in
                fill(&batch, handle, number, steps, entity, plan)
            }
            switch end {
            case .full: return .full
            case .end: return .end
            case .otherEntity: continue
            case .failed(let code): throw failure(code)
            case .damaged(let field, let reason):
                return .damaged(
                    plan.damaged(key: sqlite3_column_int64(handle, 0), entity: Int(number), field: field, reason))
            }
        }
    }

    /// How reading rows of one entity ended.
    private enum RunEnd {
        case full
        case end
        /// The current row is of another entity.
        case otherEntity
        case failed(Int32)
        case damaged(Int32?, String)
    }

    private func fill(
        _ batch: inout RecordBatch, _ handle: OpaquePointer, _ number: Int64, _ steps: UnsafeBufferPointer<SQLStep>,
        _ entity: SQLReadPlan.Entity, _ plan: SQLReadPlan
    ) -> RunEnd {
        let fixed = entity.template.count
        reserve(fixed)
        let clock = connection?.clock
        while true {
            let end = appendRow(to: &batch, handle, steps, entity, fixed, plan)
            if let end { return end }
            if batch.isFull { return .full }
            clock?.pointee.reset()
            let code = sqlite3_step(handle)
            guard code == SQLITE_ROW else { return code == SQLITE_DONE ? .end : .failed(code) }
            if sqlite3_column_int64(handle, 1) != number { return .otherEntity }
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

    /// Adds the current row; returns nil when that went well.
    private func appendRow(
        to batch: inout RecordBatch, _ handle: OpaquePointer, _ steps: UnsafeBufferPointer<SQLStep>,
        _ entity: SQLReadPlan.Entity, _ fixed: Int, _ plan: SQLReadPlan
    ) -> RunEnd? {
        guard sqlite3_column_type(handle, 0) == SQLITE_INTEGER, sqlite3_column_type(handle, 2) == SQLITE_INTEGER,
            let version = UInt32(exactly: sqlite3_column_int64(handle, 2))
        else { return .damaged(nil, "its key or its version is not a possible one") }
        let key = sqlite3_column_int64(handle, 0)
        guard key > 0 else { return .damaged(nil, "its key is not positive") }
        // SAFETY: `scratch` has at least `fixed` bytes, and every slot of the layout ends before `fixed`.
        var base = scratch
        entity.template.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: base, count: fixed).copyMemory(from: $0)
        }
        var length = fixed
        for step in steps {
            let type = sqlite3_column_type(handle, step.column)
            let offset = Int(step.byteOffset)
            if type == SQLITE_NULL {
                if step.kind.isVariable {
                    base.storeBytes(of: UInt32(length - fixed).littleEndian, toByteOffset: offset, as: UInt32.self)
                }
                continue
            }
            switch step.kind {
            case .integer64, .order:
                guard type == SQLITE_INTEGER else { return .damaged(step.fieldIndex, "is not an integer") }
                base.storeBytes(
                    of: sqlite3_column_int64(handle, step.column).littleEndian, toByteOffset: offset, as: Int64.self)
            case .string, .uri, .data, .transformable:
                let isText = step.kind == .string || step.kind == .uri
                guard type == (isText ? SQLITE_TEXT : SQLITE_BLOB) else {
                    return .damaged(step.fieldIndex, isText ? "is not text" : "is not a blob")
                }
                // For text too: this call, unlike sqlite3_column_text, does not copy the value to end it with a zero.
                let start = sqlite3_column_blob(handle, step.column)
                let count = Int(sqlite3_column_bytes(handle, step.column))
                guard start != nil || count == 0 else { return .failed(SQLITE_NOMEM) }
                guard length + count <= RecordLayout.maximumByteCount else {
                    return .damaged(step.fieldIndex, "is too large")
                }
                if count > 0, let start {
                    if isText, !UnsafeRawBufferPointer(start: start, count: count).isText {
                        return .damaged(step.fieldIndex, "is not valid UTF-8")
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
                guard let bits = doubleBits(handle, step.column, type) else {
                    return .damaged(step.fieldIndex, "is not a number")
                }
                base.storeBytes(of: bits.littleEndian, toByteOffset: offset, as: UInt64.self)
            default:
                if let reason = decode(handle, step, type, to: base, plan) { return .damaged(step.fieldIndex, reason) }
            }
            let byte = base.load(fromByteOffset: Int(step.nullByte), as: UInt8.self)
            base.storeBytes(of: byte & ~step.nullMask, toByteOffset: Int(step.nullByte), as: UInt8.self)
        }
        let bytes = UnsafeRawBufferPointer(start: base, count: length)
        base.storeBytes(of: version.littleEndian, toByteOffset: RecordLayout.Header.version, as: UInt32.self)
        let checksum = RecordHash.content(of: bytes, key: key) ^ RecordHash.versionMask(version)
        base.storeBytes(of: checksum.littleEndian, toByteOffset: RecordLayout.Header.checksum, as: UInt64.self)
        do throws(StoreError) {
            batch.append(try RecordReader(checking: bytes, key: key, model: plan.model))
        } catch {
            return .damaged(nil, error.message)
        }
        return nil
    }

    /// The bits of a floating-point column; an integer, as other tools write, is the number it says.
    private func doubleBits(_ handle: OpaquePointer, _ column: Int32, _ type: Int32) -> UInt64? {
        switch type {
        case SQLITE_FLOAT: sqlite3_column_double(handle, column).bitPattern
        case SQLITE_INTEGER: Double(sqlite3_column_int64(handle, column)).bitPattern
        case SQLITE_TEXT: SQLFloatingText.bits64(columnBytes(handle, column))
        default: nil
        }
    }

    private func columnBytes(_ handle: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    /// Decodes the rarer kinds; returns what is wrong, or nil.
    private func decode(
        _ handle: OpaquePointer, _ step: SQLStep, _ type: Int32, to base: UnsafeMutableRawPointer, _ plan: SQLReadPlan
    ) -> String? {
        let offset = Int(step.byteOffset)
        switch step.kind {
        case .integer32:
            guard type == SQLITE_INTEGER, let value = Int32(exactly: sqlite3_column_int64(handle, step.column)) else {
                return "is not an integer of 32 bits"
            }
            base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Int32.self)
        case .integer16:
            guard type == SQLITE_INTEGER, let value = Int16(exactly: sqlite3_column_int64(handle, step.column)) else {
                return "is not an integer of 16 bits"
            }
            base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Int16.self)
        case .boolean:
            let value = sqlite3_column_int64(handle, step.column)
            guard type == SQLITE_INTEGER, value == 0 || value == 1 else { return "is neither 0 nor 1" }
            base.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: offset, as: UInt8.self)
        case .float:
            guard let bits = floatBits(handle, step.column, type) else { return "is not a number of 32 bits" }
            base.storeBytes(of: bits.littleEndian, toByteOffset: offset, as: UInt32.self)
        case .decimal:
            guard let number = decimal(handle, step.column, type) else { return "is not a decimal number" }
            base.storeBytes(
                of: UInt64(truncatingIfNeeded: number.mantissa).littleEndian, toByteOffset: offset, as: UInt64.self)
            base.storeBytes(
                of: UInt64(truncatingIfNeeded: number.mantissa >> 64).littleEndian, toByteOffset: offset + 8,
                as: UInt64.self)
            base.storeBytes(of: number.exponent.littleEndian, toByteOffset: offset + 16, as: Int16.self)
            base.storeBytes(
                of: number.isNaN ? 2 : (number.isNegative ? 1 : 0), toByteOffset: offset + 18, as: UInt8.self)
        case .uuid:
            let bytes = columnBytes(handle, step.column)
            guard type == SQLITE_BLOB, bytes.count == 16, let start = bytes.baseAddress else {
                return "is not a blob of 16 bytes"
            }
            (base + offset).copyMemory(from: start, byteCount: 16)
        case .reference:
            let key = sqlite3_column_int64(handle, step.column)
            guard type == SQLITE_INTEGER, key > 0 else { return "is not a key" }
            base.storeBytes(of: key.littleEndian, toByteOffset: offset, as: Int64.self)
        case .polymorphicReference, .objectID:
            let key = sqlite3_column_int64(handle, step.column)
            let number = sqlite3_column_int64(handle, step.entityColumn)
            guard type == SQLITE_INTEGER, key > 0, sqlite3_column_type(handle, step.entityColumn) == SQLITE_INTEGER,
                plan.allows(number, step)
            else { return "is not a key with the number of an entity it can have" }
            base.storeBytes(of: key.littleEndian, toByteOffset: offset, as: Int64.self)
            base.storeBytes(
                of: UInt32(truncatingIfNeeded: number).littleEndian, toByteOffset: offset + 8, as: UInt32.self)
        default: break
        }
        return nil
    }

    private func floatBits(_ handle: OpaquePointer, _ column: Int32, _ type: Int32) -> UInt32? {
        if type == SQLITE_TEXT { return SQLFloatingText.bits32(columnBytes(handle, column)) }
        guard let bits = doubleBits(handle, column, type) else { return nil }
        let (wide, narrow) = (Double(bitPattern: bits), Float(Double(bitPattern: bits)))
        return narrow.isFinite || !wide.isFinite ? narrow.bitPattern : nil
    }

    private func decimal(_ handle: OpaquePointer, _ column: Int32, _ type: Int32) -> DecimalNumber? {
        switch type {
        case SQLITE_TEXT: return DecimalNumber(utf8: columnBytes(handle, column))
        case SQLITE_INTEGER:
            let value = sqlite3_column_int64(handle, column)
            return DecimalNumber(isNegative: value < 0, mantissa: UInt128(value.magnitude), exponent: 0)
        default: return nil
        }
    }

    /// Adds links until the batch is full; false when there are no more rows.
    public func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        let handle = try open()
        while !batch.isFull {
            guard try step() else { return false }
            for column in Int32(0)..<4 where sqlite3_column_type(handle, column) != SQLITE_INTEGER {
                throw StoreError(.corrupted, "'\(path)' is damaged: a link's key or place is not an integer.")
            }
            batch.links.append(
                Link(
                    sqlite3_column_int64(handle, 0), sqlite3_column_int64(handle, 1),
                    order: sqlite3_column_int64(handle, 2), inverseOrder: sqlite3_column_int64(handle, 3)))
        }
        return true
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are well-formed UTF-8, as table 3-7 of the Unicode standard says; ASCII eight bytes at a time.
    fileprivate var isText: Bool {
        var offset = 0
        while offset < count {
            if offset + 8 <= count, loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                offset += 8
                continue
            }
            let lead = self[offset]
            guard lead >= 0x80 else {
                offset += 1
                continue
            }
            // What may follow at once depends on the lead byte, so that nothing is overlong, a surrogate or beyond U+10FFFF.
            let (length, low, high): (Int, UInt8, UInt8)
            switch lead {
            case 0xC2...0xDF: (length, low, high) = (2, 0x80, 0xBF)
            case 0xE0: (length, low, high) = (3, 0xA0, 0xBF)
            case 0xE1...0xEC, 0xEE...0xEF: (length, low, high) = (3, 0x80, 0xBF)
            case 0xED: (length, low, high) = (3, 0x80, 0x9F)
            case 0xF0: (length, low, high) = (4, 0x90, 0xBF)
            case 0xF1...0xF3: (length, low, high) = (4, 0x80, 0xBF)
            case 0xF4: (length, low, high) = (4, 0x80, 0x8F)
            default: return false
            }
            guard offset + length <= count, self[offset + 1] >= low, self[offset + 1] <= high else { return false }
            for next in offset + 2..<offset + length where self[next] & 0xC0 != 0x80 { return false }
            offset += length
        }
        return true
    }
}
