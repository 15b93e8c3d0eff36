internal import Foundation
internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostImport
internal import RoostMigration
internal import RoostSystem

/// The arguments of `roost import`.
enum ImportArguments {
    static func options(_ source: String, arguments: ParsedArguments) throws -> TextImportOptions {
        let format = try format(source, arguments: arguments)
        var options = TextImportOptions(entity: try entity(source, arguments: arguments), format: format)
        options.hasHeader = !arguments.has("no-header")
        options.key = list("key", arguments: arguments)
        options.leftOut = Set(list("without", arguments: arguments))
        options.relations = try list("relate", arguments: arguments).map(relation)
        options.datePattern = arguments.value("date-format")
        if let text = arguments.value("delimiter") {
            let bytes = Array((text == "\\t" ? "\t" : text).utf8)
            guard bytes.count == 1, let byte = bytes.first, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\n")
            else {
                throw UsageError("option '--delimiter' needs one character of ASCII, such as ; or \\t")
            }
            options.delimiter = byte
        }
        if let text = arguments.value("decimal") {
            guard text == "." || text == "," else { throw UsageError("option '--decimal' needs . or ,") }
            options.hasDecimalComma = text == ","
        }
        if let text = arguments.value("encoding") {
            guard let encoding = TextEncoding(rawValue: text.lowercased()) else {
                let names = TextEncoding.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("'\(text)' is not an encoding that can be read; choose one of \(names)")
            }
            options.encoding = encoding
        }
        if let text = arguments.value("timezone") {
            guard let zone = TimeZone(identifier: text) else {
                throw UsageError("'\(text)' is not the name of a time zone, such as Europe/Berlin or UTC")
            }
            options.timeZone = zone
        }
        if let text = arguments.value("on-error") {
            guard let faultyRows = TextImportOptions.FaultyRows(rawValue: text) else {
                throw UsageError("option '--on-error' needs stop, skip or report")
            }
            options.faultyRows = faultyRows
        }
        return options
    }

    private static func list(_ option: String, arguments: ParsedArguments) -> [String] {
        arguments.allValues(option).flatMap { $0.split(separator: ",").map(String.init) }
    }

    /// Returns the database that is the source, or nil for a text file.
    static func database(_ source: String) -> ImportedDatabase? {
        if source.hasPrefix("sqlite:") { return .sqlite(String(source.dropFirst("sqlite:".count))) }
        // Case does not matter. If `POSTGRES:…` were read as a path, messages would show its password.
        for scheme in ["postgresql:", "postgres:"] where source.lowercased().hasPrefix(scheme) {
            return .postgreSQL(String(source.dropFirst(scheme.count)))
        }
        guard source != "-", let start = StoreFile.read(prefix: 16, of: source) else { return nil }
        return start.elementsEqual("SQLite format 3\0".utf8) ? .sqlite(source) : nil
    }

    /// Parses a relation, such as `artist:Artist.name`.
    private static func relation(_ text: String) throws -> TextImportOptions.Relation {
        guard let colon = text.lastIndex(of: ":"), let dot = text[colon...].firstIndex(of: "."),
            colon > text.startIndex, text.index(after: colon) < dot, text.index(after: dot) < text.endIndex
        else {
            throw UsageError("'\(text)' is not a relation; write COLUMN:ENTITY.ATTRIBUTE, as in artist:Artist.name")
        }
        return TextImportOptions.Relation(
            column: String(text[..<colon]), entity: String(text[text.index(after: colon)..<dot]),
            attribute: String(text[text.index(after: dot)...]))
    }

    private static func format(_ source: String, arguments: ParsedArguments) throws -> TextImportOptions.Format {
        if let text = arguments.value("format") {
            guard let format = TextImportOptions.Format(rawValue: text == "ndjson" ? "jsonl" : text) else {
                throw UsageError("'\(text)' is not a format that can be imported; choose one of csv, tsv, json, jsonl")
            }
            return format
        }
        let suffix = source.split(separator: ".").last.map { $0.lowercased() } ?? ""
        if suffix == "ndjson" { return .jsonl }
        if suffix == "txt" { return .csv }
        guard source != "-", let format = TextImportOptions.Format(rawValue: suffix) else {
            throw UsageError("'\(source)' does not say its format; add --format=csv, tsv, json or jsonl")
        }
        return format
    }

    /// Returns the name of the rows' entity, such as `Tracks` for `tracks.csv`.
    private static func entity(_ source: String, arguments: ParsedArguments) throws -> String {
        if let name = arguments.value("entity") { return name }
        let file = source.split(separator: "/").last ?? ""
        let stem = file.split(separator: ".").first.map(String.init) ?? ""
        let letters = stem.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined()
        guard source != "-", let first = letters.first, first.isLetter else {
            throw UsageError("the entity of the rows is not known; add --entity=NAME")
        }
        return letters
    }

    /// Returns the existing store, or nil if a new store is to be created.
    static func existingStore(_ text: String, arguments: ParsedArguments) throws -> PersistentStoreDescription? {
        guard !arguments.has("overwrite") else { return nil }
        guard var store = try StoreArguments.typedStore(text, arguments: arguments) else { return nil }
        let type = try StoreRegistry.standard.type(named: store.location.type)
        do throws(StoreError) {
            _ = try type.metadata(at: store.location, options: store.options)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
        if let seconds = try arguments.integer("timeout", minimum: 0) { store.options.timeoutSeconds = Double(seconds) }
        guard arguments.value("model") == nil else {
            throw UsageError(
                "'\(text)' already has a model, and --model is for a new store; leave out --model, or replace the store with --overwrite"
            )
        }
        return store
    }

    /// Opens a file, or a temporary copy of standard input, which can be read twice.
    static func input(_ source: String, cancellation: ConversionCancellation) throws(StoreError) -> ImportInput {
        guard source == "-" else { return try ImportInput(path: source) }
        return try ImportInput(
            spooling: StandardInput.name, inOneOf: [SpillFile.systemDirectory, "/var/tmp", "/tmp"]
        ) { (buffer) throws(StoreError) in try StandardInput.read(into: buffer, cancellation: cancellation) }
    }

    static func conversion(
        _ destination: PersistentStoreDescription, arguments: ParsedArguments
    ) throws -> ConversionOptions {
        var options = ConversionOptions(overwrites: arguments.has("overwrite"))
        options.destinationTypeOptions = destination.options.typeOptions
        if let seconds = try arguments.integer("timeout", minimum: 0) { options.timeoutSeconds = Double(seconds) }
        return options
    }

    /// Writes the model to the file of `--save-model`.
    static func saveModel(_ model: ManagedObjectModel, arguments: ParsedArguments) throws {
        guard let path = arguments.value("save-model") else { return }
        try StoreFile.write(model.document(), as: path, overwriting: false)
    }

    static func show(_ plan: ImportPlan, arguments: ParsedArguments, console: Console) throws {
        if arguments.has("json") { return try console.printJSON(plan) }
        for table in plan.tables {
            try console.print(
                VisibleText.of(
                    "\(table.name): \(table.rows) rows\(table.entity.map { ", each an object of \($0)" } ?? "")"))
            var lines = TextTable([
                ("COLUMN", .leading), ("PROPERTY", .leading), ("TYPE", .leading), ("REMARK", .leading),
            ])
            for column in table.columns {
                let cells = [column.name, column.property ?? "–", column.type ?? "–", column.remark ?? ""]
                lines.append(cells.map { VisibleText.of($0) })
            }
            try console.print(lines.description)
            for remark in table.remarks { try console.print(VisibleText.of(remark)) }
        }
        for remark in plan.remarks { try console.print(VisibleText.of(remark)) }
    }
}
