internal import RoostCore

extension XMLModelDocument {
    /// Warns of every attribute that neither list contains.
    mutating func check(_ element: XMLElement, ignoring: [String], importing: [String]) {
        for attribute in element.attributes
        where !importing.contains(attribute.name) && !ignoring.contains(attribute.name) {
            warn(element, message: "attribute '\(attribute.name)' is unknown; it is left out")
        }
    }

    mutating func warnUnknown(_ element: XMLElement, in parent: String) {
        warnings.append(
            ModelImportWarning(
                file: file, line: element.line, element: parent,
                message: "element <\(element.name)> is unknown or incomplete here; it is left out"))
    }

    mutating func warn(_ element: XMLElement, message: String) {
        let name = element["name"].map { " '\($0)'" } ?? ""
        warnings.append(
            ModelImportWarning(file: file, line: element.line, element: "\(element.name)\(name)", message: message))
    }

    func error(_ element: XMLElement, message: String) -> StoreError {
        StoreError(.invalidModel, "\(file):\(element.line): \(message).")
    }

    func name(of element: XMLElement) throws(StoreError) -> String {
        guard let name = nonEmpty(element["name"]) else {
            throw error(element, message: "element <\(element.name)> has no name")
        }
        // Warnings and errors contain the name, so its length is limited before the model is built.
        guard name.utf8.count <= ManagedObjectModel.maximumNameByteCount else {
            throw error(
                element,
                message:
                    "the name of element <\(element.name)> is longer than \(ManagedObjectModel.maximumNameByteCount) bytes"
            )
        }
        return name
    }

    func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns the renaming identifier, or nil if it is missing or equals the name.
    func renamingIdentifier(_ element: XMLElement, name: String) -> String? {
        nonEmpty(element["elementID"]).flatMap { $0 == name ? nil : $0 }
    }

    /// Returns the value of a YES or NO attribute; a missing attribute means NO.
    mutating func flag(_ element: XMLElement, name: String) -> Bool {
        guard let text = element[name] else { return false }
        guard let value = Self.boolean(text) else {
            warn(element, message: "attribute '\(name)' is neither YES nor NO; it is read as NO")
            return false
        }
        return value
    }

    package static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "1": true
        case "no", "false", "0": false
        default: nil
        }
    }
}

extension StringProtocol {
    package var trimmingSpaces: SubSequence {
        guard let start = firstIndex(where: { !$0.isWhitespace }), let end = lastIndex(where: { !$0.isWhitespace })
        else {
            return self[startIndex..<startIndex]
        }
        return self[start...end]
    }
}
