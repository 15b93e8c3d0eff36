#if PostgreSQL
    internal import CPostgreSQL
    internal import RoostCore
    internal import RoostSQL

    // Builds records directly from the bytes of the server's answer, in memory that is reused for
    // each row.

    extension PostgreSQLStatement: SQLRecordStatement {
        func fill(_ batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool) throws(StoreError) -> SQLFill {
            while !batch.isFull {
                guard try step() else { return .end }
                let (result, row) = try current()
                for next in row..<result.rowCount {
                    self.row = next
                    if let error = append(
                        PostgreSQLRow(result, row: next), to: &batch, plan: plan, accepting: accepting)
                    {
                        return .damaged(error)
                    }
                    if batch.isFull { return .full }
                }
            }
            return .full
        }

        func look(
            up key: Int64, into batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
        ) throws(StoreError) -> StoreError? {
            try bind(.integer(key), at: 1)
            defer { reset() }
            guard try step() else { return nil }
            let (result, row) = try current()
            return append(PostgreSQLRow(result, row: row), to: &batch, plan: plan, accepting: accepting)
        }

        func bind(
            _ record: RecordReader, version: UInt32, columns: SQLRowColumns, at position: Int
        ) throws(StoreError) {
            try parameters.set(record, version: version, columns: columns, at: position - 1)
        }

        /// Adds the record of a row, or returns the error of a damaged or changed row.
        private func append(
            _ values: PostgreSQLRow, to batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
        ) -> StoreError? {
            guard let key = values.integer(0) else {
                return plan.damaged(key: 0, entity: nil, reason: "its key is not an integer")
            }
            guard let number = values.integer(1), number >= 0, number < plan.entities.count,
                let entity = plan.entities[Int(number)]
            else { return plan.damaged(key: key, entity: nil, reason: "its entity does not belong to the table") }
            guard let version = values.integer(2).flatMap({ UInt32(exactly: $0) }), key > 0 else {
                return plan.damaged(
                    key: key, entity: entity.number, reason: "its key or version is invalid")
            }
            let end = scratch.build(
                values, entity: entity, plan: plan, key: key, version: version, accepting: accepting)
            switch end {
            case .record(let bytes): batch.append(built: bytes, key: key, entity: entity.number)
            case .changed: return plan.changed(key: key, entity: entity.number)
            case .damaged(let field, let reason):
                return plan.damaged(key: key, entity: entity.number, field: field, reason: "\(reason)")
            }
            return nil
        }
    }

    /// The values of one row; valid as long as the result of the row.
    struct PostgreSQLRow {
        // Retaining the result would take longer than reading a value.
        private let handle: OpaquePointer
        private let types: UnsafeBufferPointer<Oid>
        private let row: Int32

        init(_ result: PostgreSQLResult, row: Int32) {
            (handle, types, self.row) = (result.handle, result.types, row)
        }

        /// Returns the bytes of a value, or nil for null and for a missing column.
        func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
            guard column >= 0, Int(column) < types.count else { return nil }
            let count = PQgetlength(handle, row, column)
            if count == 0, PQgetisnull(handle, row, column) != 0 { return nil }
            return UnsafeRawBufferPointer(start: PQgetvalue(handle, row, column), count: Int(count))
        }

        func type(_ column: Int32) -> Oid { types[Int(column)] }

        /// Returns the integer in a column, or nil for another value.
        func integer(_ column: Int32) -> Int64? { bytes(column).flatMap { integer($0, column: column) } }

        func integer(_ bytes: UnsafeRawBufferPointer, column: Int32) -> Int64? {
            type(column) == PostgreSQLType.int8
                ? bytes.bigEndian(as: Int64.self) : PostgreSQLResult.integer(bytes, type: type(column))
        }
    }

    /// Reusable memory in which a record is built.
    final class PostgreSQLScratch {
        enum End {
            /// Bytes that are valid until the next record is built.
            case record(UnsafeRawBufferPointer)
            case changed
            case damaged(Int32?, StaticString)
        }

        private var base = UnsafeMutableRawPointer.allocate(byteCount: 1024, alignment: 16)
        private var byteCount = 1024

        deinit { base.deallocate() }

        private func reserve(_ count: Int) {
            guard byteCount < count else { return }
            let larger = max(count, byteCount * 2)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
            memory.copyMemory(from: base, byteCount: byteCount)
            base.deallocate()
            (base, byteCount) = (memory, larger)
        }

        func build(
            _ row: PostgreSQLRow, entity: SQLReadPlan.Entity, plan: SQLReadPlan, key: Int64, version: UInt32,
            accepting: Bool
        ) -> End {
            // SAFETY: the memory has at least `fixed` bytes, and the first `fixed` bytes contain all
            // slots of the layout.
            let fixed = entity.template.count
            reserve(fixed)
            entity.template.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(start: base, count: fixed).copyMemory(from: $0)
            }
            var length = fixed
            for step in entity.steps {
                let offset = Int(step.byteOffset)
                guard let bytes = row.bytes(step.column) else {
                    let nullByte = Int(step.nullByte)
                    let byte = base.load(fromByteOffset: nullByte, as: UInt8.self)
                    base.storeBytes(of: byte | step.nullMask, toByteOffset: nullByte, as: UInt8.self)
                    if step.kind.isVariable { storeEnd(length - fixed, at: offset) }
                    continue
                }
                switch step.kind {
                case .string, .uri, .data, .transformable:
                    let isText = step.kind == .string || step.kind == .uri
                    guard row.type(step.column) == (isText ? PostgreSQLType.text : PostgreSQLType.bytea) else {
                        return .damaged(step.fieldIndex, isText ? "is not text" : "is not a blob")
                    }
                    guard length + bytes.count <= RecordLayout.maximumByteCount else {
                        return .damaged(step.fieldIndex, "is too large")
                    }
                    let start = length
                    let found = isText ? PostgreSQLText.scan(bytes) : (hasLow: false, isASCII: true)
                    if found.hasLow {
                        guard let text = PostgreSQLText.text(bytes) else {
                            return .damaged(step.fieldIndex, "has an invalid escape after U+0001")
                        }
                        text.withUnsafeBytes { append($0, length: &length) }
                    } else {
                        append(bytes, length: &length)
                    }
                    if !found.isASCII, !UnsafeRawBufferPointer(start: base + start, count: length - start).isValidUTF8 {
                        return .damaged(step.fieldIndex, "is not valid UTF-8")
                    }
                    storeEnd(length - fixed, at: offset)
                default:
                    if let reason = store(bytes, step: step, row: row, plan: plan) {
                        return .damaged(step.fieldIndex, reason)
                    }
                }
            }
            return finished(length, row: row, plan: plan, key: key, version: version, accepting: accepting)
        }

        /// Completes the record in the memory with its version and checksum.
        ///
        /// Returns `changed` if the stored checksum differs and `accepting` is false.
        private func finished(
            _ length: Int, row: PostgreSQLRow, plan: SQLReadPlan, key: Int64, version: UInt32, accepting: Bool
        ) -> End {
            let bytes = UnsafeRawBufferPointer(start: base, count: length)
            base.storeBytes(of: version.littleEndian, toByteOffset: RecordLayout.Header.version, as: UInt32.self)
            let hash = RecordHash.content(of: bytes, key: key)
            if !accepting {
                guard let stored = row.integer(3),
                    UInt64(bitPattern: stored) == plan.checksum.checksum(contentHash: hash, version: version)
                else { return .changed }
            }
            let checksum = hash ^ RecordHash.versionMask(version)
            base.storeBytes(of: checksum.littleEndian, toByteOffset: RecordLayout.Header.checksum, as: UInt64.self)
            return .record(bytes)
        }

        private func append(_ bytes: UnsafeRawBufferPointer, length: inout Int) {
            guard bytes.count > 0, let start = bytes.baseAddress else { return }
            reserve(length + bytes.count)
            (base + length).copyMemory(from: start, byteCount: bytes.count)
            length += bytes.count
        }

        private func storeEnd(_ end: Int, at offset: Int) {
            base.storeBytes(of: UInt32(truncatingIfNeeded: end).littleEndian, toByteOffset: offset, as: UInt32.self)
        }

        private func store(_ number: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
            base.storeBytes(of: number.littleEndian, toByteOffset: offset, as: type(of: number))
        }

        /// Stores a value of fixed size, or returns the reason if the value is damaged.
        private func store(
            _ bytes: UnsafeRawBufferPointer, step: SQLStep, row: PostgreSQLRow, plan: SQLReadPlan
        ) -> StaticString? {
            let (offset, type) = (Int(step.byteOffset), row.type(step.column))
            switch step.kind {
            case .uuid:
                guard type == PostgreSQLType.bytea, bytes.count == 16, let start = bytes.baseAddress else {
                    return "is not a blob of 16 bytes"
                }
                (base + offset).copyMemory(from: start, byteCount: 16)
                return nil
            case .decimal:
                guard type == PostgreSQLType.text, let number = DecimalNumber(utf8: bytes) else {
                    return "is not a decimal number"
                }
                store(UInt64(truncatingIfNeeded: number.mantissa), at: offset)
                store(UInt64(truncatingIfNeeded: number.mantissa >> 64), at: offset + 8)
                store(number.exponent, at: offset + 16)
                base.storeBytes(
                    of: number.isNaN ? 2 : (number.isNegative ? 1 : 0), toByteOffset: offset + 18, as: UInt8.self)
                return nil
            case .double, .date:
                guard type == PostgreSQLType.float8, let bits = bytes.bigEndian(as: UInt64.self) else {
                    return "is not a number"
                }
                store(bits, at: offset)
                return nil
            case .float:
                guard type == PostgreSQLType.float8, let bits = bytes.bigEndian(as: UInt64.self),
                    let narrow = SQLValue.narrowed(Double(bitPattern: bits))
                else { return "is not a number of 32 bits" }
                store(narrow, at: offset)
                return nil
            default: break
            }
            guard let number = row.integer(bytes, column: step.column) else { return "is not an integer" }
            switch step.kind {
            case .integer32:
                guard let small = Int32(exactly: number) else { return "is not an integer of 32 bits" }
                store(small, at: offset)
            case .integer16:
                guard let small = Int16(exactly: number) else { return "is not an integer of 16 bits" }
                store(small, at: offset)
            case .boolean:
                guard number == 0 || number == 1 else { return "is neither 0 nor 1" }
                base.storeBytes(of: UInt8(number), toByteOffset: offset, as: UInt8.self)
            case .composite: guard number == 1 else { return "is not 1" }
            case .reference:
                guard number > 0 else { return "is not a key" }
                store(number, at: offset)
            case .polymorphicReference, .objectID:
                guard number > 0, let entity = row.integer(step.entityColumn), plan.allows(entity, at: step) else {
                    return "is not a key with a valid entity number"
                }
                store(number, at: offset)
                store(UInt32(truncatingIfNeeded: entity), at: offset + 8)
            default: store(number, at: offset)
            }
            return nil
        }
    }
#endif
