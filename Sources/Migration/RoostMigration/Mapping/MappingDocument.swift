public import RoostCore
internal import RoostJSONText

/// The JSON document of a mapping model; MAPPING-FORMAT.md describes it.
enum MappingDocument {
    /// The version this program writes, and the newest it reads.
    static let formatVersion = 1

    static let modelKeys = ["formatVersion", "entityMappings", "userInfo"]
    static let entityMappingKeys = [
        "name", "type", "source", "destination", "sourceVersionHash", "destinationVersionHash", "where", "attributes",
        "relationships", "policy", "userInfo",
    ]
    static let propertyMappingKeys = ["value", "userInfo"]
}

extension MappingModel {
    /// Reads a mapping document (`*.roostmapping.json`, see MAPPING-FORMAT.md); JSON5 is accepted.
    ///
    /// Whether it fits two models, ``problems(from:to:)`` says.
    ///
    /// - Throws: ``StoreError`` with code `invalidMappingModel` that lists every problem with its
    ///   place in the document, or `unsupportedVersion` for a document of a newer format.
    public init(document: [UInt8]) throws(StoreError) { self = try MappingDocument.read(document) }

    /// The mapping model as a document: valid JSON, one property a line, in the order of the
    /// mappings, defaults left out.
    ///
    /// Equal mapping models give equal bytes, and reading the document gives an equal mapping
    /// model.
    ///
    /// - Throws: `invalidMappingModel` where two mappings have one name, or two property mappings
    ///   of an entity mapping; `unsupported` for a composite as a constant, which expressions
    ///   cannot write; `invalidRequest` for an expression that is nested too deep.
    public func document() throws(StoreError) -> [UInt8] {
        JSONText.bytes(try MappingDocument.node(of: self), style: .pretty(blockDepth: 4))
    }
}
