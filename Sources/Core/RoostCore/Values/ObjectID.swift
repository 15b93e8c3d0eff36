/// The permanent identity of one object in one store: its entity and its key.
///
/// An ID has 16 bytes. Keys are positive, unique in an entity hierarchy, and never reused after a
/// delete.
///
/// ```swift
/// let id = ObjectID("Track", key: 5)
/// if let track = try store.record(id) { print(track["title"]) }
/// let uri = id.uriRepresentation(storeUUID: try store.metadata().storeUUID)
/// ```
public struct ObjectID: Hashable, Sendable {
    /// The object's own entity, or possibly a superentity if the ID was read from a relationship.
    public let entity: EntityName
    /// The object's key, a positive number.
    public let key: Int64

    /// Creates the ID of an object, which need not exist.
    @inlinable
    public init(_ entity: EntityName, key: Int64) {
        self.entity = entity
        self.key = key
    }

    /// Returns the object's permanent URI, `x-roost://<store UUID>/<Entity>/p<key>`.
    public func uriRepresentation(storeUUID: StoreUUID) -> String {
        "x-roost://\(storeUUID)/\(entity)/p\(key)"
    }

    /// Parses a URI made by ``uriRepresentation(storeUUID:)``; returns nil for any other text.
    public static func parse(uri: String) -> (storeUUID: StoreUUID, id: ObjectID)? {
        let scheme = "x-roost://"
        guard uri.hasPrefix(scheme) else { return nil }
        let parts = uri.dropFirst(scheme.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let uuid = StoreUUID(String(parts[0])),
            let id = ObjectID(description: "\(parts[1])/\(parts[2])")
        else { return nil }
        return (uuid, id)
    }
}

extension ObjectID: CustomStringConvertible {
    /// The text `Entity/p<key>`.
    public var description: String { "\(entity)/p\(key)" }

    /// Parses text of the form `Entity/p5`; returns nil for any other text.
    package init?(description text: String) {
        guard let slash = text.lastIndex(of: "/"), slash > text.startIndex,
            case let digits = text[slash...].dropFirst(2), text[slash...].dropFirst().first == "p",
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), digits.first != "0",
            let key = Int64(digits)
        else { return nil }
        self.init(EntityName(String(text[..<slash])), key: key)
    }
}

extension ObjectID: Codable {
    /// Decodes text of the form `Entity/p5`.
    ///
    /// Interns the entity's name permanently; see ``EntityName``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = Self(description: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "The ID of an object is expected, such as Person/p5.")
        }
        self = id
    }

    /// Encodes the ``description``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
