#if PostgreSQL
    internal import CPostgreSQL
    internal import RoostCore
    internal import RoostSQL

    /// The parameters of one statement, encoded for libpq.
    struct PostgreSQLParameters {
        private enum Place {
            case null
            case bytes(Range<Int>, isBinary: Bool)
        }

        /// The OIDs of the parameters' types; 0 if the server infers the type from the statement.
        private(set) var types: [Oid]
        private var places: [Place]
        private var arena: [UInt8] = []
        /// The arena size above which the bytes of replaced values are removed.
        private var arenaLimit = 4096

        /// Creates parameters of known types, all null.
        init(types: [Oid]) {
            self.types = types
            places = Array(repeating: .null, count: types.count)
            // Most values are numbers of eight bytes.
            arena.reserveCapacity(types.count * 8)
        }

        /// Adds a parameter with the type of its value.
        mutating func append(_ value: SQLValue) throws(StoreError) {
            switch value {
            case .null: types.append(0)
            case .integer: types.append(PostgreSQLType.int8)
            case .real: types.append(PostgreSQLType.float8)
            case .text: types.append(PostgreSQLType.text)
            case .blob: types.append(PostgreSQLType.bytea)
            case .matcher: break
            }
            places.append(.null)
            try set(value, at: places.count - 1)
        }

        /// Removes the bytes of replaced values if the arena is too large.
        mutating func compact() {
            guard arena.count > arenaLimit else { return }
            var kept: [UInt8] = []
            for index in places.indices {
                guard case .bytes(let range, let isBinary) = places[index] else { continue }
                let start = kept.count
                kept += arena[range]
                places[index] = .bytes(start..<kept.count, isBinary: isBinary)
                if !isBinary { kept.append(0) }
            }
            arena = kept
            arenaLimit = max(4096, kept.count * 2)
        }

        /// Sets a parameter; positions count from 0.
        mutating func set(_ value: SQLValue, at index: Int) throws(StoreError) {
            guard places.indices.contains(index), types.indices.contains(index) else {
                throw StoreError(.internalInconsistency, "A statement has no parameter \(index + 1).")
            }
            let type = types[index]
            switch value {
            case .null: places[index] = .null
            case .integer(let number): try set(number, as: type, at: index)
            case .real(let number):
                guard type == PostgreSQLType.float8 else { throw mismatch(type) }
                setBigEndian(number.bitPattern, at: index)
            case .text(var text):
                let start = arena.count
                text.withUTF8 { PostgreSQLText.append(UnsafeRawBufferPointer($0), to: &arena) }
                // For a parameter of another type, such as an array, the value is zero-terminated
                // text.
                places[index] = .bytes(start..<arena.count, isBinary: type == PostgreSQLType.text)
                if type != PostgreSQLType.text { arena.append(0) }
            case .blob(let bytes):
                guard type == PostgreSQLType.bytea || type == PostgreSQLType.uuid && bytes.count == 16 else {
                    throw mismatch(type)
                }
                bytes.withUnsafeBytes { setBytes($0, at: index) }
            case .matcher:
                throw StoreError(.internalInconsistency, "A matcher was bound, which PostgreSQL cannot call.")
            }
        }

        mutating func set(_ number: Int64, as type: Oid, at index: Int) throws(StoreError) {
            switch type {
            case PostgreSQLType.int8: setBigEndian(UInt64(bitPattern: number), at: index)
            case PostgreSQLType.int4:
                guard let small = Int32(exactly: number) else { throw mismatch(type) }
                setBigEndian(UInt32(bitPattern: small), at: index)
            case PostgreSQLType.float8:
                guard let exact = Double(exactly: number) else { throw mismatch(type) }
                setBigEndian(exact.bitPattern, at: index)
            default: throw mismatch(type)
            }
        }

        mutating func setBytes(_ bytes: UnsafeRawBufferPointer, at index: Int) {
            let start = arena.count
            arena.append(contentsOf: bytes)
            places[index] = .bytes(start..<arena.count, isBinary: true)
        }

        private mutating func setBigEndian(_ number: some FixedWidthInteger & BitwiseCopyable, at index: Int) {
            // A number overwrites the previous value of its parameter if the sizes are equal.
            if case .bytes(let range, true) = places[index], range.count == number.bitWidth / 8 {
                arena.withUnsafeMutableBytes {
                    $0.storeBytes(of: number.bigEndian, toByteOffset: range.lowerBound, as: type(of: number))
                }
                return
            }
            let start = arena.count
            withUnsafeBytes(of: number.bigEndian) { arena.append(contentsOf: $0) }
            places[index] = .bytes(start..<arena.count, isBinary: true)
        }

        private func mismatch(_ type: Oid) -> StoreError {
            StoreError(.internalInconsistency, "A value does not fit a parameter of the type \(type).")
        }

        /// Sets the parameters of one row: key, entity, version, checksum, then the columns.
        mutating func set(
            _ record: RecordReader, version: UInt32, columns: SQLRowColumns, at position: Int
        ) throws(StoreError) {
            let number = record.entityNumber
            guard let steps = columns.entities[number] else {
                throw StoreError(
                    .internalInconsistency, "\(record.id) was to be written into the table of another hierarchy.")
            }
            let base = position + SQLRowColumns.systemColumnCount
            guard position >= 0, base + columns.count <= places.count else {
                throw StoreError(.internalInconsistency, "A statement has fewer parameters than a row has columns.")
            }
            let checksum = columns.checksum.checksum(contentHash: record.storedContentHash, version: version)
            setBigEndian(record.key, at: position)
            setBigEndian(Int64(number), at: position + 1)
            setBigEndian(Int64(version), at: position + 2)
            setBigEndian(checksum, at: position + 3)
            for column in columns.unused[number] { places[base + Int(column)] = .null }
            for step in steps {
                let field = record.layout.fields[Int(step.fieldIndex)]
                let isNull = record.isNull(field)
                // −1 marks a column that the statement omits. For example, an UPDATE can omit
                // indexed columns.
                if step.column >= 0 {
                    let index = base + Int(step.column)
                    if isNull {
                        places[index] = .null
                    } else {
                        let start = arena.count
                        PostgreSQLValueBytes.append(field, of: record, to: &arena)
                        places[index] = .bytes(start..<arena.count, isBinary: true)
                    }
                }
                guard step.entityColumn >= 0 else { continue }
                let index = base + Int(step.entityColumn)
                if !isNull, let entity = record.reference(field)?.entity {
                    setBigEndian(Int64(entity), at: index)
                } else {
                    places[index] = .null
                }
            }
        }

        /// Calls `body` with the number of values, and with their addresses, lengths and formats.
        func withPointers<Result>(
            _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) ->
                Result
        ) -> Result {
            let count = places.count
            return withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count + 1) { pointers in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: count * 2 + 1) { numbers in
                    arena.withUnsafeBytes { bytes in
                        // libpq treats a value without an address as null, so an empty value gets
                        // an address that is never read.
                        let empty = UnsafeRawPointer(pointers.baseAddress)
                        for (index, place) in places.enumerated() {
                            var (start, length, format) = (UnsafeRawPointer?.none, 0, Int32(1))
                            if case .bytes(let range, let isBinary) = place {
                                // SAFETY: `places` has only ranges in the arena, and a zero follows
                                // each value in text format.
                                let isEmpty = range.isEmpty && isBinary
                                start = isEmpty ? empty : bytes.baseAddress.map { $0 + range.lowerBound }
                                (length, format) = (range.count, isBinary ? 1 : 0)
                            }
                            pointers.initializeElement(
                                at: index, to: start.map { $0.assumingMemoryBound(to: CChar.self) })
                            numbers.initializeElement(at: index, to: Int32(clamping: length))
                            numbers.initializeElement(at: count + index, to: format)
                        }
                        return body(
                            Int32(clamping: count), UnsafePointer(pointers.baseAddress),
                            UnsafePointer(numbers.baseAddress), numbers.baseAddress.map { UnsafePointer($0 + count) })
                    }
                }
            }
        }
    }
#endif
