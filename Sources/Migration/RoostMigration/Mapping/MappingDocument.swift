public import RoostCore
internal import RoostJSONText

/// The JSON document of a mapping model, as described in MAPPING-FORMAT.md.
enum MappingDocument {
    /// The format version written, and the newest version read.
    static let formatVersion = 1

    static let modelKeys = ["formatVersion", "entityMappings", "userInfo"]
    static let entityMappingKeys = [
        "name", "type", "source", "destination", "sourceVersionHash", "destinationVersionHash", "where", "attributes",
        "relationships", "policy", "userInfo",
    ]
    static let propertyMappingKeys = ["value", "userInfo"]
}

extension MappingModel {
    /// Reads a mapping document (`*.roostmapping.json`, see MAPPING-FORMAT.md).
    ///
    /// Accepts JSON5. Use ``requireValid(from:to:)`` to check the mapping model against two models.
    ///
    /// - Throws: ``StoreError`` with code `invalidMappingModel` that lists the problems with their
    ///   places in the document, or `unsupportedVersion` for a document of a newer format.
    public init(document: [UInt8]) throws(StoreError) { self = try MappingDocument.read(document) }

    /// Returns the mapping model as a JSON document with one property mapping per line.
    ///
    /// The document lists the mappings in their order and omits default values. Equal mapping
    /// models give equal bytes. Reading the document gives an equal mapping model.
    ///
    /// - Throws: `invalidMappingModel` if two entity mappings, or two property mappings of an
    ///   entity mapping, have the same name; `unsupported` for a composite constant, which the
    ///   text of an expression cannot represent; `invalidRequest` for an expression that is nested
    ///   too deeply.
    public func document() throws(StoreError) -> [UInt8] {
        JSONText.bytes(try MappingDocument.node(of: self), style: .pretty(blockDepth: 4))
    }
}
