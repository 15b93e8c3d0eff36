internal import Roost
internal import RoostCore
internal import RoostMigration

extension Subcommand {
    static let dump = Subcommand(
        name: "dump", summary: "Write what a store holds as JSON Lines to standard output.", usage: "STORE",
        argumentCount: 1...1,
        discussion: """
            Writes a first line with the model and the metadata, one line for each object, lines of links, and a last line with
            counts, digest and checksum, from one consistent view of the store. Every value is in it exactly. 'roost load' makes
            a store of it, of any type. Without its last line, after an error or Ctrl-C, a dump is of no use, and load refuses it.

            What was written is compared with what the last commit recorded; a store that was damaged, or changed by another program,
            gets no last line (exit 3). --accept-changes takes changes by another program as they are, with a warning.

            With --entity only the objects of that entity and its subentities are written, and the links that lead to or from
            them; give it more than once for more entities. References to objects of other entities then lead out of the dump;
            'roost load' says so.
            """,
        options: [
            CommandOption(
                "entity", letter: "e", value: "NAME", help: "Write only objects of this entity; may be given again."),
            CommandOption("quiet", letter: "q", help: "Print no warnings, only errors."), .verbose,
        ] + StoreArguments.openingOptions,
        examples: [
            "roost dump music.sqlite > music.jsonl", "roost dump music.sqlite | roost load lmdb:music.lmdb",
            "roost dump music.sqlite --entity=Album --entity=Artist > some.jsonl",
        ],
        run: runDump)

    @Sendable private static func runDump(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let names = arguments.allValues("entity").map { EntityName($0) }
        let notices = try StoreArguments.withStore(arguments.positions[0], arguments: arguments) { store in
            for name in names { try UsageError.reading { _ = try store.model.requireEntity(name) } }
            try MigrationManager(registry: .standard).dump(store, entities: names.isEmpty ? nil : names) {
                (bytes) throws(StoreError) in
                do throws(OutputError) { try console.write(bytes) } catch {
                    throw StoreError(.ioFailure, "The dump is not complete: \(error).", underlying: error)
                }
            }
            return try store.notices()
        }
        if !arguments.has("quiet") { for notice in notices { console.printError("warning: \(notice)") } }
        return .success
    }
}
