public import Foundation

/// The type, format, identity, model and user metadata of a store.
///
/// ```swift
/// let metadata = try store.metadata()
/// print(metadata.type, metadata.formatVersion, metadata.storeUUID)
/// if !model.isCompatible(with: metadata) { print("The store has another version of the model.") }
/// ```
public struct StoreMetadata: Sendable, Hashable {
    /// The name of the store's type.
    public var type: String
    /// The version of the store's format; the first version is 1.
    public var formatVersion: Int
    /// The store's identity.
    public var storeUUID: StoreUUID
    /// The model in the store.
    public var model: ManagedObjectModel
    /// The user's own keys and values, which conversions copy.
    public var userMetadata: [String: MetadataValue]

    /// Creates metadata.
    public init(
        type: String, formatVersion: Int, storeUUID: StoreUUID, model: ManagedObjectModel,
        userMetadata: [String: MetadataValue] = [:]
    ) {
        self.type = type
        self.formatVersion = formatVersion
        self.storeUUID = storeUUID
        self.model = model
        self.userMetadata = userMetadata
    }

    /// The recipe of ``versionHashes``: always the current one, because the hashes are not stored.
    package var versionHashRecipe: VersionHash.Recipe { .current }

    package var versionHashes: [EntityName: VersionHash] {
        Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, $0.versionHash) })
    }
}

extension ManagedObjectModel {
    /// Whether this model and a store's model have the same entities with the same version hashes.
    ///
    /// If so, the store can be used with this model. Default values, limits of values, indexes and
    /// transient properties may differ.
    public func isCompatible(with metadata: StoreMetadata) -> Bool {
        hasVersionHashes(of: metadata.model)
    }

    package func hasVersionHashes(of other: ManagedObjectModel) -> Bool {
        // Called for every batch, nearly always with the same model.
        if resolved === other.resolved { return true }
        guard entities.count == other.entities.count else { return false }
        for index in 0..<entities.count where entities[index] !== other.entities[index] {
            guard entities[index].name == other.entities[index].name,
                entities[index].versionHash == other.entities[index].versionHash
            else { return false }
        }
        return true
    }
}

/// A value of the user's metadata, of any type that a property list supports.
///
/// ```swift
/// var options = StoreOptions()
/// options.userMetadata = ["source": .string("import"), "revision": .int(3)]
/// let store = try Store.open(.sqlite("music.sqlite"), model: model, options: options)
/// if case .int(let revision) = try store.metadata().userMetadata["revision"] { print(revision) }
/// ```
public indirect enum MetadataValue: Sendable, Hashable {
    /// Text.
    case string(String)
    /// A whole number.
    case int(Int64)
    /// A floating-point number.
    case double(Double)
    /// True or false.
    case bool(Bool)
    /// A point in time.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// A list.
    case array([MetadataValue])
    /// Named values.
    case dictionary([String: MetadataValue])
}

extension MetadataValue: CustomStringConvertible {
    /// A description for debugging, with dates as seconds since 2001-01-01.
    public var description: String {
        switch self {
        case .string(let value): value.debugDescription
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .date(let value): "date \(value.timeIntervalSinceReferenceDate)"
        case .data(let value): "\(value.count) bytes"
        case .array(let values): "\(values)"
        case .dictionary(let values):
            "{" + values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
        }
    }
}

extension MetadataValue: CustomReflectable {
    /// A mirror without children, because Foundation's description of some dates traps.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
