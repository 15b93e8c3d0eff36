internal import Foundation
internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostImport
internal import RoostMigration
internal import RoostStores
internal import RoostSystem

extension Subcommand {
    static let importData = Subcommand(
        name: "import", summary: "Bring in a CSV or JSON file, or any SQLite or PostgreSQL database.",
        usage: "SOURCE STORE",
        argumentCount: 2...2,
        discussion: """
            Makes an object of ENTITY from each row of SOURCE: a file of comma-separated values, a JSON array of objects, or JSON
            Lines; - is standard input. The format is the extension of the file (csv, tsv, json, jsonl, ndjson), or --format.

            Into a new STORE: the model is inferred from all rows, or is that of --model. All columns become attributes: whole
            numbers, numbers, true and false, dates (2024-05-01, 2024-05-01T12:30:00Z), UUIDs, otherwise text; an empty cell is
            null. --dry-run shows the model, and --save-model=FILE writes it to be edited and passed to --model. The new store is
            verified before it gets its name.

            Into an existing STORE: each column needs a property of the same name in the entity, or --without=COLUMN. Either all
            rows are inserted, or none. With --key=COLUMN,... a row updates the object with the same values instead of inserting
            another. The entity needs a uniqueness constraint of these properties, and rows are written 20000 at a time.

            --relate=artist:Artist.name reads the cells of the column artist as names of artists, and relates each object to the
            Artist with that name. A missing Artist is inserted first, and stays if its row fails later. A column of a
            relationship without --relate contains keys of objects.

            SOURCE can also be a database of any program, for a new STORE: an SQLite database (sqlite:shop.db, or a database file),
            or a schema on a PostgreSQL server (postgresql://user@host/database?schema=shop; the schema is public if none is
            named). Tables become entities, and foreign keys become relationships with inverses. A table of two foreign keys becomes
            a many-to-many relationship, and a unique index becomes a constraint. A column has its declared type if all rows fit
            it. --dry-run shows the result for each table and column, and the report counts and names values that cannot be kept.
            In the model of --save-model, importedFrom names the table or column of each entity and property, so you can rename
            these. For a database, the options --model, --save-model, --dry-run, --overwrite and --timeout can be used. With --json,
            the import of a database prints the report of 'roost convert'.

            With --json, the import of a file prints one object: source, destination, entity, rows, inserted, related, leftOut,
            seconds, warnings [text]. With --dry-run, rows counts the rows that can become objects, and inserted is 0. A dry run that
            infers a model or reads a database prints the plan instead: tables [{name, entity, rows, columns [{name, property, type,
            remark}], remarks [text]}], remarks [text].
            """,
        options: [
            CommandOption("entity", value: "ENTITY", help: "The entity of the objects (default: the file's name)."),
            CommandOption("format", value: "csv|tsv|json|jsonl", help: "The format of SOURCE."),
            CommandOption(
                "key", value: "COLUMN,...", help: "Update objects with the same values instead of inserting."),
            CommandOption(
                "relate", value: "COLUMN:ENTITY.ATTRIBUTE,...",
                help: "Read cells as values of an attribute of related objects."),
            CommandOption("without", value: "COLUMN,...", help: "Leave columns out."),
            CommandOption(
                "delimiter", value: "CHARACTER",
                help: "The character between cells (default: found in the first line)."),
            CommandOption("no-header", help: "Read values from the first row; columns are column1, column2 and so on."),
            CommandOption(
                "encoding", value: "NAME", help: "utf-8, utf-16, utf-16le, utf-16be, latin1 or windows-1252."),
            CommandOption(
                "decimal", value: "CHARACTER", help: "The sign before a fraction, a point (.) or a comma (,)."),
            CommandOption("date-format", value: "PATTERN", help: "The form of dates, as in dd.MM.yyyy HH:mm."),
            CommandOption(
                "timezone", value: "NAME", help: "The zone of times without one, as in Europe/Berlin (default: UTC)."
            ),
            CommandOption(
                "on-error", value: "stop|skip|report",
                help: "The treatment of a faulty row (default: stop)."),
            CommandOption("model", letter: "m", value: "FILE", help: "The model of a new store."),
            CommandOption("save-model", value: "FILE", help: "Write the model of a new store to FILE."),
            CommandOption("dry-run", help: "Read SOURCE, show the model, and write no store."),
            CommandOption("overwrite", help: "Replace an existing store, once the new one is complete."),
            CommandOption(
                "timeout", value: "SECONDS", help: "How long to wait for a store that is in use (default: 10)."),
            .json, .quiet, .verbose,
        ],
        examples: [
            "roost import tracks.csv sqlite:music.sqlite --entity=Track --dry-run",
            "roost import tracks.csv music.sqlite --entity=Track --key=id --relate=artist:Artist.name",
            "roost import sqlite:shop.db lmdb:shop.lmdb --dry-run",
            "roost import postgresql://ada@db.example.org/shop sqlite:shop.sqlite",
            "roost import - lmdb:log.lmdb --entity=Event --format=jsonl < events.jsonl",
        ],
        run: runImport)

    private struct Imported: Encodable {
        var source: String
        var destination: String
        var entity: String
        var rows: Int
        var inserted: Int
        var related: Int
        var leftOut: Int
        var seconds: Double
        var warnings: [String]

        var text: String {
            var lines = ["imported  \(rows) \(rows == 1 ? "row" : "rows") of \(source) into \(destination)"]
            lines.append("inserted  \(inserted) \(inserted == 1 ? "object" : "objects") of \(entity)")
            if rows > inserted { lines.append("matched   \(rows - inserted) rows with existing objects") }
            if related > 0 { lines.append("related   \(related) objects inserted for --relate") }
            lines.append("seconds   \((seconds * 1000).rounded() / 1000)")
            lines += warnings.map { "warning   \($0)" }
            return lines.joined(separator: "\n")
        }
    }

    private struct TextRun {
        let input: ImportInput
        let options: TextImportOptions
        let faults: FaultyRowList
        let cancellation: ConversionCancellation
        let arguments: ParsedArguments
        let console: Console
        let start = ContinuousClock.now

        func content(_ model: ManagedObjectModel?) throws(StoreError) -> TextImport {
            let cancellation = cancellation
            return try TextImport(input, options: options, model: model, faults: faults) { () throws(StoreError) in
                try cancellation.check()
            }
        }

        func report(_ result: TextImport.Result, of content: TextImport, destination: String) -> Imported {
            Imported(
                source: input.name, destination: destination, entity: options.entity, rows: result.rows,
                inserted: result.inserted, related: result.related, leftOut: faults.count,
                seconds: (ContinuousClock.now - start).inSeconds, warnings: content.warnings())
        }
    }

    @Sendable private static func runImport(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let (source, text) = (arguments.positions[0], arguments.positions[1])
        if let database = ImportArguments.database(source) {
            return try importDatabase(database, into: text, arguments: arguments, console: console)
        }
        let options = try ImportArguments.options(source, arguments: arguments)
        let existing = try ImportArguments.existingStore(text, arguments: arguments)
        let cancellation = ConversionCancellation()
        return try Interruption.shared.cancelling(cancellation) {
            let run = TextRun(
                input: try ImportArguments.input(source, cancellation: cancellation), options: options,
                faults: FaultyRowList(options.faultyRows) { console.printError($0) }, cancellation: cancellation,
                arguments: arguments, console: console)
            guard let existing else { return try makeStore(text, run: run) }
            return try insertRows(into: existing, run: run)
        }
    }

    /// Inserts the rows, or only reads them for a dry run.
    private static func insertRows(into store: PersistentStoreDescription, run: TextRun) throws -> ExitCode {
        let isLook = run.arguments.has("dry-run")
        let description = isLook ? store.readOnly : store
        let store = try StoreRegistry.standard.open(description)
        var isPrepared = false
        let imported: Imported
        do throws(StoreError) {
            imported = try store.closing { () throws(StoreError) in
                let content = try run.content(store.model)
                isPrepared = true
                var result = TextImport.Result()
                if isLook {
                    result.rows = try content.look()
                } else {
                    result = try content.insert(into: store, author: "roost import")
                }
                return run.report(result, of: content, destination: description.location.description)
            }
        } catch {
            guard !isPrepared else { throw error }
            // Unknown names in the arguments or in the header are usage errors.
            let failure = error
            return try UsageError.requesting { () throws(StoreError) -> ExitCode in throw failure }
        }
        return try printReport(imported, run: run)
    }

    /// Prints the report of an import, or the row counts of a dry run without `--json`.
    private static func printReport(_ imported: Imported, run: TextRun) throws -> ExitCode {
        guard run.arguments.has("dry-run"), !run.arguments.has("json") else {
            try run.console.printReport(
                imported, text: imported.text, warnings: imported.warnings, arguments: run.arguments)
            return .success
        }
        let (count, leftOut) = (imported.rows, imported.leftOut)
        let left = leftOut == 0 ? "" : ", \(leftOut) cannot"
        try run.console.print(
            "\(count) \(count == 1 ? "row" : "rows") can become objects of '\(imported.entity)'\(left); nothing was written."
        )
        return .success
    }

    /// Creates a new store, or shows its model for a dry run.
    private static func makeStore(_ text: String, run: TextRun) throws -> ExitCode {
        let model = try run.arguments.value("model").map { path in
            try UsageError.readingModel(at: path, version: nil) { try ModelFile.read(path).model }
        }
        let destination = try StoreArguments.newStore(text, arguments: run.arguments)
        let content = try UsageError.requesting { try run.content(model) }
        try ImportArguments.saveModel(content.model, arguments: run.arguments)
        if run.arguments.has("dry-run") {
            if model == nil { try ImportArguments.show(content.plan, arguments: run.arguments, console: run.console) }
            var result = TextImport.Result()
            result.rows = try content.look()
            // With --json, the plan of an inferred model is the whole output.
            if model == nil, run.arguments.has("json") { return .success }
            return try printReport(run.report(result, of: content, destination: "\(destination.location)"), run: run)
        }
        return try printReport(try makeStore(destination, content: content, run: run), run: run)
    }

    private static func makeStore(
        _ destination: PersistentStoreDescription, content: TextImport, run: TextRun
    ) throws -> Imported {
        let (arguments, console, faults) = (run.arguments, run.console, run.faults)
        let progress = ProgressLine(console)
        var options = try ImportArguments.conversion(destination, arguments: arguments)
        options.cancellation = run.cancellation
        if !arguments.has("quiet"), console.showsProgress { options.onProgress = { progress.show($0) } }
        defer { progress.clear() }
        let manager = MigrationManager(registry: .standard)
        let entity = content.entityName
        if content.canBeSent {
            let report = try manager.make(
                .location(destination.location), of: content, named: content.sourceName, options: options)
            return Imported(
                source: report.source, destination: report.destination, entity: entity, rows: report.objects,
                inserted: report.objects, related: 0, leftOut: faults.count, seconds: report.seconds,
                warnings: report.warnings)
        }
        let result = Mutex(TextImport.Result())
        let report = try manager.make(
            .location(destination.location), model: content.model, named: content.sourceName, options: options
        ) { (store) throws(StoreError) in
            let written = try content.insert(into: store, isNew: true)
            result.withLock { $0 = written }
            return content.warnings()
        }
        let written = result.withLock { $0 }
        return Imported(
            source: report.source, destination: report.destination, entity: entity, rows: written.rows,
            inserted: written.inserted, related: written.related, leftOut: faults.count, seconds: report.seconds,
            warnings: report.warnings)
    }
}
