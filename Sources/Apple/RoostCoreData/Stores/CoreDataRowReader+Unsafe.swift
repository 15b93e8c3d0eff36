internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    internal import Foundation

    /// A reader that turns rows of an entity table into records, column by column.
    final class CoreDataRowReader {
        private let schema: CoreDataSchema
        private let root: CoreDataSchema.Root
        private let external: ExternalData

        init(_ schema: CoreDataSchema, root: CoreDataSchema.Root, external: ExternalData) {
            self.schema = schema
            self.root = root
            self.external = external
        }

        /// The query for rows of the table, to which the caller adds conditions on the alias `r`.
        var selection: String {
            let values = (["r.Z_PK", "r.Z_ENT", "r.Z_OPT"] + root.expressions).joined(separator: ", ")
            return "SELECT \(values) FROM \(ForeignDatabase.quoted(root.table)) r"
        }

        /// Appends the record of the current row, or returns false if the row is not an object of
        /// the model.
        ///
        /// Throws `corrupted`, naming the object, if a value is not valid for its attribute.
        func append(_ row: ForeignStatement, to batch: inout RecordBatch) throws(StoreError) -> Bool {
            let key = row.integer(0)
            guard key > 0, let entity = root.entities[row.integer(1)] else { return false }
            // Core Data starts at version 1.
            batch.beginRecord(entity.layout, key: key, version: UInt32(clamping: max(1, row.integer(2))))
            do throws(StoreError) {
                for reading in entity.readings where !row.isNull(reading.column) {
                    if try set(reading, row: row, batch: &batch) {
                        for composite in reading.composites { batch.setComposite(composite) }
                    }
                }
            } catch {
                batch.abandonRecord()
                guard error.code == .invalidValue || error.code == .limitExceeded || error.code == .corrupted else {
                    throw error
                }
                throw error.withMessage("'\(external.storePath)': \(error.message)", code: .corrupted)
                    .naming(damagedObject: ObjectID(entity.layout.entity, key: key))
            }
            batch.endRecord()
            return true
        }

        /// Sets one field from a non-null value, or returns false if the field stays null.
        private func set(
            _ reading: CoreDataSchema.Reading, row: ForeignStatement, batch: inout RecordBatch
        ) throws(StoreError) -> Bool {
            let (field, column) = (reading.field, reading.column)
            switch field.kind {
            case .integer64, .integer32, .integer16, .order:
                try batch.setInteger(try integer(row, reading: reading), for: field)
            case .boolean: try batch.setInteger(try integer(row, reading: reading) == 0 ? 0 : 1, for: field)
            case .double, .float, .date: try batch.setDouble(try double(row, reading: reading), for: field)
            case .decimal: batch.setDecimal(try decimal(row, reading: reading), for: field)
            case .reference, .polymorphicReference:
                // A reference to a missing row or to a wrong entity becomes null.
                guard !row.isNull(column + 1), let entity = schema.entities[row.integer(column + 1)],
                    let destination = field.destination, schema.model.entities[destination].includes(entity)
                else { return false }
                try batch.setReference(entity: entity, key: row.integer(column), for: field)
            case .uuid:
                try row.withBytes(column) { (bytes) throws(StoreError) in
                    if bytes.count == 16 { return try batch.setUUID(bytes, for: field) }
                    guard let uuid = UUID(uuidString: String(decoding: bytes, as: UTF8.self)) else {
                        throw unreadable(reading, what: "a UUID")
                    }
                    try withUnsafeBytesOf(uuid) { (bytes) throws(StoreError) in try batch.setUUID(bytes, for: field) }
                }
            case .string, .uri:
                try row.withBytes(column) { (bytes) throws(StoreError) in
                    guard bytes.isValidUTF8 else { throw unreadable(reading, what: "valid UTF-8 text") }
                    try batch.setBytes(bytes, for: field)
                }
            case .data, .transformable:
                return try row.withBytes(column) { (bytes) throws(StoreError) in
                    try setData(bytes, reading: reading, batch: &batch)
                }
            case .objectID, .composite: return false
            }
            return true
        }

        /// Sets binary data.
        ///
        /// If external storage is allowed, the value is the byte 1 followed by the data, or the
        /// byte 2 followed by the name of a file.
        private func setData(
            _ bytes: UnsafeRawBufferPointer, reading: CoreDataSchema.Reading, batch: inout RecordBatch
        ) throws(StoreError) -> Bool {
            switch (reading.isExternal, bytes.first) {
            case (true, 1): try batch.setBytes(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), for: reading.field)
            case (true, 2):
                guard let name = ExternalData.name(in: Array(bytes)) else {
                    throw unreadable(reading, what: "the name of a data file")
                }
                guard let contents = try external.contents(of: name) else { return false }
                try contents.span.bytes.withUnsafeBytes { (contents) throws(StoreError) in
                    try batch.setBytes(contents, for: reading.field)
                }
            default: try batch.setBytes(bytes, for: reading.field)
            }
            return true
        }

        // MARK: Numbers in any SQLite type

        private func integer(_ row: ForeignStatement, reading: CoreDataSchema.Reading) throws(StoreError) -> Int64 {
            switch row.storageClass(reading.column) {
            case .integer: return row.integer(reading.column)
            case .real:
                if let value = Int64(exactly: row.double(reading.column)) { return value }
            case .text:
                if let text = try row.string(reading.column), let value = Int64(text) { return value }
            case .blob, .null: break
            }
            throw unreadable(reading, what: "a whole number")
        }

        private func double(_ row: ForeignStatement, reading: CoreDataSchema.Reading) throws(StoreError) -> Double {
            switch row.storageClass(reading.column) {
            case .real, .integer: return row.double(reading.column)
            case .text:
                if let text = try row.string(reading.column), let value = Double(text) { return value }
            case .blob, .null: break
            }
            throw unreadable(reading, what: "a number")
        }

        private func decimal(_ row: ForeignStatement, reading: CoreDataSchema.Reading) throws(StoreError)
            -> DecimalNumber
        {
            let text: String? =
                switch row.storageClass(reading.column) {
                case .integer: String(row.integer(reading.column))
                // The shortest digits of a floating-point number are closest to the original value.
                case .real: "\(row.double(reading.column))"
                case .text: try row.string(reading.column)
                case .blob, .null: nil
                }
            guard let text, let value = DecimalNumber(utf8: text.utf8) else {
                throw unreadable(reading, what: "a decimal number")
            }
            return value
        }

        @inline(never)
        private func unreadable(_ reading: CoreDataSchema.Reading, what: String) -> StoreError {
            StoreError(
                .corrupted, "The value of '\(reading.field.name)' of an object in table \(root.table) is not \(what).")
        }

        private func withUnsafeBytesOf(
            _ uuid: UUID, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
        ) throws(StoreError) {
            let bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try body(bytes) }
        }
    }
#endif
