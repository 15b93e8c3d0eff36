/// An option of a store type: its name, its possible values and its effect.
///
/// ``StoreOptions/typeOptions`` contains the options' values as text, by name.
public struct StoreOptionDescription: Sendable, Hashable {
    /// The possible values of an option.
    public enum Values: Sendable, Hashable {
        /// One of these words.
        case words([String])
        /// A whole number in a range.
        case integer(ClosedRange<Int>)
        /// A number in a range, with or without a fraction.
        case number(ClosedRange<Double>)
        /// A power of two in a range.
        case powerOfTwo(ClosedRange<Int>)
        /// The path of a file or directory.
        ///
        /// A path in a configuration may be relative to the configuration's file.
        case path
        /// Any text.
        case text

        /// The possible values in words, such as `full, extra or normal`.
        package var description: String {
            switch self {
            case .words(let words) where words.count < 2: return words.joined()
            case .words(let words): return words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
            case .integer(let range): return "a whole number from \(range.lowerBound) to \(range.upperBound)"
            case .number(let range):
                return "a number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))"
            case .powerOfTwo(let range): return "a power of two from \(range.lowerBound) to \(range.upperBound)"
            case .path: return "a path"
            case .text: return "text"
            }
        }

        package func contains(_ text: String) -> Bool {
            switch self {
            case .words(let words): words.contains(text)
            case .integer(let range): Int(text).map(range.contains) ?? false
            case .number(let range): Double(text).map(range.contains) ?? false
            case .powerOfTwo(let range): Int(text).map { range.contains($0) && $0 & ($0 - 1) == 0 } ?? false
            case .path: !text.isEmpty
            case .text: true
            }
        }

        private static func text(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
    }

    /// The option's name.
    public let name: String
    package let values: Values
    /// The default in words: a value, or a short description.
    package let standard: String
    /// The effect of the option, as one sentence.
    package let summary: String

    /// Creates a description of an option.
    public init(_ name: String, values: Values, standard: String, summary: String) {
        self.name = name
        self.values = values
        self.standard = standard
        self.summary = summary
    }
}

extension StoreOptionDescription {
    package func problem(withValue value: String, of type: any PersistentStoreType) -> String? {
        if values.contains(value) { return nil }
        return "The option '\(name)' of a store of type '\(type.name)' must be \(values.description)."
    }
}

extension PersistentStoreType {
    /// An empty list by default.
    public var optionDescriptions: [StoreOptionDescription] { [] }

    /// Returns a sentence about an unknown option or an impossible value; nil if both are valid.
    package func problem(withOption name: String, value: String) -> String? {
        let known = optionDescriptions
        guard let option = known.first(where: { $0.name == name }) else {
            let names = known.map(\.name)
            let hint =
                nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
                ?? (names.isEmpty
                    ? "stores of this type have no options." : "they have \(names.joined(separator: ", ")).")
            return "Stores of type '\(self.name)' have no option '\(name)'; \(hint)"
        }
        return option.problem(withValue: value, of: self)
    }

    /// Throws `invalidRequest` for the alphabetically first option that is unknown or invalid.
    public func requireKnown(_ typeOptions: [String: String]) throws(StoreError) {
        for (name, value) in typeOptions.sorted(by: { $0.key < $1.key }) {
            if let problem = problem(withOption: name, value: value) { throw StoreError(.invalidRequest, problem) }
        }
    }
}
