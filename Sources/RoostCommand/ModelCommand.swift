internal import Roost

extension Subcommand {
    static let model = Subcommand(
        name: "model", summary: "Print, validate or compare models.", usage: "print|validate FILE, compare OLD NEW",
        argumentCount: 2...3,
        discussion: """
            FILE is a model document (.roostmodel.json), a model of Apple's (.xcdatamodeld, .xcdatamodel, .mom), or a store,
            which may be named as in the configuration.

            print     Print the model as a model document.
            validate  Exit 0 for a valid model; otherwise print every problem, one a line, and exit 1. What cannot be taken over
                      from a model of Apple's is printed as a warning.
            compare   Print what NEW changes compared with OLD, one difference a line, and exit 1; print nothing and exit 0 for
                      equal models. With --hash-only only what needs a migration counts.

            With --json: print the document; validate {valid, problems [text], warnings [text]}; compare {equal, compatible,
            differences [{kind, entity, property, subject, details, changesVersionHash}]}.
            """,
        options: [
            CommandOption(
                "model-version", value: "NAME", help: "The version in a bundle of models (of compare: in NEW)."),
            CommandOption("old-version", value: "NAME", help: "The version in OLD, for compare."),
            CommandOption("hash-only", help: "Count only differences that change version hashes."), .config, .json,
            .quiet,
            .verbose,
        ],
        examples: [
            "roost model print Music.xcdatamodeld > Music.roostmodel.json",
            "roost model validate Music.roostmodel.json",
            "roost model compare music.sqlite Music.xcdatamodeld",
        ],
        run: runModel)

    @Sendable private static func runModel(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let verb = arguments.positions[0]
        let verbs = ["print", "validate", "compare"]
        guard verbs.contains(verb) else {
            let hint =
                nearestName(to: verb, among: verbs).map { "did you mean '\($0)'?" }
                ?? "it is print, validate or compare"
            throw UsageError("unknown model command '\(verb)'; \(hint)")
        }
        guard arguments.positions.count == (verb == "compare" ? 3 : 2) else {
            throw UsageError(
                "'roost model \(verb)' needs \(verb == "compare" ? "OLD NEW" : "one FILE"); see 'roost model --help'")
        }
        switch verb {
        case "print": return try printModel(arguments, console)
        case "validate": return try validate(arguments, console)
        default: return try compare(arguments, console)
        }
    }

    private static func printModel(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let (model, warnings) = try StoreArguments.model(
            arguments.positions[1], version: arguments.value("model-version"), arguments)
        var document = String(decoding: model.document(), as: UTF8.self)
        if document.hasSuffix("\n") { document.removeLast() }
        try console.print(document)
        if !arguments.has("quiet") { for warning in warnings { console.printError("warning: \(warning)") } }
        return .success
    }

    private struct Validation: Encodable {
        var valid: Bool
        var problems: [String]
        var warnings: [String]
    }

    private static func validate(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        var validation = Validation(valid: true, problems: [], warnings: [])
        do {
            validation.warnings = try StoreArguments.model(
                arguments.positions[1], version: arguments.value("model-version"), arguments
            ).warnings
        } catch let error as StoreError {
            guard error.code == .invalidModel else { throw error }
            validation.valid = false
            // The first line of several only says that problems follow.
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

    private struct Comparison: Encodable {
        struct Difference: Encodable {
            var kind: String
            var entity: String?
            var property: String?
            var subject: String
            var details: [String]
            var changesVersionHash: Bool
        }

        var equal: Bool
        var compatible: Bool
        var differences: [Difference]
    }

    private static func compare(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let old = try StoreArguments.model(
            arguments.positions[1], version: arguments.value("old-version"), arguments
        ).model
        let new = try StoreArguments.model(
            arguments.positions[2], version: arguments.value("model-version"), arguments
        ).model
        let differences = new.difference(from: old).filter { !arguments.has("hash-only") || $0.changesVersionHash }
        if arguments.has("json") {
            try console.printJSON(
                Comparison(
                    equal: differences.isEmpty,
                    compatible: old.entities.map(\.name) == new.entities.map(\.name)
                        && old.entities.map(\.versionHash) == new.entities.map(\.versionHash),
                    differences: differences.map {
                        .init(
                            kind: $0.kind.rawValue, entity: $0.entity, property: $0.property, subject: $0.subject,
                            details: $0.details, changesVersionHash: $0.changesVersionHash)
                    }))
        } else {
            for difference in differences { try console.print(difference.description) }
        }
        return differences.isEmpty ? .success : .finding
    }
}
