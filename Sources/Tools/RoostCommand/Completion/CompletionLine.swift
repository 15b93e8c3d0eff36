internal import Foundation

/// The options and other arguments before the cursor; unknown options are ignored.
struct CompletionLine {
    let options: [CommandOption]
    private(set) var positions: [String] = []
    private(set) var values: [String: String] = [:]
    /// The option whose value is at the cursor, or nil.
    private(set) var pendingOption: CommandOption?
    /// Whether `--` ended the options.
    private(set) var isAfterOptions = false

    init(_ words: some Sequence<String>, command: Subcommand) {
        options = command.allOptions
        for word in words {
            if let option = pendingOption {
                values[option.name] = word
                pendingOption = nil
            } else if isAfterOptions || !word.hasPrefix("-") || word == "-" {
                positions.append(word)
            } else if word == "--" {
                isAfterOptions = true
            } else if word.hasPrefix("--") {
                let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard let option = options.first(where: { $0.name == parts[0] && $0.valueName != nil }) else {
                    continue
                }
                if parts.count > 1 { values[option.name] = String(parts[1]) } else { pendingOption = option }
            } else {
                read(letters: word.dropFirst())
            }
        }
    }

    private mutating func read(letters: Substring) {
        var letters = letters
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.letter == letter }), option.valueName != nil else { continue }
            if letters.isEmpty { pendingOption = option } else { values[option.name] = String(letters) }
            return
        }
    }

    /// The arguments that open the first store on the line, without waiting for a lock.
    var storeArguments: [String] {
        let options = ["config", "model", "model-version"].compactMap { name in values[name].map { "--\(name)=\($0)" } }
        return options + ["--timeout=0"] + (positions.first.map { ["--", $0] } ?? [])
    }

    /// Returns the words of a usage line that can follow `positions`.
    ///
    /// In `print|validate FILE, diff OLD NEW`, `OLD` follows `diff`.
    static func words(of usage: String, after positions: [String]) -> [String] {
        usage.components(separatedBy: ", ").compactMap { form in
            let words = form.split(separator: " ").map { $0.trimmingPrefix("[").filter { $0 != "]" } }
            for (word, position) in zip(words, positions) where word == word.lowercased() {
                guard word.split(separator: "|").contains(Substring(position)) else { return nil }
            }
            if positions.count < words.count {
                let word = words[positions.count]
                return word.hasSuffix("...") ? String(word.dropLast(3)) : word
            }
            guard let last = words.last, last.hasSuffix("...") else { return nil }
            return String(last.dropLast(3))
        }
    }
}
