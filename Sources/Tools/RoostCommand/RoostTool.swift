internal import Roost
internal import RoostConformance
internal import RoostCore
internal import RoostSystem

/// The `roost` program, which runs a subcommand and turns errors into one line and an exit code.
@main
enum RoostTool {
    /// All subcommands, in the order of the help.
    static let commands: [Subcommand] = [
        .browse, .shell,
        .convert, .migrate, .importData, .export, .info, .history, .check, .diff, .fetch, .insert, .update, .delete,
        .dump,
        .load, .backup,
        .compact,
        .model, .config,
        .conformance, .demo,
        .completions, .man,
    ]

    static func main() {
        // Called first: a file opened earlier could get the descriptor of a closed standard stream.
        Console.fillStandardDescriptors()
        SystemThread.spareAddressSpace()
        Interruption.shared.install()
        // A damaged or hostile file could make SQLite use all memory. The limit is eight times the
        // default limit of a value.
        limitLibraryMemory(toByteCount: 2 << 30)
        do throws(UsageError) {
            let arguments = try ProgramArguments.read()
            Console.leave(Interruption.shared.running { run(arguments, console: Console()) })
        } catch {
            Console().printError(error.message)
            Console.leave(.usage)
        }
    }

    static func run(_ arguments: [String], console: Console) -> ExitCode {
        var isVerbose = false
        do {
            guard let name = arguments.first else {
                try console.print(Help.overview(commands))
                return .usage
            }
            switch name {
            case "--help", "-h":
                try console.print(Help.overview(commands))
                return .success
            case "--version", "version":
                try console.print("roost \(roostVersion)")
                return .success
            case "help":
                guard arguments.count > 1 else {
                    try console.print(Help.overview(commands))
                    return .success
                }
                try console.print(Help.text(try command(named: arguments[1])))
                return .success
            case Completer.commandName:
                try console.print(Completer(commands).answer(Array(arguments.dropFirst())))
                return .success
            case PeerProgram.commandName:
                return ConformancePeer.main(StoreRegistry.standard.all) == 0 ? .success : .failure
            default: break
            }
            let command = try command(named: name)
            let parsed = try ParsedArguments(Array(arguments.dropFirst()), for: command)
            if parsed.has("help") {
                try console.print(Help.text(command))
                return .success
            }
            isVerbose = parsed.has("verbose")
            return try command.run(parsed, console)
        } catch let error as UsageError {
            console.printError(error.message)
            return .usage
        } catch let error as OutputError {
            return code(of: error, console: console)
        } catch let error as StoreError {
            if let output = error.underlying as? OutputError {
                return code(of: output, console: console, message: error.message)
            }
            // An interrupted fetch ends without a message.
            if error.code == .cancelled, Interruption.shared.isReadingCancelled { return .interrupted }
            let underlying = isVerbose ? error.underlying.map { " (\($0))" } ?? "" : ""
            console.printError(Self.line(error.message) + underlying)
            return exitCode(of: error.code)
        } catch {
            console.printError("\(error)")
            return .failure
        }
    }

    /// Returns the exit code for an error, as in `docs/errors.md`.
    ///
    /// An error of the arguments is a ``UsageError`` instead.
    static func exitCode(of code: StoreError.Code) -> ExitCode {
        switch code {
        case .cancelled: .interrupted
        case .invalidConfiguration: .usage
        default: .failure
        }
    }

    /// Returns the exit code after failed output; prints only a system error.
    private static func code(of error: OutputError, console: Console, message: String? = nil) -> ExitCode {
        switch error.reason {
        case .readerGone: return .success
        case .interrupted: return .interrupted
        case .system:
            console.printError(message ?? "\(error)")
            return .failure
        }
    }

    private static func command(named name: String) throws -> Subcommand {
        if let command = commands.first(where: { $0.name == name }) { return command }
        let what = name.hasPrefix("-") ? "option" : "command"
        let candidates = name.hasPrefix("-") ? ["--help", "--version"] : commands.map(\.name)
        let hint = nearestName(to: name, among: candidates).map { "did you mean '\($0)'?" } ?? "see 'roost --help'"
        throw UsageError("unknown \(what) '\(name)'; \(hint)")
    }

    /// Returns a message of several lines as one line.
    static func line(_ message: String) -> String {
        message.split(separator: "\n").map { $0.drop(while: \.isWhitespace) }.joined(separator: " ")
    }
}
