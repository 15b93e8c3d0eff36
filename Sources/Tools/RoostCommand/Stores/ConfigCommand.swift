internal import Roost
internal import RoostCore
internal import RoostStores

extension Subcommand {
    static let config = Subcommand(
        name: "config", summary: "Show the configuration that is in force, and where each value comes from.", usage: "",
        argumentCount: 0...0,
        discussion: """
            The configuration says which stores there are, and which model, for this program and for those that use Roost. It is
            the file of --config, else the file that ROOST_CONFIG names, else the first roost.json in the working directory or a
            directory above it. ROOST_STORE says which store is the default instead of the file.

              {
                model: "Music.xcdatamodeld",
                stores: {
                  main:  { type: "sqlite", path: "data/music.sqlite", options: { synchronous: "full" } },
                  cache: { url: "lmdb:data/cache.lmdb" },
                },
                default: "main",
              }

            Every command that takes a store takes such a name, and uses the store's options. Relative paths are relative to the
            file's directory. Keys, types, names, options and values are checked, and the model is read; what is wrong is told
            at once, exit code 2. Stores are not opened. docs/configuration.md has all keys and options.

            With --json prints one object: file (absent when there is no configuration), settings [{key, value, origin}] with
            origin FILE:LINE, a variable's name, given (by --config), found or default.
            """,
        options: [.config, .json, .verbose],
        examples: [
            "roost config", "roost config --config=test/roost.json --json", "ROOST_STORE=lmdb:other.lmdb roost config",
        ], run: runConfig)

    private struct Report: Encodable {
        struct Setting: Encodable {
            var key: String
            var value: String
            var origin: String
        }

        var file: String?
        var settings: [Setting]
    }

    @Sendable private static func runConfig(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let configuration = try StoreArguments.configuration(arguments)
        do throws(StoreError) {
            _ = try configuration.model()
        } catch {
            throw StoreError(
                .invalidConfiguration, "The model of the configuration cannot be used: \(error.message)",
                underlying: error)
        }
        if arguments.has("json") {
            let settings = configuration.settings.map {
                Report.Setting(key: $0.key, value: $0.value, origin: $0.origin.description)
            }
            try console.printJSON(Report(file: configuration.file, settings: settings))
            return .success
        }
        if configuration.file == nil {
            try console.print("There is no configuration: no roost.json here or above, and no ROOST_CONFIG.")
        }
        guard !configuration.settings.isEmpty else { return .success }
        var table = TextTable([("setting", .leading), ("value", .leading), ("from", .leading)])
        for setting in configuration.settings {
            // The file may be a stranger's that lies above the working directory.
            table.append(
                [setting.key, setting.value, text(setting.origin, file: configuration.file)].map { VisibleText.of($0) })
        }
        try console.print(table.description)
        return .success
    }

    /// The origin, short: the table's first line has the whole path of the file.
    private static func text(_ origin: RoostConfiguration.Origin, file: String?) -> String {
        guard case .file(let path, let line) = origin, path == file else { return origin.description }
        return "\(path.split(separator: "/").last ?? ""):\(line)"
    }
}
