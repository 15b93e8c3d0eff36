internal import Roost
internal import RoostText

extension Subcommand {
    static let fetch = Subcommand(
        name: "fetch", summary: "Print the objects of an entity that meet a condition.", usage: "STORE ENTITY",
        argumentCount: 2...2,
        discussion: """
            Prints the objects of ENTITY and of its subentities, in the order of their keys or of --sort.

            --where takes a predicate in Core Data's language: title CONTAINS[cd] 'blue' AND (year >= 1970 OR year = NULL), artist.name
            LIKE 'M*', ANY tracks.seconds > 600, tracks.@count BETWEEN {5, 9}. docs/predicates.md describes it. Text is in single or
            double quotes, with a backslash before a quote inside. label.city is an element of a composite, SELF is the object
            itself, and #first is a property whose name is a keyword. Dates, UUIDs and URIs are written as text: released >
            '2024-05-01' or '2024-05-01T12:30:00Z' (default zone: UTC), data as base64, objects as their key or 'Album/5'. Text is
            compared by code point. A comparison with NULL is false, except with = and !=.

            --sort takes properties separated by commas, with a hyphen before a descending one: --sort=-year,title. Paths follow
            to-one relationships: album.artist.name. name[cd] ignores case and diacritics, and name[l] sorts numbers in names by
            value (2 before 10). NULL is first. Equal objects are ordered by key.

            --select takes properties and the words id (the key), entity (the object's own) and version. Without it, all formats
            show the key, the entity if it can differ, and the properties except to-many ones. JSON adds the version, and leaves
            out nulls. A to-many relationship shows the keys of its objects as a list; tables show the first keys and the number.

            --select also takes expressions, each with AS and an optional name: album.artist.name, seconds / 60 AS minutes,
            uppercase(title), count(tracks) (the number of one object's tracks). With an attribute, the functions count, sum, min,
            max, average, median, mode and stddev are aggregates: they make one row of all objects, or one of each group of
            --group-by: --select='artist.name, count(id) AS n, sum(seconds)' --group-by=artist.name. A row of a group can show the
            grouped properties and aggregates. --having is a condition on groups, which can use the names of columns: n > 10.
            --sort takes names of columns, too; --limit and --offset count rows. count includes NULL, the other functions
            ignore it. count(*) is the number of objects.

            --explain reads the objects without printing them, and shows how they were found: the index or statement, what was
            checked afterwards, how they were sorted, and how many records and index entries were examined. With --format=json
            it prints one object: access [{kind, name, statement}], decidedByAccess [predicate], filteredAfterwards [predicate],
            order (asFound, byDatabase, sorted, best), keptAtMost, visited, missingIndex (the attribute that an index would help
            with, if any).

            table  For people: fitted to the terminal or to COLUMNS, with long values cut. The first objects, at most 1024,
                   determine the widths. NULL means no value, and an empty cell an empty text; the text NULL is shown in
                   quotes. Control characters are made visible, data are shown as a number of bytes, dates are UTC, to the
                   microsecond. In color on a terminal, unless NO_COLOR is set. Without any object, '0 objects' on standard error.
            json   A list with one object on each line and exact values. Numbers and booleans as such, decimals, UUIDs, URIs
                   and base64 as text, dates as seconds since 2001-01-01 (with --dates=iso as 2024-05-01T12:30:00Z), a to-one
                   relationship as the key of its object, or "Entity/key" if its entity has subentities. NULL is left out, or
                   null if --select names the property.
            jsonl  The same objects without the list.
            csv    RFC 4180 with line feeds: a line of names, then one for each object. Values are as in json, but without
                   unnecessary quotes; dates as 2024-05-01T12:30:00Z (with --dates=seconds as in json). A composite is a JSON
                   object in its cell, data are base64. An empty cell is NULL, "" is an empty text.

            json, jsonl and csv need memory for one batch of objects. --sort adds the memory that the store's type needs to sort,
            --group-by an entry for each group, and --distinct a key for each row.
            Exits 1 if an object of --id does not exist.
            """,
        options: [
            CommandOption(
                "select", letter: "s", value: "LIST",
                help: "The properties or expressions to print, separated by commas."),
            CommandOption("where", letter: "w", value: "PREDICATE", help: "The condition that objects must meet."),
            CommandOption(
                "sort", value: "LIST", help: "The order, most significant property first; -name for descending."),
            CommandOption(
                "group-by", value: "LIST", help: "Print one row for all objects that are equal in these properties."),
            CommandOption("having", value: "PREDICATE", help: "The condition that groups must meet."),
            CommandOption("distinct", help: "Print equal rows only once."),
            CommandOption("limit", letter: "l", value: "N", help: "Print at most N objects."),
            CommandOption("offset", value: "N", help: "Skip the first N objects (default: 0)."),
            CommandOption("id", value: "KEY", help: "Print the object with this key; can be repeated."),
            CommandOption("count", letter: "c", help: "Print only the number of objects or rows."),
            CommandOption("explain", help: "Print how the store finds the objects, and how many it examined."),
        ] + OutputFormat.options + [.verbose] + StoreArguments.openingOptions,
        examples: [
            "roost fetch music.sqlite Album --select=id,title,artist --sort=-released,title --limit=10",
            "roost fetch lmdb:music.lmdb Track --where=\"durationSeconds > 600 AND isExplicit = NO\" --format=csv",
            "roost fetch music.sqlite Artist --id=7 --id=12 --format=jsonl",
            "roost fetch music.sqlite Album --where=\"released >= '2024-01-01'\" --count",
            "roost fetch music.sqlite Track --select='album.title, count(id) AS n' --group-by=album.title --sort=-n --limit=10",
        ],
        run: runFetch)

    @Sendable private static func runFetch(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let format = try OutputFormat(arguments)
        let keys = try arguments.allValues("id").map { try key($0, ofEntity: arguments.positions[1]) }
        if !keys.isEmpty {
            for option in ["where", "sort", "limit", "offset"] where arguments.value(option) != nil {
                throw UsageError("option '--id' already selects the objects; leave out '--\(option)'")
            }
        }
        return try StoreArguments.withStore(arguments.positions[0], arguments: arguments) { store in
            let fetch = try UsageError.reading {
                try StoreFetch(store, arguments: arguments, details: .init(keys: keys))
            }
            if arguments.has("explain") {
                try fetch.explain(format.records, console: console)
                return .success
            }
            if arguments.has("count") {
                try console.print("\(try fetch.count())")
                return fetch.exitCode(console)
            }
            try fetch.print(format, console: console)
            return fetch.exitCode(console)
        }
    }

    /// Returns the key that `--id` gives as `5`, `Album/5` or `Album/p5`.
    static func key(_ text: String, ofEntity entity: String) throws -> Int64 {
        var digits = text[...]
        if let slash = text.lastIndex(of: "/") {
            guard text[..<slash] == entity else {
                throw UsageError(
                    "option '--id' has '\(text)', but the entity of the command is '\(entity)'; write the key alone")
            }
            digits = text[text.index(after: slash)...]
            if digits.first == "p" { digits.removeFirst() }
        }
        guard let key = Int64(digits), key > 0 else {
            throw UsageError("option '--id' needs the key of an object, a whole number of at least 1, or \(entity)/key")
        }
        return key
    }
}
