internal import Foundation

struct Options {
    static let usage = """
        Compares Roost with programs in C that do the same, and migrations with conversions, on this machine.

        bench [NAME…] [--quick] [--rounds=N] [--objects=N]
              [--json=FILE] [--markdown=FILE] [--svg=FILE] [--directory=DIR]
        bench --scaling [NAME…] [--largest=N] [--json=FILE]
        bench --memory [NAME…] [--largest=N]
        bench --profile=roost|baseline NAME [--rounds=N] [--objects=N]
        bench --list

          NAME              operations to run ("sqlite/scan"), groups ("sqlite-lmdb") or kinds ("scan"); default: all
          --quick           a tenth of the objects and three rounds
          --rounds=N        measured rounds of each side; default: 5
          --objects=N       tracks in every store, instead of each operation's own number
          --json=FILE       also write the results as JSON
          --markdown=FILE   also write the table as Markdown
          --svg=FILE        also write a chart
          --directory=DIR   where stores are made; default: .build/bench in the current directory
          --scaling         time per object from 1 000 tracks on, ten times as many each step: scans, loads, conversions,
                            migrations
          --memory          private memory of conversions and migrations from 10 000 tracks on, ten times as many each step
          --largest=N       the largest number of tracks for --scaling and --memory; default: 1 000 000
          --profile=SIDE    run one side in this process, for a profiler
          --list            print the names of all operations

        Exit codes: 0 all measured, 1 an operation could not be measured or its sides did different work, 2 another error.
        """

    enum Mode {
        case compare, scaling, memory, list, help
        case profile(Side)
    }

    var mode = Mode.compare
    var names: [String] = []
    var scale = Scale()
    var largest = 1_000_000
    var json: String?
    var markdown: String?
    var svg: String?
    var directory = ".build/bench"

    /// Reads arguments, or throws an error that names the wrong argument.
    init(_ arguments: [String]) throws {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let (name, value) = (parts[0], parts.count == 2 ? parts[1] : nil)
            switch (name, value) {
            case ("--quick", nil): (scale.divisor, scale.rounds) = (10, 3)
            case ("--list", nil): mode = .list
            case ("--help", nil), ("-h", nil): mode = .help
            case ("--scaling", nil): mode = .scaling
            case ("--memory", nil): mode = .memory
            case ("--profile", let value?):
                guard let side = Side(rawValue: value) else {
                    throw BenchmarkError("--profile takes 'roost' or 'baseline', not '\(value)'")
                }
                mode = .profile(side)
            case ("--rounds", let value?): scale.rounds = try Self.number(name, value: value)
            case ("--objects", let value?): scale.trackCount = try Self.number(name, value: value)
            case ("--largest", let value?): largest = try Self.number(name, value: value)
            case ("--json", let value?): json = value
            case ("--markdown", let value?): markdown = value
            case ("--svg", let value?): svg = value
            case ("--directory", let value?): directory = value
            default:
                guard !argument.hasPrefix("-") else {
                    throw BenchmarkError("unknown option '\(argument)'; bench --help lists the options")
                }
                names.append(argument)
            }
        }
    }

    private static func number(_ name: String, value: String) throws -> Int {
        guard let number = Int(value), number > 0 else {
            throw BenchmarkError("\(name) takes a number above 0, not '\(value)'")
        }
        return number
    }

    /// Returns the operations that ``names`` or, without names, `standard` selects.
    ///
    /// Without either, returns all operations. Throws for an unknown name.
    func operations(standard: [String] = []) throws -> [Operation] {
        let names = names.isEmpty ? standard : names
        guard !names.isEmpty else { return Operations.all }
        for name in names where !Operations.all.contains(where: { Self.matches($0, name: name) }) {
            throw BenchmarkError("unknown operation, group or kind '\(name)'; bench --list lists all names")
        }
        return Operations.all.filter { operation in names.contains { Self.matches(operation, name: $0) } }
    }

    private static func matches(_ operation: Operation, name: String) -> Bool {
        operation.name == name || operation.group == name || operation.name.hasSuffix("/" + name)
    }

    /// Returns numbers of tracks from `smallest` to ``largest``, each ten times the previous one.
    func sizes(from smallest: Int) -> [Int] {
        Array(sequence(first: smallest) { $0 * 10 <= largest ? $0 * 10 : nil })
    }
}
