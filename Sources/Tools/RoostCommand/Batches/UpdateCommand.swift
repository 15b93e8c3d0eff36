internal import Roost
internal import RoostCore

extension Subcommand {
    static let update = Subcommand(
        name: "update", summary: "Set properties of the objects of an entity that meet a condition.",
        usage: "STORE ENTITY", argumentCount: 2...2,
        discussion: """
            Sets properties of the objects of ENTITY, those of its subentities included, all in one transaction: all of them change,
            or none. Says first how many objects would change, and asks.

            --set takes a property, = and a value or an expression, and can be given several times: 'plays = plays + 1',
            'title = "x"', 'released = "2024-05-01"', 'rating = NULL', 'album = 5' or 'artist = "Band/5"' (the key of an object),
            'label.city = "Rome"' (an element of a composite). Expressions and --where are written as in 'roost fetch --where'. They see
            each object as it was before: 'a = b' with 'b = a' exchanges two values. --dry-run does not tell of values that
            another object must not have as well.

            A value must fit its property exactly, a mandatory property cannot become NULL, and an object that a relationship is to
            lead to must exist. An object that joins an ordered relationship comes last in it.

            With --json prints one object: entity, requested, cascaded, related [{entity, count}], count, dryRun, generation, backup.
            related are objects on the other side of a to-one relationship that change too.

            Exits 1 when the question is answered with no, and 2 when nobody can be asked and there is no --yes. Ctrl-C stops it
            as long as nothing is changed. When the objects are changed and only closing the store fails, as on a full disk, that is
            a warning, and the exit code 0.
            """,
        options: [
            CommandOption(
                "set", letter: "s", value: "ASSIGNMENT",
                help: "A property, = and its new value; can be given several times."),
            CommandOption(
                "where", letter: "w", value: "PREDICATE",
                help: "The condition that objects must meet; all unless given."),
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
                "option '--set' is missing: it says what becomes of a property, as in --set='plays = plays + 1'")
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
