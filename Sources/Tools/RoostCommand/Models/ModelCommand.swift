internal import Roost
internal import RoostCore
internal import RoostMigration

extension Subcommand {
    static let model = Subcommand(
        name: "model",
        summary: "Print, validate, draw or compare models, show their history, or generate Swift classes.",
        usage: "print|validate|graph|generate FILE, diff OLD NEW, history BUNDLE", argumentCount: 2...3,
        discussion: """
            FILE is a model document (.roostmodel.json), a model of Apple's (.xcdatamodeld, .momd, .xcdatamodel, .mom), a store, or
            the name of a store in the configuration.

            print     Print the model as a model document.
            validate  Exit 0 for a valid model; otherwise print every problem, one a line, and exit 1. Warnings name the parts of a
                      model of Apple's that cannot be read, and the parts that stores ignore: indexes of expressions, partial and
                      spatial indexes, fetch request templates, fetched properties, value transformers. They also name derived
                      attributes, which contexts and batch requests compute, but stores do not.
            graph     Draw the entities: attributes, superentities, relationships with counts and delete rules. With --format: mermaid,
                      which many Markdown viewers draw, dot for Graphviz, or svg, which needs Graphviz's program dot. --entity and
                      --depth draw a part of a large model.
            diff      Print the changes from OLD to NEW, one a line, then whether stores need a migration, whether it can be inferred,
                      the change of each entity, and the losses; or every reason why it cannot be inferred. Exit 1; print nothing
                      and exit 0 for equal models. --hash-only ignores differences that need no migration. With --format
                      draw NEW, as graph does, with added, removed and changed parts in colors.
            history   Print the versions in a bundle of models (.xcdatamodeld, .momd), the reason for the order of each step, and its
                      changes, as diff does. A bundle does not record the order of its versions. The order follows from
                      --versions, from numbers in names that begin with the same word, from --mapping (the source of a mapping
                      model is older), from the current version (versions whose names begin with another word are older)
                      and from the alphabet, in this order. Exit 1 if a step cannot be inferred.
            generate  Write Swift classes into the directory --output: a file for each entity, and one with the model. Remove files
                      that an earlier run generated from FILE and this run does not generate. Print each file that changed.
                      With --check, write nothing, print each stale, missing or superfluous file, and exit 1 if there are any.

            With --json: print the document; validate {valid, problems [text], warnings [text]}; diff {equal, compatible, inferable
            (absent if no migration is needed), differences [{kind: added, removed, changed or renamed, entity, property,
            formerName (of what was renamed), subject, details, changesVersionHash}],
            mappings [{name, type, source, destination}], problems [{entity, property, message}], remarks [{kind: loss, demand or
            note, entity, property, message}]}; history {versions [text], steps [{from, to, orderReason, change: as diff}]};
            generate {files [{name, state: stale, missing or superfluous}]}, with the states before the run.
            """,
        options: [
            CommandOption(
                "model-version", value: "NAME", help: "The version in a bundle of models (of diff: in NEW)."),
            .versions,
            CommandOption(
                "mapping", value: "FILE",
                help: "A mapping model, as FILE or FILE@FROM..TO, for history; can be repeated."),
            CommandOption("old-version", value: "NAME", help: "The version in OLD, for diff."),
            CommandOption(
                "format", value: "mermaid|dot|svg",
                help: "The format of the diagram, for graph (default: mermaid) and diff."),
            CommandOption(
                "entity", value: "NAME",
                help: "Draw only this entity and its neighbors; can be repeated."),
            CommandOption(
                "depth", value: "N", needs: "entity",
                help: "The maximum number of relationships from --entity to a drawn entity (default: 1)."),
            CommandOption(
                "output", letter: "o", value: "DIR", help: "The directory of the generated files, for generate."),
            CommandOption("check", needs: "output", help: "Compare the generated files with the model. Write nothing."),
            CommandOption(
                "access", value: "internal|package|public", needs: "output",
                help: "The access level of the generated declarations (default: internal)."),
            CommandOption(
                "single-file", needs: "output",
                help: "Generate one file for the whole model instead of one for each entity."),
            CommandOption("hash-only", help: "Ignore differences that do not change version hashes."),
            CommandOption(
                "to-text", help: "Convert values to text if their attribute becomes a string."),
            .config, .json,
            .quiet,
            .verbose,
        ],
        examples: [
            "roost model print Music.xcdatamodeld > Music.roostmodel.json",
            "roost model validate Music.roostmodel.json",
            "roost model diff music.sqlite Music.xcdatamodeld",
            "roost model graph music.sqlite --entity=Album",
            "roost model history Music.xcdatamodeld",
            "roost model generate Music.roostmodel.json --output Sources/Music/Generated",
        ],
        run: runModel)

    @Sendable private static func runModel(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let verb = arguments.positions[0]
        let verbs = ["print", "validate", "graph", "generate", "diff", "history"]
        guard verbs.contains(verb) else {
            let hint =
                nearestName(to: verb, among: verbs).map { "did you mean '\($0)'?" }
                ?? "it is print, validate, graph, generate, diff or history"
            throw UsageError("unknown model command '\(verb)'; \(hint)")
        }
        guard arguments.positions.count == (verb == "diff" ? 3 : 2) else {
            let needed = verb == "diff" ? "OLD NEW" : verb == "history" ? "one BUNDLE" : "one FILE"
            throw UsageError("'roost model \(verb)' needs \(needed); see 'roost model --help'")
        }
        switch verb {
        case "print": return try printModel(arguments, console: console)
        case "validate": return try validate(arguments, console: console)
        case "graph": return try drawModel(arguments, console: console)
        case "generate": return try generate(arguments, console: console)
        case "diff": return try diffModels(arguments, console: console)
        default: return try printHistory(arguments, console: console)
        }
    }

    private static func printModel(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let (model, warnings) = try StoreArguments.model(
            arguments.positions[1], version: arguments.value("model-version"), arguments: arguments)
        var document = String(decoding: model.document(), as: UTF8.self)
        if document.hasSuffix("\n") { document.removeLast() }
        try console.print(document)
        if !arguments.has("quiet") {
            for warning in warnings + model.remarks.map(\.description) { console.printError("warning: \(warning)") }
        }
        return .success
    }

    private struct Validation: Encodable {
        var valid: Bool
        var problems: [String]
        var warnings: [String]
    }

    private static func validate(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        var validation = Validation(valid: true, problems: [], warnings: [])
        do {
            let read = try StoreArguments.model(
                arguments.positions[1], version: arguments.value("model-version"), arguments: arguments)
            validation.warnings = read.warnings + read.model.remarks.map(\.description)
        } catch let error as StoreError {
            guard error.code == .invalidModel else { throw error }
            validation.valid = false
            // The first of several lines only announces the problems.
            let lines = error.message.split(separator: "\n").map { String($0.drop(while: \.isWhitespace)) }
            validation.problems = lines.count > 1 ? Array(lines.dropFirst()) : lines
        }
        if arguments.has("json") {
            try console.printJSON(validation)
        } else {
            for problem in validation.problems { try console.print(problem) }
            if !arguments.has("quiet") {
                for warning in validation.warnings { try console.print("warning: \(warning)") }
            }
        }
        return validation.valid ? .success : .finding
    }

    private static func diffModels(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let old = try StoreArguments.model(
            arguments.positions[1], version: arguments.value("old-version"), arguments: arguments
        ).model
        let new = try StoreArguments.model(
            arguments.positions[2], version: arguments.value("model-version"), arguments: arguments
        ).model
        let change = change(from: old, to: new, arguments: arguments)
        if let diagram = try diagram(of: new, comparedWith: old, arguments: arguments) {
            try console.print(diagram)
        } else if arguments.has("json") {
            try console.printJSON(change)
        } else {
            for line in change.text { try console.print(line) }
        }
        return change.equal ? .success : .finding
    }

    private static func change(
        from old: ManagedObjectModel, to new: ManagedObjectModel, arguments: ParsedArguments
    ) -> ModelChange {
        ModelChange(
            from: old, to: new, onlyHashed: arguments.has("hash-only"),
            options: MappingModel.InferenceOptions(convertsToString: arguments.has("to-text")))
    }

    private struct History: Encodable {
        struct Step: Encodable {
            var from: String
            var to: String
            var orderReason: String
            var change: ModelChange
        }

        var versions: [String]
        var steps: [Step]
    }

    private static func printHistory(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let path = arguments.positions[1]
        let evidence = VersionEvidence(
            order: try VersionList.order(arguments), mappings: try VersionList.mappings(arguments))
        let read = try UsageError.readingModel(at: path, version: nil) {
            try ModelFile.history(at: path, evidence: evidence)
        }
        guard let (found, warnings) = read else {
            throw UsageError(
                "'\(path)' is not a bundle of several versions (.xcdatamodeld, .momd), so it has no history; compare two models with 'roost model diff'"
            )
        }
        if !arguments.has("quiet") { for warning in warnings { console.printError("warning: \(warning)") } }
        let versions = found.versions
        let steps = zip(zip(versions, versions.dropFirst()), found.orderReasons).map { pair, reason in
            let (old, new) = pair
            return History.Step(
                from: old.name, to: new.name, orderReason: reason,
                change: change(from: old.model, to: new.model, arguments: arguments))
        }
        let history = History(versions: versions.map(\.name), steps: steps)
        if arguments.has("json") {
            try console.printJSON(history)
        } else {
            for step in history.steps {
                try console.print("\(step.from) → \(step.to): \(step.change.summary)")
                try console.print("  order: \(step.orderReason)")
                for line in step.change.text { try console.print("  \(line)") }
            }
        }
        return history.steps.contains { $0.change.inferable == false } ? .finding : .success
    }
}
