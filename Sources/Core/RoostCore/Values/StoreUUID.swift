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
        func byte(_ word: UInt64, _ position: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: word >> (56 - 8 * position))
        }
        uuid = UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
                // Version 8 and the variant of RFC 9562: a UUID made by a rule of its own.
                byte(high, 6) & 0x0F | 0x80, byte(high, 7), byte(low, 0) & 0x3F | 0x80, byte(low, 1), byte(low, 2),
                byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
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
