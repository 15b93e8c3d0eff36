internal import Roost
internal import RoostCore

extension Subcommand {
    static let delete = Subcommand(
        name: "delete", summary: "Delete the objects of an entity that meet a condition.", usage: "STORE ENTITY",
        argumentCount: 2...2,
        discussion: """
            Deletes objects of ENTITY, those of its subentities included, and what the delete rules of their relationships take along,
            all in one transaction: all of them go, or none. Says first how many objects of each entity would go or lose a
            reference, and asks.

            --where, --sort, --limit, --offset and --id choose the objects as in 'roost fetch', which shows them. Without any of them all
            objects of ENTITY go.

            A delete is refused while an object that stays stands in the way: by delete rule deny, or because it would lose a
            mandatory reference. The message names it.

            With --json prints one object: entity, requested, cascaded (by delete rule), related (lose a reference) [{entity, count}],
            count, dryRun, generation, backup.

            Exits 1 when the question is answered with no or an object that --id asks for does not exist, and 2 when nobody can be
            asked and there is no --yes. Ctrl-C stops it as long as nothing is changed. When the objects are gone and only closing
            the store fails, as on a full disk, that is a warning, and the exit code 0.
            """,
        options: [
            CommandOption("where", letter: "w", value: "PREDICATE", help: "The condition that objects must meet."),
            CommandOption("sort", value: "LIST", help: "The order, most significant first; -name for descending."),
            CommandOption("limit", letter: "l", value: "N", help: "The most objects to delete."),
            CommandOption("offset", value: "N", help: "How many objects to leave out at the beginning."),
            CommandOption("id", value: "KEY", help: "Delete the object with this key; can be given several times."),
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
                throw UsageError("option '--id' names the objects itself; leave out '--\(option)'")
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
