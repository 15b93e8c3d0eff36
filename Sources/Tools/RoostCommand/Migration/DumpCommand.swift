internal import Roost
internal import RoostCore
internal import RoostMigration

extension Subcommand {
    static let dump = Subcommand(
        name: "dump", summary: "Write the content of a store as JSON Lines to standard output.", usage: "STORE",
        argumentCount: 1...1,
        discussion: """
            Writes a first line with the model and the metadata, one line for each object, lines of links, and a last line with
            counts, digest and checksum, from one consistent view of the store. All values are exact. 'roost load' makes a store
            of any type from it. After an error or Ctrl-C the last line is missing, and load refuses the dump.

            The content is compared with the record of the last commit. If the store was damaged, or changed by another program,
            the dump gets no last line (exit 3). --accept-changes writes changes by another program, with a warning.

            With --entity only the objects of that entity and its subentities are written, and the links from and to them. Repeat
            the option for more entities. References to objects of other entities are then dangling, which 'roost load' reports.
            """,
        options: [
            CommandOption(
                "entity", letter: "e", value: "NAME", help: "Write only objects of this entity; can be repeated."),
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
