internal import Roost
internal import RoostCore
internal import RoostText

extension Subcommand {
    static let export = Subcommand(
        name: "export", summary: "Write the objects of an entity as CSV or JSON Lines.", usage: "STORE ENTITY",
        argumentCount: 2...2,
        discussion: """
            Writes a row for each object of ENTITY and of its subentities to standard output, for other programs and for
            'roost import'. Without --select the columns are the key (id), the entity if it can differ, all attributes, the
            elements of composites (label.city), and to-one relationships with the keys of their objects. An attribute with the
            name id, entity or version replaces the column of that name. To-many relationships are left out, with a note on standard
            error; --select='title, artist.name AS artist' chooses other columns, with the expressions of 'roost fetch'.

            Dates are exact and in ISO 8601, data are base64, decimal numbers have all digits. In csv and tsv, an empty cell is NULL,
            and "" is an empty text; in jsonl, NULL is null. If there is only one column, NULL in csv and tsv is a line with only
            the separator, because 'roost import' skips empty lines.

            All rows come from one consistent state, also while other programs write.
            """,
        options: [
            CommandOption("format", letter: "f", value: "csv|tsv|jsonl", help: "The format (default: csv)."),
            CommandOption("select", letter: "s", value: "LIST", help: "The columns, separated by commas."),
            CommandOption("where", letter: "w", value: "PREDICATE", help: "The condition that objects must meet."),
            CommandOption("sort", value: "LIST", help: "The order (default: by key)."),
            CommandOption("limit", letter: "l", value: "N", help: "Write at most N objects."),
            CommandOption("offset", value: "N", help: "Skip the first N objects (default: 0)."),
            .quiet, .verbose,
        ] + StoreArguments.openingOptions,
        examples: [
            "roost export music.sqlite Album > albums.csv",
            "roost export music.sqlite Album --select='title, artist.name AS artist' --format=tsv > albums.tsv",
        ],
        run: runExport)

    private enum ExportFormat: String, CaseIterable {
        case csv, tsv, jsonl

        var output: OutputFormat {
            switch self {
            case .csv: OutputFormat(.csv, dates: .iso, csv: CSVText(marksNullLines: true))
            case .tsv:
                OutputFormat(.csv, dates: .iso, csv: CSVText(separator: UInt8(ascii: "\t"), marksNullLines: true))
            case .jsonl: OutputFormat(.jsonl, dates: .iso)
            }
        }
    }

    @Sendable private static func runExport(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let name = arguments.value("format") ?? ExportFormat.csv.rawValue
        guard let format = ExportFormat(rawValue: name) else {
            throw UsageError("option '--format' needs one of csv, tsv, jsonl, not '\(name)'")
        }
        return try StoreArguments.withStore(arguments.positions[0], arguments: arguments) { store in
            let entity = try StoreFetch.entity(arguments.positions[1], model: store.model)
            let fetch = try UsageError.reading {
                try StoreFetch(store, arguments: arguments, details: .init(usual: columns(of: entity, in: store.model)))
            }
            try fetch.print(format.output, console: console)
            let lists = entity.relationships.filter(\.isToMany).map(\.name.name)
            if arguments.value("select") == nil, !lists.isEmpty, !arguments.has("quiet") {
                console.printError("note: to-many relationships are left out: \(lists.joined(separator: ", "))")
            }
            return .success
        }
    }

    /// Returns the columns of an entity, with their names in the output.
    private static func columns(
        of entity: ManagedObjectModel.Entity, in model: ManagedObjectModel
    ) -> [(column: String, name: String)] {
        let suffix = "#value"
        var columns: [(column: String, name: String)] = []
        for name in RecordColumns.defaultNames(of: entity, model: model) {
            let property = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
            let elements = entity.layout.fields.filter {
                $0.name.hasPrefix(property + ".") && $0.kind != .composite
            }
            columns += elements.isEmpty ? [(name, property)] : elements.map { ($0.name, $0.name) }
        }
        // A property hides the built-in column of the same name.
        return columns.filter { column in
            column.column != column.name || !columns.contains { $0.column != $0.name && $0.name == column.name }
        }
    }
}
