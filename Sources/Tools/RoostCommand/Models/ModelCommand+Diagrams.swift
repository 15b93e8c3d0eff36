internal import Foundation
internal import Roost
internal import RoostCore

extension Subcommand {
    static func drawModel(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let model = try StoreArguments.model(
            arguments.positions[1], version: arguments.value("model-version"), arguments: arguments
        ).model
        try console.print(
            try draw(model, comparedWith: nil, as: try format(arguments) ?? "mermaid", arguments: arguments))
        return .success
    }

    /// Returns the diagram of the difference of two models, or nil without `--format`.
    static func diagram(
        of model: ManagedObjectModel, comparedWith old: ManagedObjectModel, arguments: ParsedArguments
    ) throws -> String? {
        guard let format = try format(arguments) else {
            if arguments.value("entity") != nil {
                throw UsageError("option '--entity' of 'roost model diff' needs --format")
            }
            return nil
        }
        return try draw(model, comparedWith: old, as: format, arguments: arguments)
    }

    private static func format(_ arguments: ParsedArguments) throws -> String? {
        guard let format = arguments.value("format") else { return nil }
        guard !arguments.has("json") else {
            throw UsageError("a diagram cannot be JSON; leave out --json or --format")
        }
        let formats = ["mermaid", "dot", "svg"]
        guard formats.contains(format) else {
            throw UsageError("a diagram cannot have the format '\(format)'; it is mermaid, dot or svg")
        }
        return format
    }

    private static func draw(
        _ model: ManagedObjectModel, comparedWith old: ManagedObjectModel?, as format: String,
        arguments: ParsedArguments
    ) throws -> String {
        let selection = arguments.allValues("entity")
        let names = (model.entityDescriptions + (old?.entityDescriptions ?? [])).map(\.name)
        for name in selection where !names.contains(name) {
            let hint =
                nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
                ?? "it has \(Set(names).sorted().joined(separator: ", "))"
            throw UsageError("the model has no entity '\(name)'; \(hint)")
        }
        let diagram = ModelDiagram(
            model, comparedWith: old, selection: selection, depth: try arguments.integer("depth", minimum: 0) ?? 1)
        switch format {
        case "dot": return diagram.dot
        case "svg": return try svg(diagram.dot)
        default: return diagram.mermaid
        }
    }

    private static func svg(_ dot: String) throws -> String {
        guard let program = SystemProgram.path(ofOneOf: ["dot"]) else {
            throw StoreError(
                .unsupported,
                "The diagram was not drawn, because Graphviz's program 'dot' is not installed: apt install graphviz, or brew install graphviz. Or write --format=dot."
            )
        }
        // The input is a file: with two pipes, this program and `dot` could deadlock.
        let source = FileManager.default.temporaryDirectory.appendingPathComponent("roost-\(UUID().uuidString).dot")
        try Data(dot.utf8).write(to: source)
        defer { try? FileManager.default.removeItem(at: source) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-Tsvg", source.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let drawn = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0, !drawn.isEmpty else {
            throw StoreError(
                .unsupported, "The diagram was not drawn: '\(program)' ended with status \(process.terminationStatus).")
        }
        return String(decoding: drawn, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
