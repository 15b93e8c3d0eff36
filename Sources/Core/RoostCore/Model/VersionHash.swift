internal import RoostSystem

/// The 128-bit hash of all declarations of an entity that affect stored data.
///
/// Entities with equal hashes have the same stored properties in the same form. If all hashes of
/// two models are equal (``ManagedObjectModel/isCompatible(with:)``), the models have the same
/// entity numbers and record layouts. A single equal hash is not enough, because records contain
/// entity numbers. Roost computes the hash by its own recipe (``Recipe``, MODEL-FORMAT.md), so it
/// differs from the version hash in Apple's files.
package struct VersionHash: Hashable, Sendable, CustomStringConvertible {
    /// The upper 64 bits.
    package let high: UInt64
    /// The lower 64 bits.
    package let low: UInt64

    /// Creates a hash from its halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The hash as 32 hexadecimal digits.
    package var description: String { high.hexadecimal + low.hexadecimal }

    /// Reads 32 hexadecimal digits.
    package init?(_ text: String) {
        guard text.utf8.count == 32, let high = UInt64(hexadecimal: text.prefix(16)),
            let low = UInt64(hexadecimal: text.suffix(16))
        else { return nil }
        self.init(high: high, low: low)
    }
}
