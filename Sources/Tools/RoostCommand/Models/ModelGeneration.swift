internal import Roost
internal import RoostCore
internal import RoostModelCode

extension Subcommand {
    private struct Generation: Encodable {
        struct File: Encodable {
            var name: String
            var state: String
        }

        var files: [File]
    }

    static func generate(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let path = arguments.positions[1]
        guard let output = arguments.value("output"), !output.isEmpty else {
            throw UsageError("'roost model generate' needs the directory of the generated files: --output=DIR")
        }
        let access = try accessLevel(arguments)
        let (model, warnings) = try StoreArguments.model(
            path, version: arguments.value("model-version"), arguments: arguments)
        if !arguments.has("quiet") { for warning in warnings { console.printError("warning: \(warning)") } }
        let source = path.split(separator: "/").last.map(String.init) ?? path
        let files = try ModelCode(model, source: source, access: access)
            .files(arguments.has("single-file") ? .singleFile : .perEntity)
        let folder = GeneratedFolder(at: output, source: source)
        let isCheck = arguments.has("check")
        let findings = isCheck ? try folder.findings(files) : try folder.write(files)
        if arguments.has("json") {
            let files = findings.map { Generation.File(name: $0.name, state: $0.kind.rawValue) }
            try console.printJSON(Generation(files: files))
        } else {
            for finding in findings where isCheck || !arguments.has("quiet") {
                try console.print(isCheck ? finding.description : finding.writtenDescription)
            }
        }
        return isCheck && !findings.isEmpty ? .finding : .success
    }

    private static func accessLevel(_ arguments: ParsedArguments) throws -> ModelCode.AccessLevel {
        guard let text = arguments.value("access") else { return .internal }
        guard let level = ModelCode.AccessLevel(rawValue: text) else {
            throw UsageError("option '--access' is internal, package or public, not '\(text)'")
        }
        return level
    }
}
