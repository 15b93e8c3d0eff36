internal import Roost
internal import RoostCore
internal import RoostMigration

extension Subcommand {
    static let diff = Subcommand(
        name: "diff", summary: "Compare two stores of any types by content.", usage: "A B", argumentCount: 2...2,
        discussion: """
            Prints nothing and exits 0 if both have the same objects, values and links. Otherwise prints the first differences and
            exits 1: '-' for an object or link that only A has, '+' for one that only B has, '!' for an object with the properties
            that differ. Values are never printed. Versions, metadata and store types do not count. If the models differ, their
            first differences are printed, and objects are not compared.

            With --json prints one object: equal, differences [{kind, object, properties, target}] with kind model, onlyInFirst,
            onlyInSecond, changed, linkOnlyInFirst or linkOnlyInSecond.
            """,
        options: [
            .json, CommandOption("limit", letter: "l", value: "N", help: "Print at most N differences (default: 20)."),
            .verbose,
        ] + StoreArguments.openingOptions,
        examples: ["roost diff music.sqlite music.lmdb", "roost diff a.sqlite b.sqlite --limit=100 --json"],
        run: runDiff)

    private struct Report: Encodable {
        var equal: Bool
        var differences: [StoreDifference]
    }

    @Sendable private static func runDiff(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let limit = try arguments.integer("limit", minimum: 1) ?? 20
        var models: [String] = []
        let differences = try StoreArguments.withStore(arguments.positions[0], arguments: arguments) { first in
            try StoreArguments.withStore(arguments.positions[1], arguments: arguments) { second in
                let differences = try StoreComparison.diff(
                    first, second, limit: limit, cancellation: Interruption.shared.readingCancellation)
                if differences.contains(where: { $0.kind == .model }) {
                    models = second.model.difference(from: first.model).filter(\.changesVersionHash).map(\.text)
                }
                return differences
            }
        }
        if arguments.has("json") {
            try console.printJSON(Report(equal: differences.isEmpty, differences: differences))
        } else {
            for difference in differences { try console.print(difference.description) }
            for line in models.prefix(limit) { try console.print("  \(line)") }
            if models.count > limit { try console.print("  and \(models.count - limit) more") }
            if !models.isEmpty {
                console.printError(
                    "note: objects of different models are not compared. Migrate a copy of one store first: roost migrate A --to=B --output=DEST"
                )
            }
        }
        return differences.isEmpty ? .success : .finding
    }
}
