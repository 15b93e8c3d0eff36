internal import Foundation
internal import Roost

/// The program: the benchmark, and the workers that it starts.
@main
struct Bench {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        // In the baselines, SQLite does not count its memory either.
        stopCountingLibraryMemory()
        do {
            switch arguments.first {
            case "worker": Worker.run()
            case "make-fixture": try Fixtures.make(arguments.dropFirst())
            default:
                var bench = Bench(try Options(Array(arguments)))
                exit(try bench.run())
            }
        } catch {
            FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
            exit(2)
        }
    }

    private let options: Options
    private var runner: Runner

    private init(_ options: Options) {
        self.options = options
        let directory = URL(fileURLWithPath: options.directory).path
        runner = Runner(
            scale: options.scale, fixtures: Fixtures(directory: directory + "/fixtures"),
            workDirectory: directory + "/work"
        ) { FileHandle.standardError.write(Data("\($0.name)\n".utf8)) }
    }

    private mutating func run() throws -> Int32 {
        switch options.mode {
        case .help: print(Options.usage)
        case .list:
            for operation in try options.operations() { print(operation.name, operation.title, separator: "\t") }
        case .profile(let side):
            for operation in try options.operations() { try runner.profile(operation, side: side) }
        case .compare: return try compare()
        case .scaling: return try measureScaling()
        case .memory: return try measureMemory()
        }
        return 0
    }

    private func compare() throws -> Int32 {
        let operations = try options.operations()
        let results = measure(operations.map { ($0, options.scale) })
        for table in results.tables { print(table.text, terminator: "") }
        for line in results.summary { print(line) }
        return try finish(results)
    }

    private func measureScaling() throws -> Int32 {
        let sizes = options.sizes(from: 1000)
        let operations = try options.operations(standard: [
            "scan", "sqlite/load", "lmdb/load", "memory/load", "sqlite-lmdb/unverified", "lmdb-sqlite/unverified",
            "sqlite-sqlite/unverified", "sqlite-lmdb/migrate-policies", "lmdb-sqlite/migrate-policies",
        ])
        let results = measure(
            sizes.flatMap { size in
                operations.map { operation in
                    var scale = options.scale
                    scale.trackCount = size
                    return (operation, scale)
                }
            })
        print("time of one object, from \(grouped(1000)) tracks on\n")
        print(scalingTable(results.operations, sizes: sizes))
        print("processor time of each additional object, from the previous number of tracks to this one\n")
        print(growthTable(results.operations, sizes: sizes), terminator: "")
        return try finish(results)
    }

    private mutating func measureMemory() throws -> Int32 {
        let sizes = options.sizes(from: 10_000)
        let operations = try options.operations(standard: ["sqlite-lmdb", "lmdb-sqlite"])
        var table = SizeTable(sizes: sizes, summaryTitle: "most")
        for operation in operations where !isSkipped(operation) {
            var peaks: [Int?] = []
            for size in sizes {
                runner.scale.trackCount = size
                peaks.append(try runner.peakPrivateBytes(operation))
            }
            let cells = (peaks + [peaks.compactMap { $0 }.max()]).map { bytes in
                bytes.map { String(format: "%.1f MiB", Double($0) / 1_048_576) } ?? "–"
            }
            table.add(operation.name, cells: cells.dropLast(), summary: cells.last ?? "–")
        }
        print(table.text, terminator: "")
        return 0
    }

    /// Measures all operations except those whose server is missing, and records failures.
    private func measure(_ operations: [(Operation, Scale)]) -> Results {
        var results = Results(
            machine: .current, commit: Machine.commit, rounds: options.scale.rounds, operations: [], failures: [])
        var runner = runner
        for (operation, scale) in operations {
            if isSkipped(operation) { continue }
            runner.scale = scale
            do {
                results.operations.append(try runner.measure(operation))
            } catch {
                results.failures.append("\(operation.name): \(error)")
            }
        }
        return results
    }

    /// Prints the reason and returns true if the operation's server is missing.
    private func isSkipped(_ operation: Operation) -> Bool {
        guard operation.group == BenchmarkServer.type, let absence = BenchmarkServer.absence else { return false }
        print("skipped: \(operation.name): \(absence)")
        return true
    }

    /// Prints failures, writes the requested files, and returns the exit code.
    private func finish(_ results: Results) throws -> Int32 {
        for failure in results.failures { print("not measured: \(failure)") }
        if let path = options.json { try results.encoded().write(to: URL(fileURLWithPath: path)) }
        if let path = options.markdown {
            let text =
                ResultTable.heading(results) + "\n\n" + results.tables.map { $0.markdown + "\n" }.joined()
                + results.summary.map { $0.trimmingCharacters(in: .whitespaces) + "\n" }.joined(separator: "\n")
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        if let path = options.svg { try Data(ResultChart(results).svg.utf8).write(to: URL(fileURLWithPath: path)) }
        return results.failures.isEmpty ? 0 : 1
    }
}
