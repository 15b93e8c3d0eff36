internal import Foundation
internal import RoostCore

/// A source of unique, valid model names for arbitrary names.
package struct ModelNames {
    private var taken: Set<String> = []
    /// The maximum number of bytes of a name before a number is appended.
    private static let maximumByteCount = 240

    /// Creates a source, which avoids reserved property names if `ofProperties` is true.
    package init(ofProperties: Bool = true) {
        if ofProperties { taken = Set(ManagedObjectModel.reservedPropertyNames.map { $0.lowercased() }) }
    }

    /// Returns a name for a text, which is the text itself if possible.
    ///
    /// Control characters, `.`, `#` and `/` become underscores. A long name is cut. A used or
    /// reserved name gets a number. Names are compared without case.
    package mutating func name(for text: String, orElse fallback: String) -> String {
        var name = ""
        for character in text.precomposedStringWithCanonicalMapping.trimmingCharacters(in: .whitespacesAndNewlines) {
            let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
            let kept: Character = isControl || [".", "#", "/"].contains(character) ? "_" : character
            guard name.utf8.count + "\(kept)".utf8.count <= Self.maximumByteCount else { break }
            name.append(kept)
        }
        if name.isEmpty { name = fallback }
        var unique = name
        var number = 1
        while !taken.insert(unique.lowercased()).inserted {
            number += 1
            unique = "\(name)_\(number)"
        }
        return unique
    }
}
