internal import RoostSystem

/// The 128-bit hash of all of an entity's declarations that affect stored data.
///
/// Entities with equal hashes store the same properties in the same form. If all hashes of two
/// models are equal (``ManagedObjectModel/isCompatible(with:)``), the models have the same entity
/// numbers and record layouts. Two entities with equal hashes can have different entity numbers,
/// which records contain. Roost's hashes differ from the hashes in Apple's files.
package struct VersionHash: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package var description: String { high.hexadecimal + low.hexadecimal }

    /// Reads 32 hexadecimal digits.
    package init?(_ text: String) {
        guard text.utf8.count == 32, let high = UInt64(hexadecimal: text.prefix(16)),
            let low = UInt64(hexadecimal: text.suffix(16))
        else { return nil }
        self.init(high: high, low: low)
    }
}
