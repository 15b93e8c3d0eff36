internal import RoostCore

/// Turns the rows of a table into records.
struct RowWriter<Source: ForeignSource> {
    private let entity: ManagedObjectModel.Entity
    private let table: ForeignTable
    private let model: ManagedObjectModel
    private let reader: RowReader<Source>
    private let isNumbered: Bool
    private let readings: [ImportBinding.Reading]
    private let places: [RowReader<Source>.Place]
    private var rows: Int64 = 0

    init(
        _ binding: ImportBinding.Source, model: ManagedObjectModel, isNumbered: Bool, source: Source
    ) throws(StoreError) {
        (entity, self.model, self.isNumbered) = (binding.entity, model, isNumbered)
        table = source.schema.tables[binding.table]
        reader = try RowReader(binding.values, of: binding.table, in: source)
        readings = binding.readings
        places = reader.places
    }

    /// Appends the record of the next row, or returns false at the end.
    ///
    /// - Throws: `invalidValue` with table, column and row if the model cannot hold a value;
    ///   `limitExceeded` for a row that is too large for a record; errors of the database.
    mutating func appendNext(to batch: inout RecordBatch) throws(StoreError) -> Bool {
        guard try reader.step() else { return false }
        rows += 1
        let key = isNumbered ? rows : try reader.rowID.rows.integer(reader.rowID.column)
        batch.beginRecord(entity.layout, key: key, version: 1)
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
        let place = places[reading.value]
        let cell = try place.rows.cell(place.column)
        if case .null = cell {
            guard reading.isMandatory else { return }
            // A foreign key to a missing row is read as null.
            let problem =
                reading.foreignKey == nil
                ? "requires a value, and the database has NULL" : "requires an object, and the row refers to none"
            throw failure(reading, reason: "\(name(of: reading)) \(problem)")
        }
        do throws(StoreError) { try set(cell, reading: reading, place: place, batch: &batch) } catch {
            switch error.code {
            case .invalidValue where !error.message.hasPrefix("Table '"):
                throw failure(reading, problem: "does not fit type \(reading.field.kind)")
            case .limitExceeded: throw error.located(in: "Table '\(table.name)', row \(row)")
            default: throw error
            }
        }
    }

    private func set(
        _ cell: ForeignCell, reading: ImportBinding.Reading, place: RowReader<Source>.Place, batch: inout RecordBatch
    ) throws(StoreError) {
        let (rows, column, field) = (place.rows, place.column, reading.field)
        switch (field.kind, cell) {
        case (.reference, .integer(let key)):
            guard let destination = field.destination else { return }
            try batch.setReference(entity: destination, key: key, for: field)
        case (.string, .text), (.uri, .text), (.string, .decimal), (.string, .date):
            try rows.withBytes(column) { (bytes) throws(StoreError) in
                guard bytes.isValidUTF8 else { throw failure(reading, problem: "is not valid UTF-8") }
                try batch.setBytes(bytes, for: field)
            }
        case (.data, .blob), (.data, .text), (.data, .decimal), (.data, .date):
            try rows.withBytes(column) { (bytes) throws(StoreError) in try batch.setBytes(bytes, for: field) }
        case (.string, .integer(let value)), (.data, .integer(let value)):
            try Self.setText("\(value)", field: field, batch: &batch)
        case (.string, .real(let value)), (.data, .real(let value)):
            try Self.setText("\(value)", field: field, batch: &batch)
        case (.integer64, .integer(let value)): batch.setInteger64(value, for: field)
        case (.double, .real(let value)): try batch.setDouble(value, for: field)
        case (.decimal, _):
            batch.setDecimal(try decimal(reading, cell: cell, place: place), for: field)
        case (.date, .date(let seconds, _)): try batch.setDouble(seconds, for: field)
        case (.date, .text):
            let date = try rows.withBytes(column) { (bytes) throws(StoreError) in DateForm.read(bytes) }
            guard let date else { throw failure(reading, problem: "is not a date such as 2024-05-01 12:30:00") }
            try batch.setDouble(date.seconds, for: field)
        case (.uuid, .text): try setUUID(reading, place: place, acceptsBytes: false, batch: &batch)
        case (.uuid, .blob): try setUUID(reading, place: place, acceptsBytes: true, batch: &batch)
        default: try setConverted(cell, reading: reading, place: place, batch: &batch)
        }
    }

    private static func setText(
        _ text: String, field: RecordLayout.Field, batch: inout RecordBatch
    ) throws(StoreError) {
        let bytes = Array(text.utf8)
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try batch.setBytes(bytes, for: field) }
    }

    private func setUUID(
        _ reading: ImportBinding.Reading, place: RowReader<Source>.Place, acceptsBytes: Bool, batch: inout RecordBatch
    ) throws(StoreError) {
        try place.rows.withBytes(place.column) { (bytes) throws(StoreError) in
            if acceptsBytes, bytes.count == 16 { return try batch.setUUID(bytes, for: reading.field) }
            guard let uuid = UUIDText.bytes(bytes) else { throw failure(reading, problem: "is not a UUID") }
            try uuid.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
                try batch.setUUID(bytes, for: reading.field)
            }
        }
    }

    private func decimal(
        _ reading: ImportBinding.Reading, cell: ForeignCell, place: RowReader<Source>.Place
    ) throws(StoreError) -> DecimalNumber {
        let number: DecimalNumber? =
            switch cell {
            case .integer(let value): NumberText.decimal(value)
            case .real(let value): NumberText.decimal(value)
            case .decimal(let value): value
            case .text:
                try place.rows.withBytes(place.column) { (bytes) throws(StoreError) in DecimalNumber(utf8: bytes) }
            case .date, .blob, .null: nil
            }
        guard let number else { throw failure(reading, problem: "is not a decimal number of at most 38 digits") }
        return number
    }

    /// Sets a number or boolean field from a value that must be converted or checked.
    ///
    /// Text or a decimal becomes the nearest double. All other conversions, including to a float,
    /// must be exact.
    private func setConverted(
        _ cell: ForeignCell, reading: ImportBinding.Reading, place: RowReader<Source>.Place,
        batch: inout RecordBatch
    ) throws(StoreError) {
        let field = reading.field
        switch field.kind {
        case .integer64, .integer32, .integer16, .boolean:
            guard let value = try wholeNumber(cell, place: place, isBoolean: field.kind == .boolean) else {
                throw failure(
                    reading, problem: field.kind == .boolean ? "is not true or false" : "is not a whole number")
            }
            try batch.setInteger(value, for: field)
        case .double, .float:
            guard let value = try double(cell, place: place) else {
                throw failure(reading, problem: "is not a number")
            }
            // NaN is not equal to itself.
            guard field.kind == .double || value.isNaN || Double(Float(value)) == value else {
                throw failure(
                    reading, reason: "the value cannot be stored exactly as a float in \(name(of: reading))")
            }
            try batch.setDouble(value, for: field)
        case .date:
            throw failure(
                reading, reason: "the value is not text, and \(name(of: reading)) requires a date written as text")
        default: throw failure(reading, problem: "does not fit type \(field.kind)")
        }
    }

    private func wholeNumber(
        _ cell: ForeignCell, place: RowReader<Source>.Place, isBoolean: Bool
    ) throws(StoreError) -> Int64? {
        switch cell {
        case .integer(let value): return value
        case .real(let value): return Int64(exactly: value)
        case .decimal(let value): return value.wholeNumber
        case .text:
            guard let text = try place.rows.text(place.column) else { return nil }
            if isBoolean, let value = ["true": 1, "false": 0][text.lowercased()] { return Int64(value) }
            return Int64(text)
        case .date, .blob, .null: return nil
        }
    }

    private func double(_ cell: ForeignCell, place: RowReader<Source>.Place) throws(StoreError) -> Double? {
        switch cell {
        case .real(let value): value
        case .integer(let value): Double(exactly: value)
        case .text, .decimal: try place.rows.text(place.column).flatMap { Double($0) }
        case .date, .blob, .null: nil
        }
    }

    // MARK: Errors

    /// The row's rowid for messages, or its position in the table if statements cannot name the
    /// rowid.
    private var row: Int64 {
        guard table.rowIDName != nil else { return rows }
        // Reading the rowid again cannot fail.
        do throws(StoreError) { return try reader.rowID.rows.integer(reader.rowID.column) } catch { return rows }
    }

    private func name(of reading: ImportBinding.Reading) -> String { "'\(entity.name).\(reading.field.name)'" }

    private func failure(_ reading: ImportBinding.Reading, problem: String) -> StoreError {
        failure(reading, reason: "the value \(problem), which \(name(of: reading)) requires")
    }

    @inline(never)
    private func failure(_ reading: ImportBinding.Reading, reason: String) -> StoreError {
        let column = table.columns[reading.column].name
        return StoreError(
            .invalidValue,
            "Table '\(table.name)', column '\(column)', row \(row): \(reason). Change the model or the database.")
    }
}
