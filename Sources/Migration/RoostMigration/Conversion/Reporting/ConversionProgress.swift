internal import RoostCore

/// How far a conversion is.
///
/// ```swift
/// let options = ConversionOptions(onProgress: { progress in
///     guard let fraction = progress.fraction else { return }
///     print("\(progress.phase): \(Int(fraction * 100)) %")
/// })
/// try store.convert(to: .lmdb("music.lmdb"), options: options)
/// ```
public struct ConversionProgress: Sendable, Hashable {
    /// What a conversion is doing.
    public enum Phase: String, Sendable, Codable {
        /// Objects and links are read and written.
        case copying
        /// The destination builds its indexes and makes everything durable.
        case finishing
        /// The destination is read again and compared with what was read from the source.
        case verifying
        /// The destination gets its name.
        case publishing
    }

    /// What is being done.
    public var phase: Phase
    /// The entity, or the relationship as `Entity.name`, that is being copied or verified; nil between them.
    package var current: String?
    /// The objects done in this phase.
    public var objects: Int
    /// The links done in this phase.
    package var links: Int
    /// All objects; nil while nobody knows.
    package var totalObjects: Int?
    /// All links; nil where the source does not record their count.
    package var totalLinks: Int?
    /// Seconds since this phase began.
    package var seconds: Double
    /// Which of the steps of a migration through several versions is under way; nil where there is one.
    package var step: Step?

    /// One of several steps.
    package struct Step: Sendable, Hashable {
        /// Which one; 1 is the first.
        package var number: Int
        /// How many there are.
        package var count: Int
    }

    /// Objects and links a second in this phase; 0 at its beginning.
    package var rate: Double { seconds > 0 ? Double(objects + links) / seconds : 0 }

    /// The part of this phase that is done, 0 to 1; nil while the total is not known.
    public var fraction: Double? {
        guard let totalObjects else { return nil }
        let total = totalObjects + (totalLinks ?? links)
        return total == 0 ? 1 : min(1, Double(objects + links) / Double(total))
    }

    /// The seconds this phase will still take at its rate; nil while nobody can say.
    public var secondsLeft: Double? {
        guard let fraction, fraction > 0, seconds > 0 else { return nil }
        return seconds / fraction - seconds
    }
}
