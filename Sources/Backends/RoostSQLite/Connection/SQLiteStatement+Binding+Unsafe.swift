internal import CSQLite
package import RoostCore
package import RoostSQL

// This file converts records to rows. A row refers to the bytes of its record, which must stay
// valid until `sqlite3_step` has read them.

/// The destructor argument that makes SQLite copy the bytes immediately.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension SQLiteStatement {
    package func bind(_ value: SQLValue, at position: Int) throws(StoreError) {
        let (handle, index) = (try open(), Int32(clamping: position))
        switch value {
        case .null: try check(sqlite3_bind_null(handle, index))
        case .integer(let number): try check(sqlite3_bind_int64(handle, index, number))
        case .real(let number):
            // SQLite would store NaN as null.
            let code =
                number.isNaN
                ? bindText(handle, column: index, text: SQLFloatingText.text(number.bitPattern))
                : sqlite3_bind_double(handle, index, number)
            try check(code)
        case .text(var text):
            let code = text.withUTF8 {
                bindText(handle, column: index, bytes: UnsafeRawBufferPointer($0), destructor: copied)
            }
            try check(code)
        case .blob(let bytes):
            let code = bytes.withUnsafeBytes { bindBlob(handle, column: index, bytes: $0, destructor: copied) }
            try check(code)
        case .matcher(let matcher): try check(SQLiteFunctions.bind(matcher, to: handle, at: index))
        }
    }

    /// Sets a parameter to the value of a field, as the field's first column stores it.
    package func bind(_ field: RecordLayout.Field, of record: RecordReader, at position: Int) throws(StoreError) {
        let step = SQLStep(field)
        try check(
            record.isNull(field)
                ? sqlite3_bind_null(try open(), Int32(clamping: position))
                : bindValue(
                    try open(), record: record, step: step, column: Int32(clamping: position), start: 0, count: 0,
                    destructor: copied))
    }

    package func bind(
        _ record: RecordReader, version: UInt32, columns: SQLRowColumns, at position: Int
    ) throws(StoreError) {
        let handle = try open()
        let number = record.entityNumber
        guard let steps = columns.entities[number] else {
            throw StoreError(
                .internalInconsistency, "\(record.id) was to be written into the table of another hierarchy.")
        }
        let first = Int32(clamping: position)
        try check(sqlite3_bind_int64(handle, first, record.key))
        try check(sqlite3_bind_int64(handle, first + 1, Int64(number)))
        try check(sqlite3_bind_int64(handle, first + 2, Int64(version)))
        let checksum = columns.checksum.checksum(contentHash: record.storedContentHash, version: version)
        try check(sqlite3_bind_int64(handle, first + 3, Int64(bitPattern: checksum)))
        let base = first + Int32(SQLRowColumns.systemColumnCount)
        for column in columns.unused[number] { try check(sqlite3_bind_null(handle, base + column)) }
        let code = steps.withUnsafeBufferPointer { steps in
            bindFields(
                handle, record: record, steps: steps, columns: base,
                fixed: Int32(truncatingIfNeeded: record.layout.fixedByteCount))
        }
        try check(code)
    }

    private func bindFields(
        _ handle: OpaquePointer, record: RecordReader, steps: UnsafeBufferPointer<SQLStep>, columns: Int32,
        fixed: Int32
    ) -> Int32 {
        let bytes = record.bytes
        var tail: Int32 = 0
        for step in steps {
            let column = columns + step.column
            var code: Int32
            var end = tail
            if step.kind.isVariable {
                end = Int32(
                    truncatingIfNeeded: UInt32(
                        littleEndian: bytes.loadUnaligned(fromByteOffset: Int(step.byteOffset), as: UInt32.self)))
            }
            // An UPDATE may omit indexed columns, which then have the number −1. A reference may
            // have two columns, and the UPDATE may omit only one of them.
            if bytes[Int(step.nullByte)] & step.nullMask != 0 {
                code = step.column < 0 ? SQLITE_OK : sqlite3_bind_null(handle, column)
                if code == SQLITE_OK, step.entityColumn >= 0 {
                    code = sqlite3_bind_null(handle, columns + step.entityColumn)
                }
            } else {
                code =
                    step.column < 0
                    ? SQLITE_OK
                    : bindValue(
                        handle, record: record, step: step, column: column, start: Int(fixed + tail),
                        count: Int(end - tail), destructor: nil)
                if code == SQLITE_OK, step.entityColumn >= 0 {
                    let entity = UInt32(
                        littleEndian: bytes.loadUnaligned(fromByteOffset: Int(step.byteOffset) + 8, as: UInt32.self))
                    code = sqlite3_bind_int64(handle, columns + step.entityColumn, Int64(entity))
                }
            }
            guard code == SQLITE_OK else { return code }
            tail = end
        }
        return SQLITE_OK
    }

    /// Binds a value that is not null.
    ///
    /// For a field of variable size, `start` and `count` locate its bytes in the record. If `start`
    /// is 0, this method looks up the bytes.
    private func bindValue(
        _ handle: OpaquePointer, record: RecordReader, step: SQLStep, column: Int32, start: Int, count: Int,
        destructor: sqlite3_destructor_type?
    ) -> Int32 {
        let (bytes, offset) = (record.bytes, Int(step.byteOffset))
        func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) -> T {
            T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }
        func tail() -> UnsafeRawBufferPointer {
            start == 0
                ? record.bytes(record.layout.fields[Int(step.fieldIndex)])
                : UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
        }
        switch step.kind {
        case .integer64, .order, .reference, .polymorphicReference, .objectID:
            return sqlite3_bind_int64(handle, column, load(Int64.self))
        case .integer32: return sqlite3_bind_int64(handle, column, Int64(load(Int32.self)))
        case .integer16: return sqlite3_bind_int64(handle, column, Int64(load(Int16.self)))
        case .boolean: return sqlite3_bind_int64(handle, column, bytes[offset] == 0 ? 0 : 1)
        case .composite: return sqlite3_bind_int64(handle, column, 1)
        case .double, .date:
            let number = Double(bitPattern: load(UInt64.self))
            guard number.isNaN else { return sqlite3_bind_double(handle, column, number) }
            return bindText(handle, column: column, text: SQLFloatingText.text(number.bitPattern))
        case .float:
            let number = Float(bitPattern: load(UInt32.self))
            guard number.isNaN else { return sqlite3_bind_double(handle, column, Double(number)) }
            return bindText(handle, column: column, text: SQLFloatingText.text(number.bitPattern))
        case .decimal:
            let field = record.layout.fields[Int(step.fieldIndex)]
            return bindText(handle, column: column, text: (record.decimal(field) ?? .nan).description)
        case .uuid:
            return bindBlob(
                handle, column: column, bytes: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + 16]),
                destructor: destructor)
        case .string, .uri: return bindText(handle, column: column, bytes: tail(), destructor: destructor)
        case .data, .transformable: return bindBlob(handle, column: column, bytes: tail(), destructor: destructor)
        }
    }

    private func bindText(_ handle: OpaquePointer, column: Int32, text: String) -> Int32 {
        var text = text
        return text.withUTF8 { bindText(handle, column: column, bytes: UnsafeRawBufferPointer($0), destructor: copied) }
    }

    private func bindText(
        _ handle: OpaquePointer, column: Int32, bytes: UnsafeRawBufferPointer,
        destructor: sqlite3_destructor_type?
    ) -> Int32 {
        // An empty text without an address would become null.
        guard bytes.count > 0, let start = bytes.baseAddress else {
            return sqlite3_bind_text(handle, column, "", 0, copied)
        }
        return sqlite3_bind_text64(
            handle, column, start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), destructor,
            UInt8(SQLITE_UTF8))
    }

    private func bindBlob(
        _ handle: OpaquePointer, column: Int32, bytes: UnsafeRawBufferPointer,
        destructor: sqlite3_destructor_type?
    ) -> Int32 {
        guard bytes.count > 0, let start = bytes.baseAddress else { return sqlite3_bind_zeroblob(handle, column, 0) }
        return sqlite3_bind_blob64(handle, column, start, UInt64(bytes.count), destructor)
    }
}

extension SQLiteConnection {
    /// Inserts the records of a batch that belong to the plan's table, several rows per statement.
    package func insert(_ records: RecordBatch, plan: SQLWritePlan, version: UInt32?) throws(StoreError) {
        var remaining = 0
        for index in 0..<records.count where plan.columns.entities[records.entityNumber(at: index)] != nil {
            remaining += 1
        }
        let width = plan.columns.count + SQLRowColumns.systemColumnCount
        let many = remaining >= plan.rowsPerInsert ? try prepare(plan.insertManySQL) : nil
        let one = remaining % plan.rowsPerInsert != 0 ? try prepare(plan.insertOneSQL) : nil
        defer {
            if let many { recycle(many) }
            if let one { recycle(one) }
        }
        var row = 0
        // SAFETY: every bound address stays valid until `forEachRecord` returns. Each statement is
        // stepped before that. `recycle` clears the bindings later, without reading them.
        try records.forEachRecord { (record) throws(StoreError) in
            guard plan.columns.entities[record.entityNumber] != nil else { return }
            let isMany = remaining >= plan.rowsPerInsert
            guard let statement = isMany ? many : one else {
                throw StoreError(.internalInconsistency, "A batch changed while it was inserted.")
            }
            try statement.bind(record, version: version ?? record.version, columns: plan.columns, at: row * width + 1)
            row += 1
            guard row == (isMany ? plan.rowsPerInsert : 1) else { return }
            while try statement.step() {}
            statement.reset()
            remaining -= row
            row = 0
        }
    }
}
