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

    /// The identity that follows from `bytes`, always the same: for stores of foreign formats,
    /// which have none of their own.
    ///
    /// Two stores have the same one only when their bytes are the same.
    public init(derivedFrom bytes: [UInt8]) {
        let (high, low) = RecordHash.wide(bytes)
        func byte(_ word: UInt64, position: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: word >> (56 - 8 * position))
        }
        uuid = UUID(
            uuid: (
                byte(high, position: 0), byte(high, position: 1), byte(high, position: 2), byte(high, position: 3),
                byte(high, position: 4), byte(high, position: 5),
                // Version 8 and the variant of RFC 9562: a UUID made by a rule of its own.
                byte(high, position: 6) & 0x0F | 0x80, byte(high, position: 7), byte(low, position: 0) & 0x3F | 0x80,
                byte(low, position: 1), byte(low, position: 2),
                byte(low, position: 3), byte(low, position: 4), byte(low, position: 5), byte(low, position: 6),
                byte(low, position: 7)
            ))
    }

    /// Reads UUID text; nil when `text` is not a UUID.
    public init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.uuid = uuid
    }

    /// The UUID as upper-case text.
    public var description: String { uuid.uuidString }
}
