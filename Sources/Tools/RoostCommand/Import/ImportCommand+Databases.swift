internal import Roost
internal import RoostCore
internal import RoostImport
internal import RoostMigration

extension Subcommand {
    /// The options for texts.
    private static let textOptions = [
        "entity", "format", "key", "relate", "without", "delimiter", "encoding", "decimal", "date-format", "timezone",
        "on-error",
    ]

    /// Creates a new store from a foreign SQLite database.
    static func importDatabase(
        _ path: String, into text: String, arguments: ParsedArguments, console: Console
    ) throws -> ExitCode {
        #if SQLite
            for option in textOptions where arguments.value(option) != nil {
                throw UsageError("option '--\(option)' is for texts, and '\(path)' is an SQLite database")
            }
            guard !arguments.has("no-header") else {
                throw UsageError("option '--no-header' is for texts, and '\(path)' is an SQLite database")
            }
            guard try ImportArguments.existingStore(text, arguments: arguments) == nil else {
                throw UsageError(
                    "'\(text)' exists, and a database becomes a new store; --overwrite replaces it, or choose another path"
                )
            }
            let cancellation = ConversionCancellation()
            return try Interruption.shared.cancelling(cancellation) {
                let model = try arguments.value("model").map { path in
                    try UsageError.readingModel(at: path, version: nil) { try ModelFile.read(path).model }
                }
                let content = try UsageError.requesting {
                    try DatabaseImport(sqlite: path, model: model) { () throws(StoreError) in try cancellation.check() }
                }
                try ImportArguments.saveModel(content.model, arguments: arguments)
                if arguments.has("dry-run") {
                    try ImportArguments.show(content.plan, arguments: arguments, console: console)
                    return .success
                }
                let destination = try StoreArguments.newStore(text, arguments: arguments)
                try StoreArguments.requireDifferent(
                    StoreLocation(type: "sqlite", path: path), destination: destination.location)
                let progress = ProgressLine(console)
                defer { progress.clear() }
                var options = try ImportArguments.conversion(destination, arguments: arguments)
                options.cancellation = cancellation
                if !arguments.has("quiet"), console.showsProgress { options.onProgress = { progress.show($0) } }
                let report = try MigrationManager(registry: .standard).make(
                    .location(destination.location), of: content, named: path, options: options)
                progress.clear()
                try console.printReport(
                    report, text: report.description, warnings: report.warnings, arguments: arguments)
                return .success
            }
        #else
            throw UsageError("'\(path)' is an SQLite database, and this program was built without SQLite")
        #endif
    }
}
