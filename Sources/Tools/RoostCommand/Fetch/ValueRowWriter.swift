internal import Foundation
internal import RoostCore
internal import RoostJSONText
internal import RoostQuery
internal import RoostText

/// A writer of rows of values as JSON objects or lines of CSV.
///
/// The values are exact, in the format of ``RecordTextWriter``. An ID is its key if the hierarchy
/// has one entity, otherwise `"Entity/key"`.
struct ValueRowWriter: Sendable {
    let columns: [String]
    /// For each column, the type of its values, or nil if each value has its own type.
    private let types: [AttributeType?]
    /// For each column, whether IDs contain their entity, or nil if this depends on the hierarchy.
    private let namesEntity: [Bool?]
    private let model: ManagedObjectModel
    private let dates: DateForm
    private let csv: CSVText
    /// For each column, the bytes of `"name": `.
    private let keys: [[UInt8]]

    init(
        columns: [String], types: [AttributeType?], namesEntity: [Bool?], model: ManagedObjectModel,
        format: OutputFormat
    ) {
        (self.columns, self.types, self.namesEntity, self.model) = (columns, types, namesEntity, model)
        (dates, csv) = (format.dates, format.csv)
        keys = columns.map { name in
            var key = TextBuffer()
            JSONText.append(name, to: &key)
            key.append(": ")
            return key.bytes
        }
    }

    /// Appends a row, including nulls, as a JSON object without line breaks.
    func appendJSON(_ batch: RowBatch, row: Int, to text: inout TextBuffer) {
        text.append(UInt8(ascii: "{"))
        for column in columns.indices {
            if column > 0 { text.append(", ") }
            text.append(contentsOf: keys[column])
            appendJSON(batch[row, column], column: column, to: &text)
        }
        text.append(UInt8(ascii: "}"))
    }

    func appendCSVHeader(to text: inout TextBuffer) {
        text.append(contentsOf: csv.header(columns))
    }

    /// Appends a row in the form of ``RecordRowWriter/appendCSV(_:to:)``.
    func appendCSV(_ batch: RowBatch, row: Int, to text: inout TextBuffer) {
        let start = text.count
        for column in columns.indices {
            if column > 0 { text.append(csv.separator) }
            let cell = text.count
            if appendText(batch[row, column], column: column, to: &text) { csv.quote(&text, from: cell) }
        }
        csv.endLine(&text, from: start)
    }

    /// Appends a string unchanged, or another value as in JSON without quotes.
    ///
    /// - Returns: False for null, for which nothing is appended.
    func appendText(_ value: Value, column: Int, to text: inout TextBuffer) -> Bool {
        switch value {
        case .null: return false
        case .string(let string), .uri(let string): text.append(contentsOf: string.utf8)
        case .objectID(let id) where containsEntity(id, column: column):
            text.append(contentsOf: "\(id.entity)/\(id.key)".utf8)
        default:
            let start = text.count
            appendJSON(value, column: column, to: &text)
            // The JSON strings of these types have no escapes.
            if text.withBytes(from: start, { $0.first }) == UInt8(ascii: "\"") {
                text.removeSubrange(start..<start + 1)
                text.removeLast(1)
            }
        }
        return true
    }

    private func containsEntity(_ id: ObjectID, column: Int) -> Bool {
        let root = model.entity(id.entity).map { model.entities[$0.root] }
        return namesEntity[column] ?? root?.hasSubentities ?? true
    }

    private func appendJSON(_ value: Value, column: Int, to text: inout TextBuffer) {
        switch value {
        case .null: text.append("null")
        case .bool(let flag): text.append(flag ? "true" : "false")
        case .int(let number): JSONText.append(number, to: &text)
        case .double(let number):
            // A float has a shorter exact text than the equal double.
            if types[column] == .float {
                JSONText.append(Float(number), to: &text)
            } else {
                JSONText.append(number, to: &text)
            }
        case .date(let date): dates.append(date.timeIntervalSinceReferenceDate, to: &text)
        case .decimal(let decimal): JSONText.append(DecimalNumber(decimal) ?? .nan, to: &text)
        case .string(let string), .uri(let string): JSONText.append(string, to: &text)
        case .data(let data): JSONText.append(data: data, to: &text)
        case .uuid(let uuid): JSONText.append(uuid.uuidString, to: &text)
        case .objectID(let id):
            guard containsEntity(id, column: column) else { return JSONText.append(id.key, to: &text) }
            JSONText.append("\(id.entity)/\(id.key)", to: &text)
        case .composite(let elements):
            text.append(UInt8(ascii: "{"))
            for (index, element) in elements.filter({ !$0.value.isNull }).sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { text.append(", ") }
                JSONText.append(element.key, to: &text)
                text.append(": ")
                appendJSON(element.value, column: column, to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }
}
