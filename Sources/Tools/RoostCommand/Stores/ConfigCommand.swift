internal import Roost
internal import RoostCore
internal import RoostStores

extension Subcommand {
    static let config = Subcommand(
        name: "config", summary: "Show the active configuration, and the origin of each value.", usage: "",
        argumentCount: 0...0,
        discussion: """
            The configuration names stores and a model for this program and for programs that use Roost. It is the file of
            --config, else the file that ROOST_CONFIG names, else the first roost.json in the working directory or a directory
            above it. ROOST_STORE names the default store, and overrides the file's default.

              {
                model: "Music.xcdatamodeld",
                stores: {
                  main:  { type: "sqlite", path: "data/music.sqlite", options: { synchronous: "full" } },
                  cache: { url: "lmdb:data/cache.lmdb" },
                },
                default: "main",
              }

            Every command that opens a store accepts its name in the file, and uses its options. Relative paths are relative to
            the file's directory. Keys, types, names, options and values are checked, and the model is read; an error ends the
            command with exit code 2. Stores are not opened. docs/configuration.md lists all keys and options.

            With --json prints one object: file (absent without a configuration), settings [{key, value, origin}] with
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
            try console.print(
                "Found no configuration: no roost.json in this directory or above, and ROOST_CONFIG is not set.")
        }
        guard !configuration.settings.isEmpty else { return .success }
        var table = TextTable([("setting", .leading), ("value", .leading), ("from", .leading)])
        for setting in configuration.settings {
            // The origin is shown because a file in a parent directory can belong to another user.
            table.append(
                [setting.key, setting.value, text(setting.origin, file: configuration.file)].map { VisibleText.of($0) })
        }
        try console.print(table.description)
        return .success
    }

    /// Returns an origin, without the directories of the configuration's file.
    ///
    /// The first row of the table shows the whole path of that file.
    private static func text(_ origin: RoostConfiguration.Origin, file: String?) -> String {
        guard case .file(let path, let line) = origin, path == file else { return origin.description }
        return "\(path.split(separator: "/").last ?? ""):\(line)"
    }
}
