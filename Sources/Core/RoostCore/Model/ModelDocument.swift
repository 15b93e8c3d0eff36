internal import RoostJSONText

/// The JSON document of a model; see MODEL-FORMAT.md.
enum ModelDocument {
    /// The version that is written, and the newest version that is read.
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
    /// - Throws: ``StoreError`` with code `invalidModel` that lists the problems, each with a
    ///   position in the document, or with the affected entity and property; `unsupportedVersion`
    ///   for a document with a newer format.
    public init(document: [UInt8]) throws(StoreError) {
        let parts = try ModelDocument.read(document)
        try self.init(
            entities: parts.entities, configurations: parts.configurations,
            fetchRequestTemplates: parts.fetchRequestTemplates, versionIdentifiers: parts.versionIdentifiers,
            userInfo: parts.userInfo)
    }

    /// Returns the model as a document: valid JSON in a stable order, with one property per line.
    ///
    /// The document omits settings that have their default values. Equal models have equal
    /// documents, and reading a document returns an equal model.
    public func document() -> [UInt8] { JSONText.bytes(ModelDocument.node(of: self), style: .pretty(blockDepth: 4)) }
}

extension ManagedObjectModel: Codable {
    /// Reads a model from a string that contains its document.
    public init(from decoder: any Decoder) throws {
        try self.init(document: Array(try decoder.singleValueContainer().decode(String.self).utf8))
    }

    /// Writes the model's document as one string, because some coders do not preserve numbers
    /// exactly.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(decoding: document(), as: UTF8.self))
    }
}
