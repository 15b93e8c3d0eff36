public import Foundation

/// The identity of a store: a UUID, written in upper case.
///
/// A copy of a store's file keeps the UUID, so several stores can have the same identity.
public struct StoreUUID: Hashable, Sendable, CustomStringConvertible {
    /// The UUID.
    public let uuid: UUID

    /// Creates a new, random identity.
    public init() { uuid = UUID() }

    /// Creates an identity with the given UUID.
    public init(_ uuid: UUID) { self.uuid = uuid }

    /// Creates an identity from `bytes`, for a store whose foreign format contains no identity.
    ///
    /// Equal bytes give equal identities; different bytes almost always give different ones.
    public init(derivedFrom bytes: [UInt8]) {
        let (high, low) = RecordHash.wide(bytes)
        func byte(_ word: UInt64, position: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: word >> (56 - 8 * position))
        }
        uuid = UUID(
            uuid: (
                byte(high, position: 0), byte(high, position: 1), byte(high, position: 2), byte(high, position: 3),
                byte(high, position: 4), byte(high, position: 5),
                // Version 8 and the variant of RFC 9562: a UUID with a custom algorithm.
                byte(high, position: 6) & 0x0F | 0x80, byte(high, position: 7), byte(low, position: 0) & 0x3F | 0x80,
                byte(low, position: 1), byte(low, position: 2),
                byte(low, position: 3), byte(low, position: 4), byte(low, position: 5), byte(low, position: 6),
                byte(low, position: 7)
            ))
    }

    /// Parses the text of a UUID; returns nil for any other text.
    public init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.uuid = uuid
    }

    /// The UUID as upper-case text.
    public var description: String { uuid.uuidString }
}
