internal import Roost
internal import RoostCore
internal import RoostImport
internal import RoostMigration

/// A database of another program, as an argument.
enum ImportedDatabase {
    /// The path of an SQLite file.
    case sqlite(String)
    /// A location in PostgreSQL: a URL without its scheme, or parameters of libpq.
    case postgreSQL(String)

    /// The kind of the database; messages omit the location, which may contain a password.
    var kind: String {
        switch self {
        case .sqlite: "an SQLite database"
        case .postgreSQL: "a PostgreSQL database"
        }
    }

    /// The location, to be compared with the destination.
    fileprivate var location: StoreLocation {
        switch self {
        case .sqlite(let path): StoreLocation(type: "sqlite", path: path)
        case .postgreSQL(let path): StoreLocation(type: "postgresql", path: path)
        }
    }

    /// Reads the database, and infers a model if `model` is nil.
    fileprivate func content(
        _ model: ManagedObjectModel?, arguments: ParsedArguments, cancellation: ConversionCancellation
    ) throws -> DatabaseImport {
        switch self {
        case .sqlite(let path):
            #if SQLite
                return try UsageError.requesting {
                    try DatabaseImport(sqlite: path, model: model) { () throws(StoreError) in
                        try cancellation.check()
                    }
                }
            #else
                throw UsageError("'\(path)' is an SQLite database, and this program was built without SQLite")
            #endif
        case .postgreSQL(let path):
            #if PostgreSQL
                let timeout = try arguments.integer("timeout", minimum: 0).map(Double.init) ?? 10
                return try UsageError.requesting {
                    try DatabaseImport(postgreSQL: path, timeoutSeconds: timeout, model: model) {
                        () throws(StoreError) in try cancellation.check()
                    }
                }
            #else
                _ = path
                throw UsageError("the source is a PostgreSQL database, and this program was built without PostgreSQL")
            #endif
        }
    }
}

extension Subcommand {
    /// The options that apply only to text files, except the flag `no-header`.
    private static let textOptions = [
        "entity", "format", "key", "relate", "without", "delimiter", "encoding", "decimal", "date-format", "timezone",
        "on-error",
    ]

    static func importDatabase(
        _ database: ImportedDatabase, into text: String, arguments: ParsedArguments, console: Console
    ) throws -> ExitCode {
        for option in textOptions where arguments.value(option) != nil {
            throw UsageError("option '--\(option)' is only for text files, but the source is \(database.kind)")
        }
        guard !arguments.has("no-header") else {
            throw UsageError("option '--no-header' is only for text files, but the source is \(database.kind)")
        }
        guard try ImportArguments.existingStore(text, arguments: arguments) == nil else {
            throw UsageError(
                "'\(text)' exists, but a database is imported into a new store; replace the store with --overwrite, or choose another path"
            )
        }
        let destination = try StoreArguments.newStore(text, arguments: arguments)
        try StoreArguments.requireDifferent(database.location, destination: destination.location)
        let cancellation = ConversionCancellation()
        return try Interruption.shared.cancelling(cancellation) {
            let model = try arguments.value("model").map { path in
                try UsageError.readingModel(at: path, version: nil) { try ModelFile.read(path).model }
            }
            let content = try database.content(model, arguments: arguments, cancellation: cancellation)
            try ImportArguments.saveModel(content.model, arguments: arguments)
            if arguments.has("dry-run") {
                try ImportArguments.show(content.plan, arguments: arguments, console: console)
                return .success
            }
            let progress = ProgressLine(console)
            defer { progress.clear() }
            var options = try ImportArguments.conversion(destination, arguments: arguments)
            options.cancellation = cancellation
            if !arguments.has("quiet"), console.showsProgress { options.onProgress = { progress.show($0) } }
            let report = try MigrationManager(registry: .standard).make(
                .location(destination.location), of: content, named: content.name, options: options)
            progress.clear()
            try console.printReport(
                report, text: report.description, warnings: report.warnings, arguments: arguments)
            return .success
        }
    }
}
