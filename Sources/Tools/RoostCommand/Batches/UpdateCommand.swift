internal import Roost
internal import RoostCore

extension Subcommand {
    static let update = Subcommand(
        name: "update", summary: "Set properties of the objects of an entity that meet a condition.",
        usage: "STORE ENTITY", argumentCount: 2...2,
        discussion: """
            Sets properties of the objects of ENTITY and of its subentities, all in one transaction. First prints how many objects
            will change, and asks.

            --set takes a property, = and a value or an expression, and can be repeated: 'plays = plays + 1',
            'title = "x"', 'released = "2024-05-01"', 'rating = NULL', 'album = 5' or 'artist = "Band/5"' (the key of an object),
            'label.city = "Rome"' (an element of a composite). Expressions and --where are written as in 'roost fetch --where'. They see
            each object as it was before: 'a = b' with 'b = a' exchanges two values. --dry-run does not find values that violate
            a uniqueness constraint.

            A value must fit its property exactly, a mandatory property cannot become NULL, and the destination of a relationship
            must exist. An object that is added to an ordered relationship becomes its last.

            With --json prints one object: entity, requested, cascaded, related [{entity, count}], count, dryRun, generation, backup.
            related are objects on the other side of a to-one relationship that change too.

            Exits 1 if the answer is no, and 2 if standard input is not a terminal and --yes is missing. Ctrl-C stops the command
            before the change. If the change succeeds but closing the store fails, as on a full disk, the command warns and exits 0.
            """,
        options: [
            CommandOption(
                "set", letter: "s", value: "ASSIGNMENT", help: "A property, = and its new value; can be repeated."),
            CommandOption(
                "where", letter: "w", value: "PREDICATE", help: "The condition that objects must meet (default: all)."),
        ] + BatchRun.options + StoreArguments.openingOptions,
        examples: [
            "roost update music.sqlite Track --set='isExplicit = YES' --where=\"title BEGINSWITH 'Explicit'\"",
            "roost update lmdb:music.lmdb Album --set='price = NULL' --where='price < 2' --dry-run",
        ],
        run: runUpdate)

    @Sendable private static func runUpdate(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let assignments = arguments.allValues("set")
        guard !assignments.isEmpty else {
            throw UsageError(
                "option '--set' is missing; it assigns a value to a property, as in --set='plays = plays + 1'")
        }
        let run = try BatchRun(.init(verb: "update", past: "Updated"), arguments: arguments, console: console)
        return try run.withStore { store in
            let entity = try StoreFetch.entity(arguments.positions[1], model: store.model).name
            let predicate = try UsageError.reading {
                try StoreFetch.predicate(arguments, entity: entity, model: store.model)
            }
            var request = BatchUpdateRequest(entity, where: predicate, set: [:])
            for assignment in assignments {
                try UsageError.reading {
                    do throws(StoreError) {
                        try request.set(assignment, model: store.model)
                    } catch {
                        throw RowOptions.naming("set", error: error, hasPlace: true)
                    }
                }
            }
            return try run.run(store) { snapshot throws(StoreError) in try snapshot.prepare(request) }
        }
    }
}
