internal import RoostJSONText

/// The JSON document of a model; MODEL-FORMAT.md describes it.
enum ModelDocument {
    /// The version this program writes, and the newest it reads.
    static let formatVersion = 1

    static let modelKeys = [
        "formatVersion", "versionIdentifiers", "userInfo", "entities", "configurations", "fetchRequestTemplates",
    ]
    static let entityKeys = [
        "superentity", "isAbstract", "managedObjectClassName", "renamingIdentifier", "versionHashModifier",
        "coreSpotlightDisplayNameExpression", "attributes", "relationships", "fetchedProperties",
        "uniquenessConstraints", "fetchIndexes", "userInfo",
    ]
    static let attributeKeys = [
        "type", "isOptional", "isTransient", "defaultValue", "minimum", "maximum", "minimumLength", "maximumLength",
        "regularExpression", "elements", "derivationExpression", "valueTransformerName", "attributeValueClassName",
        "allowsExternalBinaryDataStorage", "preservesValueInHistoryOnDeletion", "isIndexedBySpotlight",
        "allowsCloudEncryption", "renamingIdentifier", "versionHashModifier", "userInfo",
    ]
    static let relationshipKeys = [
        "destination", "inverse", "minCount", "maxCount", "isOrdered", "isOptional", "isTransient", "deleteRule",
        "isIndexedBySpotlight", "renamingIdentifier", "versionHashModifier", "userInfo",
    ]
    static let fetchedPropertyKeys = ["entity", "predicate", "isOptional", "userInfo"]
    static let fetchIndexKeys = ["elements", "partialIndexPredicate"]
    static let fetchIndexElementKeys = ["property", "collation", "isAscending", "expression"]
    static let fetchRequestTemplateKeys = ["entity", "predicate", "options"]
}

extension ManagedObjectModel {
    /// Reads a model document (`*.roostmodel.json`, see MODEL-FORMAT.md); JSON5 is accepted.
    ///
    /// - Throws: ``StoreError`` with code `invalidModel` that lists every problem with its place in
    ///   the document or its entity and property, or `unsupportedVersion` for a document of a newer
    ///   format.
    public init(document: [UInt8]) throws(StoreError) {
        let parts = try ModelDocument.read(document)
        try self.init(
            entities: parts.entities, configurations: parts.configurations,
            fetchRequestTemplates: parts.fetchRequestTemplates, versionIdentifiers: parts.versionIdentifiers,
            userInfo: parts.userInfo)
    }

    /// The model as a document: valid JSON, one property a line, everything in a stable order,
    /// defaults left out.
    ///
    /// Equal models give equal bytes, and reading the document gives an equal model.
    public func document() -> [UInt8] { JSONText.bytes(ModelDocument.node(of: self), style: .pretty(blockDepth: 4)) }
}

extension ManagedObjectModel: Codable {
    /// Reads a model from its document as one string.
    public init(from decoder: any Decoder) throws {
        try self.init(document: Array(try decoder.singleValueContainer().decode(String.self).utf8))
    }

    /// Writes the model's document as one string, so that every coder keeps every value exact.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(decoding: document(), as: UTF8.self))
    }
}
