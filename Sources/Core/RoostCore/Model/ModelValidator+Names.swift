internal import Foundation

extension ManagedObjectModel {
    /// The most bytes of a name in a model, as UTF-8.
    package static let maximumNameByteCount = 255
    /// The names that no property can have, because every object has something of that name.
    package static var reservedPropertyNames: Set<String> { ModelValidator.reservedNames }
}

extension ModelValidator {
    /// Whether a name has more bytes than one may have.
    static func isTooLong(_ name: String) -> Bool { name.utf8.count > ManagedObjectModel.maximumNameByteCount }

    /// The problem with such a name.
    static let lengthProblem = "name is longer than \(ManagedObjectModel.maximumNameByteCount) bytes."

    /// Returns the problems with the name of an entity, a property or an element; each continues
    /// "The property's …".
    static func nameProblems(_ name: String) -> [String] {
        var problems = labelProblems(name)
        // Dots separate the parts of paths, '#' marks fields of the engine's own, slashes separate
        // the parts of object URIs.
        for separator in [".", "#", "/"] where name.contains(separator) {
            problems.append("name contains '\(separator)'.")
        }
        return problems
    }

    /// Returns the problems with a name that is only a label: of an index, a configuration, a
    /// template.
    static func labelProblems(_ name: String) -> [String] {
        var problems: [String] = []
        if name.isEmpty { problems.append("name is empty.") }
        // Other problems of a long name would take time to find, and do not matter.
        guard !isTooLong(name) else { return [lengthProblem] }
        if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            problems.append("name contains a control character.")
        }
        // Two spellings of one character must not make two names that Swift takes for equal.
        if !name.utf8.elementsEqual(name.precomposedStringWithCanonicalMapping.utf8) {
            problems.append("name is not in Unicode's composed form (NFC).")
        }
        return problems
    }
}
