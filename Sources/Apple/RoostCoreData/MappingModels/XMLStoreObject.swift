internal import RoostAppleModels
internal import RoostCore

/// One object of Core Data's XML store format, in which Xcode keeps mapping models (reference
/// §2.8).
struct XMLStoreObject {
    let identifier: String
    let type: String
    let line: Int
    /// The texts of its attributes by their names; blank ones are left out.
    let attributes: [String: String]
    /// The names of the attributes that are there and blank.
    let blankAttributes: Set<String>
    /// The identifiers that its relationships hold, by their names.
    let references: [String: [String]]

    /// An attribute that is there and not blank.
    subscript(_ name: String) -> String? { attributes[name] }

    /// Returns a boolean attribute, written 1 or 0; nil for any other text and for a missing one.
    func flag(_ name: String) -> Bool? { attributes[name].flatMap { XMLModelDocument.boolean($0) } }

    /// Returns all objects of a document by their identifiers.
    ///
    /// - Throws: `invalidModel` for a document that is not a store, and for two objects with one
    ///   identifier.
    static func all(in root: XMLElement, file: String) throws(StoreError) -> [String: XMLStoreObject] {
        guard root.name == "database" else {
            throw StoreError(
                .invalidModel,
                "\(file):\(root.line): the root element is not <database>; the file is not a mapping model of Xcode's.")
        }
        var objects: [String: XMLStoreObject] = [:]
        for element in root.children("object") {
            guard let identifier = element["id"], let type = element["type"] else {
                throw StoreError(.invalidModel, "\(file):\(element.line): an object has no identifier or no type.")
            }
            var attributes: [String: String] = [:]
            var blankAttributes: Set<String> = []
            var references: [String: [String]] = [:]
            for child in element.children {
                guard let name = child["name"] else { continue }
                switch child.name {
                case "attribute" where child.text.contains { !$0.isWhitespace }: attributes[name] = child.text
                case "attribute": blankAttributes.insert(name)
                case "relationship": references[name] = (child["idrefs"] ?? "").split(separator: " ").map(String.init)
                default: continue
                }
            }
            let object = XMLStoreObject(
                identifier: identifier, type: type.uppercased(), line: element.line, attributes: attributes,
                blankAttributes: blankAttributes, references: references)
            guard objects.updateValue(object, forKey: identifier) == nil else {
                throw StoreError(
                    .invalidModel, "\(file):\(element.line): two objects have the identifier '\(identifier)'.")
            }
        }
        return objects
    }
}
