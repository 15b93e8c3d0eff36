internal import Foundation

extension ManagedObjectModel {
    package static let maximumNameByteCount = 255
    /// The names of members that every object already has, so properties cannot have these names.
    package static var reservedPropertyNames: Set<String> { ModelValidator.reservedNames }
}

extension ModelValidator {
    static func isTooLong(_ name: String) -> Bool { name.utf8.count > ManagedObjectModel.maximumNameByteCount }

    static let lengthProblem = "name is longer than \(ManagedObjectModel.maximumNameByteCount) bytes."

    /// Returns the problems with the name of an entity, a property or an element.
    ///
    /// Each text continues a phrase such as "The property's".
    static func nameProblems(_ name: String) -> [String] {
        var problems = labelProblems(name)
        // '.' separates the parts of paths, and '/' separates the parts of object URIs. '#' marks fields that contain
        // positions in ordered relationships.
        for separator in [".", "#", "/"] where name.contains(separator) {
            problems.append("name contains '\(separator)'.")
        }
        return problems
    }

    /// Returns the problems with the name of an index, a configuration or a template.
    static func labelProblems(_ name: String) -> [String] {
        var problems: [String] = []
        if name.isEmpty { problems.append("name is empty.") }
        // Other checks of a very long name would take too much time.
        guard !isTooLong(name) else { return [lengthProblem] }
        if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            problems.append("name contains a control character.")
        }
        // Names with different code points can be equal in Swift, so only NFC is allowed.
        if !name.utf8.elementsEqual(name.precomposedStringWithCanonicalMapping.utf8) {
            problems.append("name is not in Unicode's composed form (NFC).")
        }
        return problems
    }
}
