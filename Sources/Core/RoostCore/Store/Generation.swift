/// The version of a store's content, different after each commit that changes the store.
///
/// Generations have an order only in stores with the capability ``StoreCapability/totalOrder``, so
/// this type is not `Comparable`; see `StoreCapabilities.isEarlier(_:than:)`. In other stores,
/// commits can overlap; see ``CommitReceipt/generation``.
///
/// ```swift
/// let seen = try store.commit(changes).generation
/// // Later:
/// if try store.snapshot().recordedTally()?.generation != seen { reload() }
/// ```
public struct Generation: Sendable, Hashable {
    /// The generation of a store before its first commit.
    public static let initial = Generation(number: 0)

    package let number: UInt64

    /// Creates the generation with a number that a backend stored.
    public init(number: UInt64) { self.number = number }

    /// Returns the next generation of a store that counts its commits.
    ///
    /// - Throws: `limitExceeded` after the highest generation.
    public func next() throws(StoreError) -> Generation {
        let (next, overflow) = number.addingReportingOverflow(1)
        guard !overflow else {
            throw StoreError(
                .limitExceeded,
                "The store cannot count another commit: it has the highest generation, \(number). Convert it into a new store, whose generations begin again."
            )
        }
        return Generation(number: next)
    }
}

extension Generation {
    /// The highest generation of a store whose generations are sums.
    ///
    /// Each commit to such a store adds a random number. So overlapping commits have different
    /// generations, and the sum does not depend on their order.
    package static let highestSum: UInt64 = 1 << 62 - 1

    /// Returns this generation plus the difference between `previous` and `next`, for generations
    /// that are sums.
    package func adding(from previous: Generation, to next: Generation) -> Generation {
        Generation(number: (number &+ next.number &- previous.number) & Self.highestSum)
    }
}

extension Generation: LosslessStringConvertible {
    /// The text form, which ``init(_:)`` reads.
    public var description: String { String(number) }

    /// Reads the text form; returns nil for any other text.
    public init?(_ description: String) {
        guard let number = UInt64(description), String(number) == description else { return nil }
        self.init(number: number)
    }
}

extension Generation: Codable {
    /// Writes the generation as a number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    /// Reads a number.
    public init(from decoder: any Decoder) throws {
        self.init(number: try decoder.singleValueContainer().decode(UInt64.self))
    }
}

extension StoreCapabilities {
    /// Returns whether one generation of a store is earlier than another; nil if the store does not
    /// order its generations.
    public func isEarlier(_ generation: Generation, than other: Generation) -> Bool? {
        contains(.totalOrder) ? generation.number < other.number : nil
    }
}
