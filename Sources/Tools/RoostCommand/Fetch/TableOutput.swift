internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// Records as a table for people, with one batch in memory.
struct TableOutput: RecordOutput {
    private let rows: RecordRowWriter
    private var printer: TablePrinter

    init(_ rows: RecordRowWriter, style: TableStyle, console: Console) {
        self.rows = rows
        printer = TablePrinter(
            rows.columns.columns.map(\.name), alignsRight: rows.columns.columns.map(\.isNumeric), style: style,
            console: console)
    }

    mutating func write(_ batch: RecordBatch) throws {
        var cells: [[TablePrinter.Cell]] = []
        cells.reserveCapacity(batch.count)
        try batch.forEachRecord { record in
            cells.append(try rows.columns.columns.indices.map { try cell($0, record: record) })
        }
        try printer.write(cells)
    }

    mutating func end() throws {}

    private func cell(_ column: Int, record: RecordReader) throws -> TablePrinter.Cell {
        if rows.columns.columns[column].relationship != nil {
            return TablePrinter.Cell(Self.list(rows.linkedKeys.keys(column, of: record.key)))
        }
        guard let field = rows.columns.columns[column].field(of: record) else {
            return try plain(column, record: record)
        }
        if record.isNull(field) { return .null }
        switch field.kind {
        case .data, .transformable: return .bytes(record.bytes(field).count)
        case .date:
            return try DateText.shortText(record.double(field)).map { TablePrinter.Cell($0) }
                ?? plain(column, record: record)
        case .string, .uri:
            return .told(
                VisibleText.of(String(decoding: record.bytes(field).prefix(printer.byteLimit), as: UTF8.self)))
        default: return try plain(column, record: record)
        }
    }

    /// Returns the first keys, then the count of all keys in parentheses: `3, 7 (2)`.
    private static func list(_ keys: [Int64]) -> String {
        let limit = 8
        let first = keys.prefix(limit).map(String.init).joined(separator: ", ")
        return keys.isEmpty ? "(0)" : "\(first)\(keys.count > limit ? ", …" : "") (\(keys.count))"
    }

    private func plain(_ column: Int, record: RecordReader) throws -> TablePrinter.Cell {
        var cell = TextBuffer()
        _ = try rows.appendText(column, of: record, to: &cell)
        return TablePrinter.Cell(VisibleText.of(cell.withBytes { String(decoding: $0, as: UTF8.self) }))
    }
}
