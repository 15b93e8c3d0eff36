internal import Foundation
internal import RoostCore
internal import RoostJSONText
internal import RoostQuery
internal import RoostText

/// An output of rows of values, in any format of `roost fetch`.
struct RowOutput {
    private let rows: ValueRowWriter
    private let format: RecordFormat
    private let console: Console
    private let types: [AttributeType?]
    /// The printer of a table, created with the first batch, which determines the alignment.
    private var printer: TablePrinter?
    private var count = 0

    init(_ rows: ValueRowWriter, types: [AttributeType?], format: RecordFormat, console: Console) {
        (self.rows, self.types, self.format, self.console) = (rows, types, format, console)
    }

    mutating func write(_ batch: RowBatch) throws {
        guard format != .table else { return try writeTable(batch) }
        var text = TextBuffer()
        if format == .csv, count == 0 { rows.appendCSVHeader(to: &text) }
        for row in 0..<batch.count {
            switch format {
            case .json:
                text.append(count == 0 ? "[\n" : ",\n")
                rows.appendJSON(batch, row: row, to: &text)
            case .jsonl:
                rows.appendJSON(batch, row: row, to: &text)
                text.append(UInt8(ascii: "\n"))
            default: rows.appendCSV(batch, row: row, to: &text)
            }
            count += 1
        }
        try console.write(text.bytes)
    }

    /// Writes the end of the output, and the header of a CSV file without rows.
    mutating func end() throws {
        if count == 0, format == .csv { try write(RowBatch()) }
        if format == .json { try console.write(Array((count == 0 ? "[]\n" : "\n]\n").utf8)) }
    }

    // MARK: Tables

    private mutating func writeTable(_ batch: RowBatch) throws {
        if printer == nil {
            let alignsRight = rows.columns.indices.map { column in
                let values = (0..<batch.count).lazy.map { batch[$0, column] }.filter { !$0.isNull }
                return values.isEmpty ? types[column].isNumber : values.allSatisfy(\.isNumber)
            }
            printer = TablePrinter(rows.columns, alignsRight: alignsRight, style: console.tableStyle, console: console)
        }
        guard !batch.isEmpty, var printer else { return }
        let limit = printer.byteLimit
        try printer.write(
            (0..<batch.count).map { row in
                rows.columns.indices.map { rows.cell(batch[row, $0], column: $0, byteLimit: limit) }
            })
        self.printer = printer
    }
}

extension ValueRowWriter {
    /// Returns a value as a cell, which shows at most `byteLimit` bytes of a text.
    func cell(_ value: Value, column: Int, byteLimit: Int) -> TablePrinter.Cell {
        switch value {
        case .null: return .null
        case .data(let data): return .bytes(data.count)
        case .string(let text), .uri(let text):
            return .told(VisibleText.of(String(decoding: text.utf8.prefix(byteLimit), as: UTF8.self)))
        case .date(let date):
            if let text = DateText.shortText(date.timeIntervalSinceReferenceDate) { return TablePrinter.Cell(text) }
        default: break
        }
        var cell = TextBuffer()
        _ = appendText(value, column: column, to: &cell)
        return TablePrinter.Cell(VisibleText.of(cell.withBytes { String(decoding: $0, as: UTF8.self) }))
    }
}

extension AttributeType? {
    /// Whether a column without values is aligned to the right.
    fileprivate var isNumber: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, nil: true
        default: false
        }
    }
}

extension Value {
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .double, .decimal: true
        default: false
        }
    }
}
