internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The program: a benchmark for people, and the workers it starts of itself.
@main
struct Bench {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch arguments.first {
            case "worker": Worker.run()
            case "make-fixture": try Fixtures.make(arguments.dropFirst())
            default: exit(try run(try Options(Array(arguments))))
            }
        } catch {
            FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ options: Options) throws -> Int32 {
        if options.isHelp {
            print(Options.usage)
            return 0
        }
        let operations = try options.operations()
        if options.isList {
            for operation in operations { print(operation.name, operation.title, separator: "\t") }
            return 0
        }
        let results = try measure(operations, options)
        print(ResultTable(results.operations).text, terminator: "")
        for failure in results.failures { print("not measured: \(failure)") }
        try write(results, options)
        return results.failures.isEmpty ? 0 : 1
    }

    private static func measure(_ operations: [Operation], _ options: Options) throws -> Results {
        let directory = URL(fileURLWithPath: options.directory).path
        let runner = Runner(
            scale: options.scale, fixtures: Fixtures(directory: directory + "/fixtures"),
            workDirectory: directory + "/work"
        ) { FileHandle.standardError.write(Data("\($0.name)\n".utf8)) }
        var results = Results(
            machine: .current, commit: Machine.commit, rounds: options.scale.rounds, operations: [], failures: [])
        for operation in operations {
            do {
                results.operations.append(try runner.measure(operation))
            } catch {
                results.failures.append("\(operation.name): \(error)")
            }
        }
        return results
    }

    private static func write(_ results: Results, _ options: Options) throws {
        if let path = options.json { try results.encoded().write(to: URL(fileURLWithPath: path)) }
        if let path = options.markdown {
            try Data(ResultTable(results.operations).markdown.utf8).write(to: URL(fileURLWithPath: path))
        }
    }
}
