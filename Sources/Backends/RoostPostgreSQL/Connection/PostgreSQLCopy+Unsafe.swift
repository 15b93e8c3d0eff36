#if PostgreSQL
    internal import CPostgreSQL
    package import RoostCore
    package import RoostSQL

    // Inserts many rows at once, with COPY in binary format; see
    // <https://www.postgresql.org/docs/15/sql-copy.html>.

    extension PostgreSQLConnection: SQLBatchInserting, SQLLinkInserting {
        /// The minimum number of records for COPY; INSERT is faster for fewer.
        private static let fewestRows = 48

        /// Inserts the records that belong to the plan's table.
        ///
        /// Rows may still be in transit afterward. The next statement reports their errors at the
        /// latest.
        package func insert(_ records: RecordBatch, plan: SQLWritePlan, version: UInt32?) throws(StoreError) {
            var count = 0
            for index in 0..<records.count where plan.columns.entities[records.entityNumber(at: index)] != nil {
                count += 1
            }
            guard settings.profile == .postgresql, count >= Self.fewestRows else {
                return try deferringRuns { () throws(StoreError) in
                    try insertByStatements(records, plan: plan, version: version)
                }
            }
            let copy = try copy(into: plan.target)
            try records.forEachRecord { (record) throws(StoreError) in
                guard plan.columns.entities[record.entityNumber] != nil else { return }
                copy.rows.append(record, version: version ?? record.version, columns: plan.columns)
                if copy.rows.isLarge { try sendRows(copy) }
            }
        }

        /// Whether the profile supports COPY.
        package var insertsLinks: Bool { settings.profile == .postgresql }

        package func insert(_ links: [Link], into target: String) throws(StoreError) {
            let copy = try copy(into: target)
            for link in links {
                copy.rows.append(link.source, second: link.target, third: link.order, fourth: link.inverseOrder)
                if copy.rows.isLarge { try sendRows(copy) }
            }
        }

        /// Returns the open COPY into a table, or a new COPY.
        ///
        /// A COPY stays open until another statement runs, so batches do not wait for the server.
        private func copy(into target: String) throws(StoreError) -> PostgreSQLCopy {
            if let openCopy, openCopy.target == target { return openCopy }
            let start = try query("COPY \(target) FROM STDIN (FORMAT binary)", what: PostgreSQLCopy.what)
            guard start.status == PGRES_COPY_IN else { throw lost(PostgreSQLCopy.what) }
            let copy = PostgreSQLCopy(target)
            openCopy = copy
            return copy
        }

        private func sendRows(_ copy: PostgreSQLCopy) throws(StoreError) {
            let connection = try open()
            let deadline = responseDeadline
            defer { copy.rows.removeAll() }
            while true {
                switch copy.rows.withBytes({ PQputCopyData(connection, $0, $1) }) {
                case 1: return try flush(PostgreSQLCopy.what, until: deadline)
                case 0: try flush(PostgreSQLCopy.what, until: deadline)
                default:
                    // If the server ended the COPY with an error, `finish` throws that error. If
                    // the rows could not be sent, `end` makes the whole COPY fail, so that its
                    // earlier rows do not remain.
                    openCopy = nil
                    try end("a part of the rows was not sent")
                    _ = try finish(PostgreSQLCopy.what)
                    throw lost(PostgreSQLCopy.what)
                }
            }
        }

        /// Ends the open COPY, if any, and waits for the server's answer.
        func endCopy() throws(StoreError) {
            guard let copy = openCopy else { return }
            openCopy = nil
            copy.rows.end()
            try sendRows(copy)
            try end(nil)
            _ = try finish(PostgreSQLCopy.what)
        }

        /// Abandons the open COPY, if any; its transaction fails.
        func abandonCopy() {
            guard openCopy != nil else { return }
            openCopy = nil
            // The caller reports the first error. The next statement reports a lost connection.
            do throws(StoreError) {
                try end("the program gave up")
                _ = try finish(PostgreSQLCopy.what)
            } catch {}
        }

        private func end(_ reason: String?) throws(StoreError) {
            let connection = try open()
            let deadline = responseDeadline
            while true {
                switch PQputCopyEnd(connection, reason) {
                case 1: return
                case 0: try flush(PostgreSQLCopy.what, until: deadline)
                // The server has ended the COPY. Its results report the reason.
                default: return
                }
            }
        }
    }

    /// A COPY from the program into a table.
    final class PostgreSQLCopy {
        static let what = "Loading into"

        /// The table and its columns.
        let target: String
        var rows = PostgreSQLCopyRows()

        init(_ target: String) { self.target = target }
    }

    /// Rows in the binary format of COPY, in a reusable buffer.
    struct PostgreSQLCopyRows: ~Copyable {
        /// The source of a column's values, for the records of one entity.
        private enum Source {
            case null
            case value(SQLStep, isFirstOfTail: Bool)
            /// The entity number of a reference.
            case entity(SQLStep)
        }

        private struct Places {
            let sources: ContiguousArray<Source>
            let fixedByteCount: Int
        }

        /// The buffer size at which the rows are sent.
        private static let chunkByteCount = 256 << 10

        private var base: UnsafeMutableRawPointer
        private var capacity: Int
        private var count = 0
        /// The sources by entity number; nil for entities that have not occurred yet.
        private var places: [Places?] = []
        /// The maximum size of the current row, without decimal numbers and escaped texts.
        private var rowByteCount = 0

        init() {
            // The buffer starts small, because a commit may have only a few rows.
            capacity = 32 << 10
            base = .allocate(byteCount: capacity, alignment: 16)
            // The signature, then the flags and the length of the header extension, which are 0.
            for byte in Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8) {
                base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
                count += 1
            }
        }

        deinit { base.deallocate() }

        var isLarge: Bool { count >= Self.chunkByteCount }

        mutating func removeAll() { count = 0 }

        func withBytes<Result>(_ body: (UnsafePointer<CChar>, Int32) -> Result) -> Result {
            body(UnsafePointer(base.assumingMemoryBound(to: CChar.self)), Int32(clamping: count))
        }

        /// Appends the end mark.
        mutating func end() {
            reserve(2)
            put(Int16(-1))
        }

        mutating func append(_ first: Int64, second: Int64, third: Int64, fourth: Int64) {
            reserve(2 + 4 * 12)
            put(Int16(4))
            put(column: first)
            put(column: second)
            put(column: third)
            put(column: fourth)
        }

        /// Returns the sources of the columns for the records of an entity.
        private mutating func places(of record: RecordReader, columns: SQLRowColumns) -> Places? {
            let number = record.entityNumber
            if places.count <= number { places += Array(repeating: nil, count: number + 1 - places.count) }
            if let known = places[number] { return known }
            guard let steps = columns.entities[number] else { return nil }
            var sources = ContiguousArray(repeating: Source.null, count: columns.count)
            var isFirst = true
            for step in steps {
                if step.column >= 0, Int(step.column) < columns.count {
                    sources[Int(step.column)] = .value(step, isFirstOfTail: isFirst)
                }
                // The steps have the order of the layout, in which the fields of the tail come last.
                if step.kind.isVariable { isFirst = false }
                if step.entityColumn >= 0, Int(step.entityColumn) < columns.count {
                    sources[Int(step.entityColumn)] = .entity(step)
                }
            }
            let made = Places(sources: sources, fixedByteCount: record.layout.fixedByteCount)
            places[number] = made
            return made
        }

        /// Appends the row of a record: key, entity, version, checksum, then the columns.
        mutating func append(_ record: RecordReader, version: UInt32, columns: SQLRowColumns) {
            guard let places = places(of: record, columns: columns) else { return }
            let bytes = record.bytes
            rowByteCount = 2 + 4 * 12 + places.sources.count * 20 + bytes.count
            reserve(rowByteCount)
            put(Int16(truncatingIfNeeded: SQLRowColumns.systemColumnCount + columns.count))
            let checksum = columns.checksum.checksum(contentHash: record.storedContentHash, version: version)
            put(column: record.key)
            put(column: Int64(record.entityNumber))
            put(column: Int64(version))
            put(column: Int64(bitPattern: checksum))
            for source in places.sources {
                switch source {
                case .null: put(Int32(-1))
                case .value(let step, let isFirst):
                    if bytes[Int(step.nullByte)] & step.nullMask != 0 {
                        put(Int32(-1))
                    } else {
                        append(step, isFirstOfTail: isFirst, record: record, fixedByteCount: places.fixedByteCount)
                    }
                case .entity(let step):
                    if bytes[Int(step.nullByte)] & step.nullMask != 0 {
                        put(Int32(-1))
                    } else if step.kind == .reference {
                        put(column: Int64(step.destination))
                    } else {
                        put(column: Int64(load(bytes, offset: Int(step.byteOffset) + 8, as: UInt32.self)))
                    }
                }
            }
        }

        /// Appends the value of a field, which must not be null.
        private mutating func append(
            _ step: SQLStep, isFirstOfTail: Bool, record: RecordReader, fixedByteCount: Int
        ) {
            let (bytes, offset) = (record.bytes, Int(step.byteOffset))
            switch step.kind {
            case .integer64, .order, .reference, .polymorphicReference, .objectID, .double, .date:
                put(column: Int64(bitPattern: load(bytes, offset: offset, as: UInt64.self)))
            case .integer32: put(column: Int64(Int32(bitPattern: load(bytes, offset: offset, as: UInt32.self))))
            case .integer16: put(column: Int64(Int16(bitPattern: load(bytes, offset: offset, as: UInt16.self))))
            case .boolean: put(column: Int64(bytes[offset]))
            case .composite: put(column: 1)
            case .float:
                let bits = SQLValue.widened(load(bytes, offset: offset, as: UInt32.self)).bitPattern
                put(column: Int64(bitPattern: UInt64(bits)))
            case .uuid: put(column: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + 16]))
            case .decimal:
                let field = record.layout.fields[Int(step.fieldIndex)]
                var text = (record.decimal(field) ?? .nan).description
                text.withUTF8 { text in
                    reserve(text.count + rowByteCount)
                    put(column: UnsafeRawBufferPointer(text))
                }
            case .data, .transformable:
                put(column: tail(bytes, step: step, isFirst: isFirstOfTail, fixed: fixedByteCount))
            case .string, .uri:
                let text = tail(bytes, step: step, isFirst: isFirstOfTail, fixed: fixedByteCount)
                if PostgreSQLText.needsEscape(text) { putEscaped(text) } else { put(column: text) }
            }
        }

        /// Returns the bytes of a field in the tail of a record.
        private func tail(
            _ bytes: UnsafeRawBufferPointer, step: SQLStep, isFirst: Bool, fixed: Int
        ) -> UnsafeRawBufferPointer {
            // A field's slot contains the offset at which its bytes end. The previous slot contains
            // their start.
            let offset = Int(step.byteOffset)
            let start = isFirst ? 0 : Int(load(bytes, offset: offset - 4, as: UInt32.self))
            let end = Int(load(bytes, offset: offset, as: UInt32.self))
            return UnsafeRawBufferPointer(rebasing: bytes[fixed + start..<fixed + end])
        }

        private func load<Number: FixedWidthInteger & BitwiseCopyable>(
            _ bytes: UnsafeRawBufferPointer, offset: Int, as type: Number.Type
        ) -> Number {
            Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }

        // MARK: Bytes

        private mutating func reserve(_ more: Int) {
            guard count + more > capacity else { return }
            let larger = max(capacity * 2, count + more)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
            memory.copyMemory(from: base, byteCount: count)
            base.deallocate()
            (base, capacity) = (memory, larger)
        }

        // SAFETY: the callers of these methods have reserved the bytes.

        private mutating func put(_ number: some FixedWidthInteger & BitwiseCopyable) {
            base.storeBytes(of: number.bigEndian, toByteOffset: count, as: type(of: number))
            count += number.bitWidth / 8
        }

        private mutating func put(column number: Int64) {
            put(Int32(8))
            put(number)
        }

        private mutating func put(column bytes: UnsafeRawBufferPointer) {
            put(Int32(truncatingIfNeeded: bytes.count))
            guard let start = bytes.baseAddress, bytes.count > 0 else { return }
            (base + count).copyMemory(from: start, byteCount: bytes.count)
            count += bytes.count
        }

        private mutating func putEscaped(_ text: UnsafeRawBufferPointer) {
            var form: [UInt8] = []
            PostgreSQLText.append(text, to: &form)
            form.withUnsafeBytes { form in
                reserve(form.count + rowByteCount)
                put(column: form)
            }
        }
    }
#endif
