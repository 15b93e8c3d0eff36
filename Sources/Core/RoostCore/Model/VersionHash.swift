internal import RoostSystem

/// The 128-bit hash of all declarations of an entity that affect stored data.
///
/// Entities with equal hashes store the same properties in the same form. If all hashes of two
/// models are equal (``ManagedObjectModel/isCompatible(with:)``), the models have the same entity
/// numbers and record layouts. A single equal hash is not enough, because records contain entity
/// numbers. Roost's ``Recipe`` gives other hashes than Apple's files contain.
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
