#if PostgreSQL
    internal import RoostCore
    internal import RoostSQL

    /// Functions that encode values of records in the binary format of their columns.
    enum PostgreSQLValueBytes {
        /// Appends the bytes of an integer, most significant byte first.
        static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }

        /// Appends the value of a field; the value must not be null.
        static func append(_ field: RecordLayout.Field, of record: RecordReader, to bytes: inout [UInt8]) {
            switch field.kind {
            case .integer64, .integer32, .integer16, .boolean, .order: append(record.integer(field), to: &bytes)
            case .composite: append(Int64(1), to: &bytes)
            case .reference, .polymorphicReference, .objectID: append(record.reference(field)?.key ?? 0, to: &bytes)
            case .double, .date: append(record.double(field).bitPattern, to: &bytes)
            case .float: append(SQLValue.widened(record.floatBits(field)).bitPattern, to: &bytes)
            case .decimal: bytes += Array((record.decimal(field) ?? .nan).description.utf8)
            case .uuid, .data, .transformable: bytes.append(contentsOf: record.bytes(field))
            case .string, .uri: PostgreSQLText.append(record.bytes(field), to: &bytes)
            }
        }
    }
#endif
