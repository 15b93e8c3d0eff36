internal import Roost
internal import RoostCore
internal import RoostStores

/// The completions at the cursor.
///
/// The scripts of `roost completions` run `roost __complete`, so they do not become outdated.
struct Completer {
    /// The hidden command that the scripts run.
    static let commandName = "__complete"

    /// A word that can be at the cursor.
    struct Candidate: Hashable {
        var text: String
        /// The meaning, for shells that show it.
        var help = ""
    }

    let commands: [Subcommand]

    init(_ commands: [Subcommand]) { self.commands = commands }

    /// Returns the candidates for the last element of `words`, which are the words after `roost`.
    func candidates(_ words: [String]) -> [Candidate] {
        let current = words.last ?? ""
        guard words.count > 1, let name = words.first else {
            return matching(
                current,
                candidates: commands.map { Candidate(text: $0.name, help: $0.summary) }
                    + [Candidate(text: "help", help: "Show the help of a command.")]
                    + Help.options.map { Candidate(text: "--\($0.name)", help: $0.help) },
                hidesOptions: true)
        }
        if name == "help" {
            guard words.count == 2 else { return [] }
            return matching(current, candidates: commands.map { Candidate(text: $0.name, help: $0.summary) })
        }
        guard let command = commands.first(where: { $0.name == name }) else { return [] }
        let line = CompletionLine(words.dropFirst().dropLast(), command: command)
        if let option = line.pendingOption { return values(of: option, current: current, line: line) }
        if !line.isAfterOptions, current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
            let written = current[..<equals].dropFirst(2)
            guard let option = line.options.first(where: { $0.name == written && $0.valueName != nil }) else {
                return []
            }
            let prefix = current[...equals]
            return values(of: option, current: String(current[equals...].dropFirst()), line: line)
                .map { Candidate(text: prefix + $0.text, help: $0.help) }
        }
        if !line.isAfterOptions, current.hasPrefix("-") {
            let options = line.options.map {
                Candidate(text: "--\($0.name)\($0.valueName == nil ? "" : "=")", help: $0.help)
            }
            return matching(current, candidates: options)
        }
        var found: [Candidate] = []
        for word in CompletionLine.words(of: command.usage, after: line.positions) {
            for candidate in places(word, current: current, line: line) where !found.contains(candidate) {
                found.append(candidate)
            }
        }
        return found
    }

    /// Returns the candidates for a placeholder in a usage line, such as `STORE`.
    private func places(_ word: String, current: String, line: CompletionLine) -> [Candidate] {
        if word.contains("|") || word.allSatisfy({ $0.isLowercase || $0 == "-" }) {
            return matching(current, candidates: word.split(separator: "|").map { Candidate(text: String($0)) })
        }
        switch word {
        case "STORE", "SOURCE", "A", "B", "OLD", "NEW", "FILE":
            return stores(current, line: line) { _ in true }
        case "DEST":
            return stores(current, line: line) { $0.capabilities.contains(.writing) }
        case "TYPE":
            return matching(
                current,
                candidates: StoreRegistry.standard.all.filter { $0.capabilities.contains(.writing) }
                    .map { Candidate(text: $0.name) })
        case "ENTITY":
            return matching(current, candidates: entities(line).map { Candidate(text: $0) })
        default:
            return FileCandidates.files(current)
        }
    }

    private func values(of option: CommandOption, current: String, line: CompletionLine) -> [Candidate] {
        let choices = option.choices
        guard choices.isEmpty else { return matching(current, candidates: choices.map { Candidate(text: $0) }) }
        if option.name == "entity" { return places("ENTITY", current: current, line: line) }
        switch option.valueName {
        case "FILE", "PATH", "OUT", "OUTPUT": return FileCandidates.files(current)
        case "D", "DIR", "DIRECTORY": return FileCandidates.files(current, onlyDirectories: true)
        case "STORE": return stores(current, line: line) { _ in true }
        case "TYPE": return places("TYPE", current: current, line: line)
        case "ENTITY": return places("ENTITY", current: current, line: line)
        default: return []
        }
    }

    private func stores(
        _ current: String, line: CompletionLine, where isWanted: (any PersistentStoreType) -> Bool
    ) -> [Candidate] {
        let types = StoreRegistry.standard.all.filter(isWanted)
        if let type = types.first(where: { current.hasPrefix("\($0.name):") }) {
            let prefix = "\(type.name):"
            guard type.capabilities.contains(.file) else { return [] }
            // In an argument, shells do not expand `~` after a colon.
            return FileCandidates.files(String(current.dropFirst(prefix.count)), expandsHome: false)
                .map { Candidate(text: prefix + $0.text) }
        }
        let names = settings(line).filter { $0.key.hasPrefix("stores.") && !$0.key.contains(".options.") }
            .map { Candidate(text: String($0.key.dropFirst("stores.".count)), help: $0.value) }
        return matching(current, candidates: names) + FileCandidates.files(current)
            + matching(current, candidates: types.map { Candidate(text: "\($0.name):", help: "a store of this type") })
    }

    /// Returns the settings; empty if the configuration is invalid.
    private func settings(_ line: CompletionLine) -> [RoostConfiguration.Setting] {
        (try? RoostConfiguration(file: line.values["config"]))?.settings ?? []
    }

    /// Returns the names of the entities in the first store on the line, or in the default store.
    private func entities(_ line: CompletionLine) -> [String] {
        guard let arguments = try? ParsedArguments(line.storeArguments, for: .info),
            let text = arguments.positions.first
        else { return [] }
        return StoreArguments.entityNames(text, arguments: arguments)
    }

    /// Returns the candidates that begin with `current`.
    ///
    /// If `hidesOptions` is true, an empty `current` matches no options.
    private func matching(
        _ current: String, candidates: [Candidate], hidesOptions: Bool = false
    ) -> [Candidate] {
        candidates.filter {
            $0.text.hasPrefix(current) && !(hidesOptions && current.isEmpty && $0.text.hasPrefix("-"))
        }
    }
}
