/// The approximate costs of reading and writing one object or link in stores of one type.
///
/// A migration plan estimates the migration's duration from these costs, which are measured with a
/// million objects. An estimate can be several times too high or too low.
///
/// ```swift
/// let estimatedCosts = StoreCosts(readingMicroseconds: 0.8, writingMicroseconds: 1.2)
/// ```
public struct StoreCosts: Hashable, Sendable {
    package let readingMicroseconds: Double
    package let writingMicroseconds: Double

    /// Creates costs.
    public init(readingMicroseconds: Double, writingMicroseconds: Double) {
        self.readingMicroseconds = readingMicroseconds
        self.writingMicroseconds = writingMicroseconds
    }
}

extension PersistentStoreType {
    /// The default costs, which are high, for types that were not measured.
    public var estimatedCosts: StoreCosts { StoreCosts(readingMicroseconds: 1, writingMicroseconds: 1.5) }
}
