internal import Roost
internal import RoostText

extension Subcommand {
    static let fetch = Subcommand(
        name: "fetch", summary: "Print the objects of an entity that meet a condition.", usage: "STORE ENTITY",
        argumentCount: 2...2,
        discussion: """
            Prints the objects of ENTITY, those of its subentities included, in the order of their keys or of --sort.

            --where takes a predicate in Core Data's language: title CONTAINS[cd] 'blue' AND (year >= 1970 OR year = NULL), artist.name
            LIKE 'M*', ANY tracks.seconds > 600, tracks.@count BETWEEN {5, 9}. docs/predicates.md has all of it. Text is in single or
            double quotes (a backslash before a quote inside); label.city is an element of a composite, SELF the object itself,
            #first a property whose name is a keyword. Dates, UUIDs and URIs are written as text: released > '2024-05-01' or
            '2024-05-01T12:30:00Z' (UTC unless a zone is given), data as base64, objects as their key or 'Album/5'.
            Text compares by code point. A comparison with NULL is false but for = and !=.

            --sort takes properties separated by commas, a hyphen before those that go from high to low: --sort=-year,title.
            album.artist.name is a property of an object that to-one relationships lead to, name[cd] sorts without case and
            diacritics, name[l] as people expect of names with numbers in them (2 before 10). NULL comes before everything.
            Objects that are equal there come by key.

            --select takes properties and the words id (the key), entity (the object's own) and version. Without it, tables and
            CSV have the key (and the entity where it can differ) and all properties that are not to-many, JSON all that are
            not null. A to-many relationship shows the keys of its objects: a list, in tables the first ones and their number.

            --select also takes expressions, each with AS and a name if it needs one: album.artist.name, seconds / 60 AS minutes,
            uppercase(title), count(tracks) (of one object's many). The functions count, sum, min, max, average, median, mode and
            stddev of what each object has one of make one row of all objects, or one of each group of --group-by:
            --select='artist.name, count(id) AS n, sum(seconds)' --group-by=artist.name. A row of a group shows what it is grouped
            by, and aggregates. --having is a condition on groups, in which the columns' names can be used: n > 10. --sort takes the
            names of columns too; --limit and --offset count rows; count counts NULL, the others leave it out. count(*) is
            the number of objects.

            --explain reads the objects, prints none of them, and tells how they were found: by which index or statement, what
            was checked afterwards, how they were sorted, and how many records and index entries were looked at. With
            --format=json it prints one object: access [{kind, name, statement}], decidedByAccess [predicate],
            filteredAfterwards [predicate], order (asFound, byDatabase, sorted, best), keptAtMost, visited, missingIndex (the
            attribute that an index would help with, if any).

            table  For people: fitted to the terminal or to COLUMNS, what is too wide cut short. The first objects, at most
                   1024, decide the widths. NULL is no value, nothing an empty text; a text that reads NULL is shown in
                   quotes. Control characters are made visible, data are counted, dates are UTC, to the microsecond. In
                   color on a terminal, unless NO_COLOR is set. Without any object, '0 objects' on standard error.
            json   A list with one object on each line: every value exact. Numbers and booleans as such, decimals, UUIDs, URIs
                   and base64 as text, dates as seconds since 2001-01-01 (with --dates=iso as 2024-05-01T12:30:00Z), a to-one
                   relationship as the key of its object, or "Entity/key" where that has subentities. NULL is left out, or
                   null where --select asks for it.
            jsonl  The same objects without the list.
            csv    RFC 4180 with line feeds: a line of names, then one for each object, values as in json, without quotes
                   where none are needed; dates as 2024-05-01T12:30:00Z (with --dates=seconds as in json). A composite is a
                   JSON object in its cell, data are base64. Nothing between two commas is NULL, "" is an empty text.

            json, jsonl and csv need memory for one batch of objects, with --sort as much as the store's type needs for that, with
            --group-by for one entry of each group, with --distinct for a key of each row.
            Exits 1 when an object that --id asks for does not exist.
            """,
        options: [
            CommandOption(
                "select", letter: "s", value: "LIST",
                help: "The properties or expressions to print, separated by commas."),
            CommandOption("where", letter: "w", value: "PREDICATE", help: "The condition that objects must meet."),
            CommandOption("sort", value: "LIST", help: "The order, most significant first; -name for descending."),
            CommandOption("group-by", value: "LIST", help: "Print one row for all objects that are equal in these."),
            CommandOption("having", value: "PREDICATE", help: "The condition that groups must meet."),
            CommandOption("distinct", help: "Print equal rows only once."),
            CommandOption("limit", letter: "l", value: "N", help: "The most objects to print."),
            CommandOption("offset", value: "N", help: "How many objects to leave out at the beginning."),
            CommandOption("id", value: "KEY", help: "Print the object with this key; can be given several times."),
            CommandOption("count", letter: "c", help: "Print only how many objects or rows there are."),
            CommandOption("explain", help: "Print how the store finds the objects, and how many it looked at."),
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
                throw UsageError("option '--id' names the objects itself; leave out '--\(option)'")
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

    /// The key that `--id` names: `5`, or `Album/5` and `Album/p5`, as objects are written
    /// elsewhere.
    static func key(_ text: String, ofEntity entity: String) throws -> Int64 {
        var digits = text[...]
        if let slash = text.lastIndex(of: "/") {
            guard text[..<slash] == entity else {
                throw UsageError(
                    "option '--id' names '\(text)', and the command is about '\(entity)'; write the key alone")
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
