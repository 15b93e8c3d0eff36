#if PostgreSQL
    internal import CPostgreSQL
    internal import RoostCore

    /// The result of a command in libpq's memory: its rows or its error.
    final class PostgreSQLResult {
        let handle: OpaquePointer
        let rowCount: Int32
        let columnCount: Int32
        /// The types of the columns; valid as long as the result.
        let types: UnsafeBufferPointer<Oid>

        init(_ handle: OpaquePointer) {
            self.handle = handle
            rowCount = PQntuples(handle)
            columnCount = PQnfields(handle)
            let types = UnsafeMutableBufferPointer<Oid>.allocate(capacity: Int(columnCount))
            for column in 0..<columnCount { types.initializeElement(at: Int(column), to: PQftype(handle, column)) }
            self.types = UnsafeBufferPointer(types)
        }

        deinit {
            types.deallocate()
            PQclear(handle)
        }

        var status: ExecStatusType { PQresultStatus(handle) }

        var error: PostgreSQLError? {
            switch status {
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR: break
            default: return nil
            }
            func field(_ code: UInt8) -> String? { PQresultErrorField(handle, Int32(code)).map { String(cString: $0) } }
            let object = field(UInt8(ascii: "n")) ?? field(UInt8(ascii: "c")) ?? field(UInt8(ascii: "t"))
            guard let state = field(UInt8(ascii: "C")) else {
                return PostgreSQLError(state: "", text: PostgreSQLConnection.line(PQresultErrorMessage(handle)))
            }
            return PostgreSQLError(state: state, object: object)
        }

        var changedRowCount: Int {
            guard var digit = PQcmdTuples(handle) else { return 0 }
            var count = 0
            while digit.pointee >= 0x30, digit.pointee <= 0x39 {
                count = count &* 10 &+ Int(digit.pointee - 0x30)
                digit += 1
            }
            return count
        }

        func type(_ column: Int32) -> Oid { types[Int(column)] }
        func isNull(_ row: Int32, column: Int32) -> Bool { PQgetisnull(handle, row, column) != 0 }

        /// Returns the bytes of a value, which are valid as long as the result.
        func bytes(_ row: Int32, column: Int32) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(
                start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
        }

        /// Returns the text of a value in text format, or nil if the value is null or missing.
        func text(_ row: Int32, column: Int32) -> String? {
            guard row < rowCount, column < columnCount, !isNull(row, column: column) else { return nil }
            return String(decoding: bytes(row, column: column), as: UTF8.self)
        }
    }

    /// The OIDs of the types that Roost uses, which are equal on every server.
    enum PostgreSQLType {
        static let bool: Oid = 16
        static let bytea: Oid = 17
        static let int8: Oid = 20
        static let int2: Oid = 21
        static let int4: Oid = 23
        static let text: Oid = 25
        static let oid: Oid = 26
        static let json: Oid = 114
        static let float8: Oid = 701
        static let name: Oid = 19
        static let varchar: Oid = 1043
        static let uuid: Oid = 2950
    }

    extension UnsafeRawBufferPointer {
        /// Returns the bytes as a big-endian integer, or nil if the sizes differ.
        func bigEndian<Number: FixedWidthInteger>(as type: Number.Type) -> Number? {
            guard count == MemoryLayout<Number>.size else { return nil }
            return Number(bigEndian: loadUnaligned(as: type))
        }
    }
#endif
