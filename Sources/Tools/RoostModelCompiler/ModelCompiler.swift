internal import Foundation
internal import RoostAppleModels
internal import RoostCore
internal import RoostFiles
internal import RoostModelCode

/// The program `roost-model-compiler`, which generates the same classes as `roost model generate`.
///
/// Build tools run this program, because it does not link the libraries of the stores.
@main
enum ModelCompiler {
    static func main() {
        exit(
            run(
                Array(CommandLine.arguments.dropFirst()), print: { print($0) },
                printError: { FileHandle.standardError.write(Data("\($0)\n".utf8)) }))
    }

    /// Runs one command line, and returns the exit code.
    ///
    /// `arguments` does not contain the name of the program.
    static func run(
        _ arguments: [String], print: (String) -> Void, printError: (String) -> Void
    ) -> Int32 {
        let parsed: CompilerArguments
        do throws(UsageError) { parsed = try CompilerArguments(arguments) } catch {
            printError("roost-model-compiler: error: \(error.message)")
            return 2
        }
        guard !parsed.showsHelp else {
            print(CompilerArguments.usage)
            return 0
        }
        do throws(StoreError) {
            let source = Self.lastComponent(parsed.model)
            let (model, warnings) = try read(parsed)
            for warning in warnings { printError("warning: \(warning)") }
            let files = try ModelCode(model, source: source, access: parsed.access).files(parsed.layout)
            let folder = GeneratedFolder(at: parsed.output, source: source)
            let findings = parsed.isCheck ? try folder.findings(files) : try folder.write(files)
            for finding in findings where parsed.isCheck || !parsed.isQuiet {
                print(parsed.isCheck ? finding.description : finding.writtenDescription)
            }
            return parsed.isCheck && !findings.isEmpty ? 1 : 0
        } catch {
            // Xcode shows a line in this format as an error of the named file.
            printError("\(parsed.model): error: \(error.message)")
            return 3
        }
    }

    private static func read(
        _ arguments: CompilerArguments
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [String]) {
        let path = arguments.model
        if path.lowercased().hasSuffix(".json") {
            guard arguments.version == nil else {
                throw StoreError(.invalidRequest, "A model document has no versions. Remove --model-version.")
            }
            let bytes = try SmallFile.bytes(at: path, maximumByteCount: 16 << 20, noun: "a model document")
            return (try ManagedObjectModel(document: bytes), [])
        }
        let read = try CoreDataModelReader.read(at: path, version: arguments.version) { (_, file) throws(StoreError) in
            throw StoreError(
                .unsupported,
                "'\(file)' is a compiled model. Give its source instead, the .xcdatamodeld bundle, or make a model document with 'roost model print'."
            )
        }
        if arguments.isForXcode {
            let entities = try CoreDataModelReader.entitiesWithXcodeClasses(at: path, version: arguments.version)
            guard entities.isEmpty else {
                let list = entities.map { "'\($0)'" }.joined(separator: ", ")
                throw StoreError(
                    .invalidModel,
                    "Xcode and Roost would both generate the classes of these entities: \(list). In Xcode's model editor, set 'Codegen' of each to 'Manual/None'."
                )
            }
        }
        return (read.model, read.warnings.map(\.description))
    }

    private static func lastComponent(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
