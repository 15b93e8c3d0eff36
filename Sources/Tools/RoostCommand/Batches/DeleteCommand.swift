internal import Roost
internal import RoostCore

extension Subcommand {
    static let delete = Subcommand(
        name: "delete", summary: "Delete the objects of an entity that meet a condition.", usage: "STORE ENTITY",
        argumentCount: 2...2,
        discussion: """
            Deletes objects of ENTITY and of its subentities, and the objects that delete rules of their relationships add, all in one
            transaction. First prints how many objects of each entity will be deleted or lose a reference, and asks.

            --where, --sort, --limit, --offset and --id choose the objects as in 'roost fetch', which shows them. Without these
            options, all objects of ENTITY are deleted.

            A deletion is refused if a remaining object forbids it with delete rule deny, or would lose a mandatory reference. The
            message names that object.

            With --json prints one object: entity, requested, cascaded (by delete rule), related (lose a reference) [{entity, count}],
            count, dryRun, generation, backup.

            Exits 1 after a negative answer, or if an object of --id does not exist. Exits 2 if standard input is not a terminal and
            --yes is missing. Ctrl-C stops the command before the change. If the deletion succeeds but closing the store fails, as on a
            full disk, the command warns and exits 0.
            """,
        options: [
            CommandOption("where", letter: "w", value: "PREDICATE", help: "The condition that objects must meet."),
            CommandOption(
                "sort", value: "LIST", help: "The order, most significant property first; -name for descending."),
            CommandOption("limit", letter: "l", value: "N", help: "Delete at most N objects."),
            CommandOption("offset", value: "N", help: "Skip the first N objects (default: 0)."),
            CommandOption("id", value: "KEY", help: "Delete the object with this key; can be repeated."),
        ] + BatchRun.options + StoreArguments.openingOptions,
        examples: [
            "roost delete music.sqlite Artist --where='isActive = NO' --dry-run",
            "roost delete music.sqlite Track --sort=-durationSeconds --limit=10 --yes",
            "roost delete lmdb:music.lmdb Album --id=7 --id=12",
        ],
        run: runDelete)

    @Sendable private static func runDelete(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let keys = try arguments.allValues("id").map { try key($0, ofEntity: arguments.positions[1]) }
        if !keys.isEmpty {
            for option in ["where", "sort", "limit", "offset"] where arguments.value(option) != nil {
                throw UsageError("option '--id' already selects the objects; leave out '--\(option)'")
            }
        }
        let run = try BatchRun(.init(verb: "delete", past: "Deleted"), arguments: arguments, console: console)
        return try run.withStore { store in
            let entity = try StoreFetch.entity(arguments.positions[1], model: store.model)
            guard keys.isEmpty else {
                let request = BatchDeleteRequest(objectIDs: keys.map { ObjectID(entity.name, key: $0) })
                var missing: [Int64] = []
                let code = try run.run(store) { snapshot throws(StoreError) in
                    let batch = try snapshot.prepare(request)
                    let found = Set(batch.requestedIDs.map(\.key))
                    missing = keys.filter { !found.contains($0) }
                    return batch
                }
                for key in missing { console.printError("\(ObjectID(entity.name, key: key)) does not exist") }
                return missing.isEmpty ? code : .finding
            }
            let request = try UsageError.reading {
                BatchDeleteRequest(
                    FetchRequest(
                        entity.name,
                        where: try StoreFetch.predicate(arguments, entity: entity.name, model: store.model),
                        sortedBy: try StoreFetch.order(arguments.value("sort"), entity: entity, model: store.model),
                        limit: try arguments.integer("limit", minimum: 0),
                        offset: try arguments.integer("offset", minimum: 0) ?? 0))
            }
            return try run.run(store) { snapshot throws(StoreError) in try snapshot.prepare(request) }
        }
    }
}
