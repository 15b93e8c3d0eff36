internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    /// Turns the rows of a table into records.
    struct RowWriter {
        private let source: ImportBinding.Source
        private let table: ForeignTable
        private let model: ManagedObjectModel
        private let reader: RowReader
        private let isNumbered: Bool
        private let readings: [ImportBinding.Reading]
        private let places: [RowReader.Place]
        private var rows: Int64 = 0

        /// Prepares to read a table.
        init(
            _ source: ImportBinding.Source, table: ForeignTable, model: ManagedObjectModel, isNumbered: Bool,
            database: ForeignDatabase
        ) throws(StoreError) {
            (self.source, self.table, self.model, self.isNumbered) = (source, table, model, isNumbered)
            reader = try RowReader(source.expressions, of: table, in: database)
            readings = source.readings
            places = reader.places
        }

        /// Appends the record of the next row.
        ///
        /// Returns false at the end.
        ///
        /// - Throws: `invalidValue` with table, column and row if the model cannot hold a value;
        ///   `limitExceeded` for a row that is too large for a record; errors of the database.
        mutating func appendNext(to batch: inout RecordBatch) throws(StoreError) -> Bool {
            guard try reader.step() else { return false }
            rows += 1
            let key = isNumbered ? rows : reader.rowID.statement.integer(reader.rowID.column)
            batch.beginRecord(source.entity.layout, key: key, version: 1)
            do throws(StoreError) {
                for reading in readings { try set(reading, batch: &batch) }
            } catch {
                batch.abandonRecord()
                throw error
            }
            batch.endRecord()
            return true
        }

        private func set(_ reading: ImportBinding.Reading, batch: inout RecordBatch) throws(StoreError) {
            let place = places[reading.expression]
            let (statement, column, field) = (place.statement, place.column, reading.field)
            let storage = statement.storageClass(column)
            if storage == .null {
                guard !reading.isMandatory else { throw failure(reading, problem: "has no value and must have one") }
                return
            }
            do throws(StoreError) {
                switch (field.kind, storage) {
                case (.reference, _):
                    guard let destination = field.destination else { return }
                    try batch.setReference(entity: destination, key: statement.integer(column), for: field)
                case (.string, .text), (.uri, .text):
                    try statement.withBytes(column) { (bytes) throws(StoreError) in
                        guard bytes.isValidUTF8 else { throw failure(reading, problem: "is not valid UTF-8") }
                        try batch.setBytes(bytes, for: field)
                    }
                case (.data, .blob), (.data, .text):
                    try statement.withBytes(column) { (bytes) throws(StoreError) in
                        try batch.setBytes(bytes, for: field)
                    }
                case (.string, .integer), (.data, .integer):
                    try Self.setText("\(statement.integer(column))", field: field, batch: &batch)
                case (.string, .real), (.data, .real):
                    try Self.setText("\(statement.double(column))", field: field, batch: &batch)
                case (.integer64, .integer): batch.setInteger64(statement.integer(column), for: field)
                case (.double, .real): try batch.setDouble(statement.double(column), for: field)
                case (.decimal, _):
                    batch.setDecimal(try decimal(reading, statement: statement, column: column), for: field)
                case (.date, .text):
                    let date = try statement.withBytes(column) { (bytes) throws(StoreError) in DateForm.read(bytes) }
                    guard let date else { throw failure(reading, problem: "is not a date such as 2024-05-01 12:30:00") }
                    try batch.setDouble(date.seconds, for: field)
                case (.uuid, .text), (.uuid, .blob):
                    try setUUID(reading, statement: statement, column: column, batch: &batch)
                default: try setConverted(reading, statement: statement, column: column, batch: &batch)
                }
            } catch  where error.code == .invalidValue && !error.message.hasPrefix("Table '") {
                throw failure(reading, problem: "does not fit type \(field.kind)")
            } catch  where error.code == .limitExceeded {
                throw error.located(in: "Table '\(table.name)', row \(row)")
            }
        }

        private static func setText(
            _ text: String, field: RecordLayout.Field, batch: inout RecordBatch
        ) throws(StoreError) {
            let bytes = Array(text.utf8)
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try batch.setBytes(bytes, for: field) }
        }

        private func setUUID(
            _ reading: ImportBinding.Reading, statement: ForeignStatement, column: Int32,
            batch: inout RecordBatch
        ) throws(StoreError) {
            try statement.withBytes(column) { (bytes) throws(StoreError) in
                if bytes.count == 16 { return try batch.setUUID(bytes, for: reading.field) }
                guard let uuid = UUIDText.bytes(bytes) else { throw failure(reading, problem: "is not a UUID") }
                try uuid.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
                    try batch.setUUID(bytes, for: reading.field)
                }
            }
        }

        private func decimal(
            _ reading: ImportBinding.Reading, statement: ForeignStatement, column: Int32
        ) throws(StoreError) -> DecimalNumber {
            let number: DecimalNumber? =
                switch statement.storageClass(column) {
                case .integer: NumberText.decimal(statement.integer(column))
                case .real: NumberText.decimal(statement.double(column))
                case .text:
                    try statement.withBytes(column) { (bytes) throws(StoreError) in DecimalNumber(utf8: bytes) }
                case .blob, .null: nil
                }
            guard let number else { throw failure(reading, problem: "is not a decimal number of at most 38 digits") }
            return number
        }

        /// Sets a number or truth value of another kind, if that loses nothing.
        private func setConverted(
            _ reading: ImportBinding.Reading, statement: ForeignStatement, column: Int32,
            batch: inout RecordBatch
        ) throws(StoreError) {
            let field = reading.field
            switch field.kind {
            case .integer64, .integer32, .integer16, .boolean:
                guard let value = try wholeNumber(statement, column: column, isBoolean: field.kind == .boolean) else {
                    throw failure(
                        reading, problem: field.kind == .boolean ? "is not true or false" : "is not a whole number")
                }
                try batch.setInteger(value, for: field)
            case .double, .float:
                guard let value = try double(statement, column: column) else {
                    throw failure(reading, problem: "is not a number")
                }
                guard field.kind == .double || Double(Float(value)) == value else {
                    throw failure(reading, problem: "has more digits than type float keeps")
                }
                try batch.setDouble(value, for: field)
            case .date: throw failure(reading, problem: "is not text, so it is not known which date it means")
            default: throw failure(reading, problem: "does not fit type \(field.kind)")
            }
        }

        private func wholeNumber(
            _ statement: ForeignStatement, column: Int32, isBoolean: Bool
        ) throws(StoreError) -> Int64? {
            switch statement.storageClass(column) {
            case .integer: return statement.integer(column)
            case .real: return Int64(exactly: statement.double(column))
            case .text:
                guard let text = try statement.text(column) else { return nil }
                if isBoolean, let value = ["true": 1, "false": 0][text.lowercased()] { return Int64(value) }
                return Int64(text)
            case .blob, .null: return nil
            }
        }

        private func double(_ statement: ForeignStatement, column: Int32) throws(StoreError) -> Double? {
            switch statement.storageClass(column) {
            case .real: statement.double(column)
            case .integer: Double(exactly: statement.integer(column))
            case .text: try statement.text(column).flatMap { Double($0) }
            case .blob, .null: nil
            }
        }

        // MARK: Errors

        /// The number of the current row in messages.
        private var row: Int64 {
            table.rowIDName == nil ? rows : reader.rowID.statement.integer(reader.rowID.column)
        }

        @inline(never)
        private func failure(_ reading: ImportBinding.Reading, problem: String) -> StoreError {
            let column = table.columns[reading.column].name
            return StoreError(
                .invalidValue,
                "Table '\(table.name)', column '\(column)', row \(row): the value \(problem), as '\(source.entity.name).\(reading.field.name)' requires. Change the model or the database."
            )
        }
    }
#endif
