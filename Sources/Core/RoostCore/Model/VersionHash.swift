internal import RoostSystem

/// The hash of everything about an entity that matters for stored data; 128 bits.
///
/// Equal hashes mean that both entities store the same properties in the same way. Where all hashes
/// of two models are equal (``ManagedObjectModel/isCompatible(with:)``), the models number alike
/// and records of one are records of the other, byte for byte; one equal entity is not enough for
/// that, since records hold entity numbers. Transient properties do not enter. The recipe is
/// Roost's own (``Recipe``, MODEL-FORMAT.md); it has nothing to do with the hashes in Apple's
/// files.
package struct VersionHash: Hashable, Sendable, CustomStringConvertible {
    /// The upper 64 bits.
    package let high: UInt64
    /// The lower 64 bits.
    package let low: UInt64

    /// Makes a hash from its halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 32 hexadecimal digits.
    package var description: String { high.hexadecimal + low.hexadecimal }

    /// Reads 32 hexadecimal digits.
    package init?(_ text: String) {
        guard text.utf8.count == 32, let high = UInt64(hexadecimal: text.prefix(16)),
            let low = UInt64(hexadecimal: text.suffix(16))
        else { return nil }
        self.init(high: high, low: low)
    }
}
