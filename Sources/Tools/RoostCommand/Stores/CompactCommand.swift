internal import Roost
internal import RoostMigration
internal import RoostStores

extension Subcommand {
    static let compact = Subcommand(
        name: "compact", summary: "Rewrite a store so that its file is as small as it can be.", usage: "STORE",
        argumentCount: 1...1,
        discussion: """
            Copies a store into a new file beside it, compares both by content, and replaces the old file with the new one in
            one step. No other process can open the store meanwhile. An SQLite store that another process has open, or that has
            tables or indexes of other programs, is compacted in place: readers continue, and writers wait. If an LMDB or JSON store
            is in use, the command waits up to --timeout and then fails. Content, versions, UUID, metadata, used keys, permissions
            and owner stay. After an error, Ctrl-C or a crash the store is unchanged or compacted.

            Needs free space of 1.2 times the store's size. A store whose content differs from the record of its last commit is
            refused; 'roost check' shows the damage.

            With --json prints one object: store, bytesBefore, bytesAfter, objects, links, digest, inPlace (whether it was compacted
            in place), seconds, warnings [text].
            """,
        options: [.json, .quiet, .verbose] + StoreArguments.openingOptions,
        examples: ["roost compact music.sqlite", "roost compact lmdb:music.lmdb --json"], run: runCompact)

    @Sendable private static func runCompact(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let store = try StoreArguments.store(arguments.positions[0], arguments: arguments)
        let maintenance = StoreMaintenance(registry: .standard)
        let report = try maintain(store, arguments: arguments, console: console) {
            try maintenance.compact(store.location, options: $0)
        }
        try console.printReport(report, text: report.description, warnings: report.warnings, arguments: arguments)
        return .success
    }
}
