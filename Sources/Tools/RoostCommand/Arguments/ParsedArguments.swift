internal import RoostCore

/// The arguments of a subcommand, separated into options and positions.
struct ParsedArguments: Sendable {
    /// The arguments that are not options, in order.
    private(set) var positions: [String] = []
    private var flags: Set<String> = []
    private var values: [String: [String]] = [:]

    func has(_ option: String) -> Bool { flags.contains(option) }

    func value(_ option: String) -> String? { values[option]?.last }

    func allValues(_ option: String) -> [String] { values[option] ?? [] }

    func integer(_ option: String, minimum: Int) throws -> Int? {
        guard let text = value(option) else { return nil }
        guard let number = Int(text), number >= minimum else {
            throw UsageError("option '--\(option)' needs a whole number of at least \(minimum), not '\(text)'")
        }
        return number
    }

    /// Separates options from positions, adds the default store if needed, and checks the result.
    ///
    /// Options are `--name`, `--name=value`, `--name value`, `-n`, `-n value` and `-nvalue`. If
    /// `-n` takes no value, `-nm` is `-n -m`. All arguments after `--` are positions.
    init(_ arguments: [String], for command: Subcommand) throws {
        let options = command.allOptions
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                positions += rest
                break
            } else if argument.hasPrefix("--") {
                try parseLong(argument, options: options, rest: &rest, command: command)
            } else if argument.hasPrefix("-"), argument != "-" {
                try parseShort(argument, options: options, rest: &rest, command: command)
            } else {
                positions.append(argument)
            }
        }
        guard !has("help") else { return }
        // Numbers are checked before positions are counted, because '--timeout a.sqlite' takes the store as its value.
        for option in options where option.isNumber {
            guard let text = allValues(option.name).first(where: { Int($0) == nil }) else { continue }
            throw UsageError("option '--\(option.name)' needs a whole number, not '\(text)'")
        }
        for option in options where values[option.name] != nil || has(option.name) {
            guard let needed = option.needs, values[needed] == nil, !has(needed) else { continue }
            throw UsageError("option '--\(option.name)' needs '--\(needed)' too")
        }
        // A command that can overwrite a store does not use the default store.
        if positions.count + 1 == command.argumentCount.lowerBound, command.usage.hasPrefix("STORE"),
            !options.contains(where: { $0.name == "overwrite" }), let store = try StoreArguments.defaultStore(self)
        {
            positions.insert(store, at: 0)
        }
        if positions.count < command.argumentCount.lowerBound {
            if positions.count == 1, command.usage.hasPrefix("STORE ENTITY") {
                let names = StoreArguments.entityNames(positions[0], arguments: self)
                guard names.isEmpty else {
                    throw UsageError(
                        "'roost \(command.name)' needs an ENTITY; '\(positions[0])' has \(listed(names))")
                }
            }
            throw UsageError("'roost \(command.name)' needs \(command.usage); see 'roost \(command.name) --help'")
        }
        if positions.count > command.argumentCount.upperBound {
            throw UsageError(
                "unexpected argument '\(positions[command.argumentCount.upperBound])': 'roost \(command.name)' takes \(command.usage.isEmpty ? "only options" : command.usage); see 'roost \(command.name) --help'"
            )
        }
    }

    private mutating func parseLong(
        _ argument: String, options: [CommandOption], rest: inout ArraySlice<String>, command: Subcommand
    ) throws {
        let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = options.first(where: { $0.name == name }) else {
            let hint =
                nearestName(to: name, among: options.map(\.name)).map { "did you mean '--\($0)'?" }
                ?? "see 'roost \(command.name) --help'"
            throw UsageError("unknown option '--\(name)'; \(hint)")
        }
        guard option.valueName != nil else {
            guard parts.count == 1 else { throw UsageError("option '--\(name)' takes no value") }
            flags.insert(name)
            return
        }
        values[name, default: []].append(try parts.count > 1 ? String(parts[1]) : Self.value(of: option, rest: &rest))
    }

    private mutating func parseShort(
        _ argument: String, options: [CommandOption], rest: inout ArraySlice<String>, command: Subcommand
    ) throws {
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.letter == letter }) else {
                throw UsageError("unknown option '-\(letter)'; see 'roost \(command.name) --help'")
            }
            guard option.valueName != nil else {
                flags.insert(option.name)
                continue
            }
            values[option.name, default: []].append(
                try letters.isEmpty ? Self.value(of: option, rest: &rest) : String(letters))
            return
        }
    }

    private static func value(of option: CommandOption, rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else {
            throw UsageError("option '--\(option.name)' needs a value: --\(option.name)=\(option.valueName ?? "VALUE")")
        }
        return value
    }
}
