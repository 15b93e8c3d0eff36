package import RoostCore
package import RoostJSONText

/// A writer of selected columns of records as JSON objects, CSV lines or single values.
///
/// Values are written without loss, as by ``RecordTextWriter``.
package struct RecordRowWriter {
    package let columns: RecordColumns
    /// The keys of destination objects for the to-many columns.
    ///
    /// Before writing a batch, the caller must call ``LinkedKeys/read(of:from:)`` for that batch.
    package let linkedKeys: LinkedKeys
    private let writer: RecordTextWriter
    private let model: ManagedObjectModel
    /// The text `"name": ` for each column.
    private let keys: [[UInt8]]
    private let csv: CSVText
    private let header: [UInt8]

    /// Creates a writer.
    ///
    /// `names` are the column names in the text; by default, those in `columns`.
    package init(
        _ columns: RecordColumns, names: [String]? = nil, model: ManagedObjectModel, dates: DateForm = .seconds,
        csv: CSVText = CSVText()
    ) {
        let names = names ?? columns.columns.map(\.name)
        self.csv = csv
        self.columns = columns
        linkedKeys = LinkedKeys(columns)
        self.model = model
        writer = RecordTextWriter(model: model, dates: dates)
        keys = names.map { name in
            var key = TextBuffer()
            JSONText.append(name, to: &key)
            key.append(": ")
            return key.bytes
        }
        header = csv.header(names)
    }

    // MARK: JSON

    /// Appends the columns of a record as a JSON object, without a line break.
    ///
    /// - Throws: `corrupted`, as ``RecordTextWriter/append(_:entityKey:to:)`` does. After an error
    ///   the text is unchanged.
    package func appendJSON(_ record: RecordReader, to text: inout TextBuffer) throws(StoreError) {
        let start = text.count
        text.append(UInt8(ascii: "{"))
        do throws(StoreError) {
            for (index, column) in columns.columns.enumerated() {
                if index > 0 { text.append(", ") }
                text.append(contentsOf: keys[index])
                if column.relationship == nil {
                    try appendJSONValue(column, record: record, to: &text)
                } else {
                    appendKeys(index, of: record, to: &text)
                }
            }
        } catch {
            text.removeLast(text.count - start)
            throw error
        }
        text.append(UInt8(ascii: "}"))
    }

    private func appendJSONValue(
        _ column: RecordColumns.Column, record: RecordReader, to text: inout TextBuffer
    ) throws(StoreError) {
        switch column.content {
        case .key: JSONText.append(record.key, to: &text)
        case .version: JSONText.append(Int64(record.version), to: &text)
        case .entity: JSONText.append(model.entities[record.entityNumber].name.text, to: &text)
        case .field(let fields):
            guard let field = fields[record.entityNumber], !record.isNull(field) else {
                text.append("null")
                return
            }
            try writer.appendWhole(field, record: record, to: &text)
        case .links: break
        }
    }

    private func appendKeys(_ column: Int, of record: RecordReader, to text: inout TextBuffer) {
        text.append(UInt8(ascii: "["))
        for (index, key) in linkedKeys.keys(column, of: record.key).enumerated() {
            if index > 0 { text.append(", ") }
            JSONText.append(key, to: &text)
        }
        text.append(UInt8(ascii: "]"))
    }

    // MARK: CSV

    package func appendCSVHeader(to text: inout TextBuffer) { text.append(contentsOf: header) }

    /// Appends the columns of a record as a CSV line (RFC 4180, but ended by a line feed).
    ///
    /// A null value is an empty cell. An empty text is `""`.
    ///
    /// - Throws: `corrupted`, as ``RecordTextWriter/append(_:entityKey:to:)`` does. After an error
    ///   the text is unchanged.
    package func appendCSV(_ record: RecordReader, to text: inout TextBuffer) throws(StoreError) {
        let start = text.count
        do throws(StoreError) {
            for index in columns.columns.indices {
                if index > 0 { text.append(csv.separator) }
                let cell = text.count
                if try appendText(index, of: record, to: &text) { csv.quote(&text, from: cell) }
            }
        } catch {
            text.removeLast(text.count - start)
            throw error
        }
        csv.endLine(&text, from: start)
    }

    // MARK: Values

    /// Appends the value of a column as plain text: a string unchanged, other values as in JSON but
    /// without enclosing quotes.
    ///
    /// - Returns: False for null, which appends nothing.
    /// - Throws: `corrupted`, as ``RecordTextWriter/append(_:entityKey:to:)`` does.
    package func appendText(
        _ column: Int, of record: RecordReader, to text: inout TextBuffer
    ) throws(StoreError) -> Bool {
        switch columns.columns[column].content {
        case .key: JSONText.append(record.key, to: &text)
        case .version: JSONText.append(Int64(record.version), to: &text)
        case .entity: text.append(contentsOf: model.entities[record.entityNumber].name.text.utf8)
        case .field(let fields):
            guard let field = fields[record.entityNumber], !record.isNull(field) else { return false }
            try appendText(field, record: record, to: &text)
        case .links: appendKeys(column, of: record, to: &text)
        }
        return true
    }

    private func appendText(
        _ field: RecordLayout.Field, record: RecordReader, to text: inout TextBuffer
    ) throws(StoreError) {
        switch field.kind {
        case .string, .uri:
            let start = text.count
            text.append(contentsOf: record.bytes(field))
            guard record.bytes(field).isValidUTF8 else {
                text.removeLast(text.count - start)
                // Throws an error that describes the invalid value.
                return try writer.appendWhole(field, record: record, to: &text)
            }
        case .objectID, .polymorphicReference:
            guard let (entity, key) = record.reference(field), entity < model.entities.count else {
                return try writer.appendWhole(field, record: record, to: &text)
            }
            text.append(contentsOf: model.entities[entity].name.text.utf8)
            text.append(UInt8(ascii: "/"))
            JSONText.append(key, to: &text)
        default:
            let start = text.count
            try writer.appendWhole(field, record: record, to: &text)
            // JSON strings of the remaining kinds have no escapes, so removing the quotes is enough.
            if text.withBytes(from: start, { $0.first }) == UInt8(ascii: "\"") {
                text.removeSubrange(start..<start + 1)
                text.removeLast(1)
            }
        }
    }
}
