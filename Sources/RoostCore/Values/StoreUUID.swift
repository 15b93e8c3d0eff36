public import Foundation

/// The identity of a store, printed as upper-case UUID text.
///
/// A copied file keeps its UUID, so two stores may have the same one.
public struct StoreUUID: Hashable, Sendable, CustomStringConvertible {
    /// The UUID.
    public let uuid: UUID

    /// A new, random identity.
    public init() { uuid = UUID() }

    /// Wraps a UUID.
    public init(_ uuid: UUID) { self.uuid = uuid }

    /// Reads UUID text; nil when `text` is not a UUID.
    public init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.uuid = uuid
    }

    /// The UUID as upper-case text.
    public var description: String { uuid.uuidString }
}
