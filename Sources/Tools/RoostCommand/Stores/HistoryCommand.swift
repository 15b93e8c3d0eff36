internal import Dispatch
internal import Foundation
internal import Roost
internal import RoostCore
internal import RoostStores

extension Subcommand {
    static let history = Subcommand(
        name: "history", summary: "Show who changed what in a store, and when.", usage: "STORE", argumentCount: 1...1,
        discussion: """
            Prints each transaction that the store has recorded, the oldest first: its time, kind, author and context, its token,
            and one line for each object and each link. '+' is an insert or a new link, '!' an update with the properties that
            changed, '-' a delete or a removed link. A store records its changes if it was opened with the option tracksHistory.

            A token names a place in the history of one store. --since with the last token that was seen prints what is new since
            then. A token whose following transactions were removed is refused: read the store again, and continue from its
            last token (--last-token).

            With --json prints one object a line for each transaction: token, date, kind (commit, load, wholeLoad,
            acceptedChanges), author, context, changes [{object, kind, properties}], links [{relationship, source, target,
            added}], complete. A transaction of many changes comes in several lines; the last one is complete. Values are never
            printed.
            """,
        options: [
            .json,
            CommandOption(
                "since", letter: "s", value: "TOKEN",
                help: "Start after this token, or at this time: 2026-11-26, 2026-11-26T18:00:00Z."),
            CommandOption("author", letter: "a", value: "NAME", help: "Print only transactions of this author."),
            CommandOption(
                "entity", letter: "e", value: "NAME", help: "Print only changes of this entity and its subentities."),
            CommandOption(
                "follow", letter: "f", help: "Continue with what is committed from now on, until interrupted."),
            CommandOption("last-token", help: "Print the token of the last transaction, and nothing else."),
        ] + StoreArguments.openingOptions,
        examples: [
            "roost history music.sqlite --since=2026-11-01", "roost history music.lmdb --author=import --json",
            "roost history music.sqlite --follow",
        ], run: runHistory)

    @Sendable private static func runHistory(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        var request = HistoryRequest()
        request.author = arguments.value("author")
        request.entity = arguments.value("entity").map { EntityName($0) }
        if let since = arguments.value("since") {
            request.token = HistoryToken(since)
            if request.token == nil { request.startDate = try date(since) }
        }
        let isJSON = arguments.has("json")
        return try StoreArguments.withStore(arguments.positions[0], arguments: arguments) { store in
            guard !arguments.has("last-token") else {
                let snapshot = try store.snapshot()
                defer { snapshot.close() }
                try console.print(try snapshot.historyToken().description)
                return .success
            }
            guard arguments.has("follow") else {
                _ = try print(request, of: store, isJSON: isJSON, console: console)
                return .success
            }
            let news = DispatchSemaphore(value: 0)
            // Subscribes before the first reading, so that no commit is missed.
            let subscription = try CommitSubscription(
                to: try Store(store, registry: .standard), listener: { _ in news.signal() }, end: { news.signal() })
            defer { withExtendedLifetime(subscription) {} }
            while true {
                request.token = try print(request, of: store, isJSON: isJSON, console: console)
                request.startDate = nil
                while news.wait(timeout: .now() + .milliseconds(200)) == .timedOut {
                    try Interruption.shared.check()
                }
            }
        }
    }

    /// Prints the selected transactions, and returns the token of the store's last transaction.
    private static func print(
        _ request: HistoryRequest, of store: any PersistentStore, isJSON: Bool, console: Console
    ) throws -> HistoryToken {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let cursor = try snapshot.historyCursor(request)
        while let transaction = try cursor.next() {
            try Interruption.shared.check()
            let report = HistoryReport(transaction)
            if isJSON { try console.printJSONLine(report) } else { try console.print(report.text) }
        }
        return try snapshot.historyToken()
    }

    private static func date(_ text: String) throws -> Date {
        for style in [
            Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
            Date.ISO8601FormatStyle().year().month().day(),
        ] {
            if let date = try? style.parse(text) { return date }
        }
        throw UsageError(
            "'\(text)' is neither a token of a history nor a time; write a time as 2026-11-26 or 2026-11-26T18:00:00Z")
    }
}

/// One transaction in the format of `roost history`, whose help describes the fields.
struct HistoryReport: Encodable {
    struct Change: Encodable {
        var object: String
        var kind: String
        var properties: [String]
    }

    struct LinkChange: Encodable {
        var relationship: String
        var source: String
        var target: String
        var added: Bool
    }

    var token: String
    var date: String
    var kind: String
    var author: String?
    var context: String?
    var changes: [Change]
    var links: [LinkChange]
    var complete: Bool

    init(_ transaction: HistoryTransaction) {
        token = transaction.token.description
        date = transaction.date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        kind = transaction.kind.rawValue
        (author, context) = (transaction.author, transaction.contextName)
        changes = transaction.changes.map {
            Change(object: $0.id.description, kind: $0.kind.rawValue, properties: $0.changedProperties)
        }
        links = transaction.linkChanges.map {
            LinkChange(
                relationship: $0.relationship.description, source: $0.source.description,
                target: $0.target.description, added: $0.isAdded)
        }
        complete = transaction.isComplete
    }

    var text: String {
        var lines = [[date, kind, author, context.map { "(\($0))" }].compactMap(\.self).joined(separator: "  ")]
        if complete { lines.append("  token \(token)") }
        for change in changes {
            let sign = change.kind == "insert" ? "+" : change.kind == "delete" ? "-" : "!"
            let properties = change.properties.isEmpty ? "" : ": \(change.properties.joined(separator: ", "))"
            lines.append("  \(sign) \(change.object)\(properties)")
        }
        for link in links {
            lines.append("  \(link.added ? "+" : "-") \(link.relationship): \(link.source) -> \(link.target)")
        }
        return lines.joined(separator: "\n")
    }
}
