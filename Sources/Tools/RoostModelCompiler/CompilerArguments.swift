internal import RoostCore
internal import RoostModelCode

struct UsageError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

struct CompilerArguments {
    static let usage = """
        usage: roost-model-compiler MODEL --output DIR [options]

        Generate Swift classes from a model: a model document (.roostmodel.json) or a model of Core Data (.xcdatamodeld,
        .xcdatamodel). Print what changed in DIR, one file a line.

          --output DIR           The directory of the generated files.
          --check                Write nothing. Print each stale, missing or superfluous file; exit 1 if there are any.
          --access LEVEL         internal, package or public (default: internal).
          --single-file          Write one file for the whole model instead of one for each entity.
          --model-version NAME   The version in a bundle of models (default: the current version).
          --xcode                Refuse a model whose classes Xcode generates too.
          --quiet                Do not print the files that were written or removed.
          -h, --help             Show this help.

        Exit codes: 0 success, 1 differences found by --check, 2 wrong arguments, 3 any other error.
        """

    private(set) var model = ""
    private(set) var output = ""
    private(set) var access = ModelCode.AccessLevel.internal
    private(set) var layout = ModelCode.Layout.perEntity
    private(set) var version: String?
    private(set) var isCheck = false
    private(set) var isForXcode = false
    private(set) var isQuiet = false
    private(set) var showsHelp = false

    private static let flags = ["check", "single-file", "xcode", "quiet", "help"]
    private static let options = ["output", "access", "model-version"]

    /// Reads the model, and options as `--name`, `--name VALUE` or `--name=VALUE`.
    ///
    /// After `--`, no argument is an option.
    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        var models: [String] = []
        while let argument = rest.popFirst() {
            if argument == "--" {
                models += rest
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                models.append(argument)
                continue
            }
            let text = argument == "-h" ? "help" : String(argument.dropFirst(argument.hasPrefix("--") ? 2 : 0))
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0]
            if Self.flags.contains(name) {
                guard parts.count == 1 else { throw UsageError("option '--\(name)' has no value") }
                try set(name)
            } else if Self.options.contains(name) {
                guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    throw UsageError("option '--\(name)' needs a value")
                }
                try set(name, to: value)
            } else {
                let hint =
                    nearestName(to: name, among: Self.flags + Self.options).map { "did you mean '--\($0)'?" }
                    ?? "see --help"
                throw UsageError("unknown option '\(argument)'; \(hint)")
            }
        }
        guard !showsHelp else { return }
        guard let model = models.first, models.count == 1 else {
            throw UsageError(
                models.isEmpty ? "MODEL is missing; see --help" : "only one MODEL is possible, not '\(models[1])' too")
        }
        guard !output.isEmpty else { throw UsageError("option '--output' is missing; see --help") }
        self.model = model
    }

    private mutating func set(_ flag: String) throws(UsageError) {
        switch flag {
        case "check": isCheck = true
        case "single-file": layout = .singleFile
        case "xcode": isForXcode = true
        case "quiet": isQuiet = true
        default: showsHelp = true
        }
    }

    private mutating func set(_ option: String, to value: String) throws(UsageError) {
        switch option {
        case "output": output = value
        case "access":
            guard let level = ModelCode.AccessLevel(rawValue: value) else {
                throw UsageError("option '--access' is internal, package or public, not '\(value)'")
            }
            access = level
        default: version = value
        }
    }
}
