internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// An output of records to standard output, batch by batch.
protocol RecordOutput {
    mutating func write(_ batch: RecordBatch) throws
    /// Writes the end of the output, after the last record.
    mutating func end() throws
}

enum RecordFormat: String, CaseIterable {
    case table, json, jsonl, csv
}

/// Records as a JSON list, or as JSON Lines.
struct JSONOutput: RecordOutput {
    private let append: (RecordReader, inout TextBuffer) throws(StoreError) -> Void
    private let isList: Bool
    private let console: Console
    private var count = 0

    init(
        isList: Bool, console: Console,
        _ append: @escaping (RecordReader, inout TextBuffer) throws(StoreError) -> Void
    ) {
        self.append = append
        self.isList = isList
        self.console = console
    }

    mutating func write(_ batch: RecordBatch) throws {
        var text = TextBuffer()
        try batch.forEachRecord { record in
            if isList { text.append(count == 0 ? "[\n" : ",\n") }
            try append(record, &text)
            if !isList { text.append(UInt8(ascii: "\n")) }
            count += 1
        }
        try console.write(text.bytes)
    }

    mutating func end() throws {
        if isList { try console.write(Array((count == 0 ? "[]\n" : "\n]\n").utf8)) }
    }
}

/// Records as comma-separated values, after a line of column names.
struct CSVOutput: RecordOutput {
    private let rows: RecordRowWriter
    private let console: Console
    private var hasBegun = false

    init(_ rows: RecordRowWriter, console: Console) {
        self.rows = rows
        self.console = console
    }

    mutating func write(_ batch: RecordBatch) throws {
        var text = TextBuffer()
        begin(&text)
        try batch.forEachRecord { try rows.appendCSV($0, to: &text) }
        try console.write(text.bytes)
    }

    mutating func end() throws {
        var text = TextBuffer()
        begin(&text)
        try console.write(text.bytes)
    }

    private mutating func begin(_ text: inout TextBuffer) {
        guard !hasBegun else { return }
        hasBegun = true
        rows.appendCSVHeader(to: &text)
    }
}
