internal import Roost
internal import RoostCore
internal import RoostText

/// The output format of `roost fetch`, from `--format`, `--json` and `--dates`.
struct OutputFormat {
    let records: RecordFormat
    let dates: DateForm
    let csv: CSVText

    static let options = [
        CommandOption("format", letter: "f", value: "FORMAT", help: "table, json, jsonl or csv; the default is table."),
        CommandOption("json", help: "The same as --format=json."),
        CommandOption(
            "dates", value: "iso|seconds", help: "The form of dates in json, jsonl (default: seconds) and csv (iso)."),
    ]

    init(_ records: RecordFormat, dates: DateForm, csv: CSVText = CSVText()) {
        (self.records, self.dates, self.csv) = (records, dates, csv)
    }

    /// Reads the options.
    ///
    /// - Throws: `UsageError` for an unknown word, for two formats, and for `--dates` with tables.
    init(_ arguments: ParsedArguments) throws {
        let format = try Self.word("format", arguments: arguments, type: RecordFormat.self)
        guard !arguments.has("json") || format == nil || format == .json else {
            throw UsageError("options '--json' and '--format' ask for two formats; leave one out")
        }
        records = arguments.has("json") ? .json : format ?? .table
        let dates = try Self.word("dates", arguments: arguments, type: DateForm.self)
        guard dates == nil || records != .table else {
            throw UsageError("option '--dates' needs '--format=json', jsonl or csv; it does not apply to tables")
        }
        csv = CSVText()
        self.dates = dates ?? (records == .csv ? .iso : .seconds)
    }

    private static func word<Word: CaseIterable & RawRepresentable<String>>(
        _ option: String, arguments: ParsedArguments, type: Word.Type
    ) throws -> Word? {
        guard let text = arguments.value(option) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let names = Word.allCases.map(\.rawValue)
        let hint = nearestName(to: text, among: names).map { "; did you mean '\($0)'?" } ?? ""
        throw UsageError("option '--\(option)' needs one of \(names.joined(separator: ", "))\(hint)")
    }
}
