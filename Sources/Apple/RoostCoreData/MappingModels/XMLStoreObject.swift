internal import RoostAppleModels
internal import RoostCore

/// One object in Core Data's XML store format, which Xcode uses for mapping models.
struct XMLStoreObject {
    let identifier: String
    let type: String
    let line: Int
    /// The text of each attribute by name, without blank attributes.
    let attributes: [String: String]
    let blankAttributes: Set<String>
    /// The identifiers in each relationship, by relationship name.
    let references: [String: [String]]

    subscript(_ name: String) -> String? { attributes[name] }

    /// Returns the value of a Boolean attribute, or nil if it is missing or not Boolean.
    func flag(_ name: String) -> Bool? { attributes[name].flatMap { XMLModelDocument.boolean($0) } }

    /// Returns all objects of a document by identifier.
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
