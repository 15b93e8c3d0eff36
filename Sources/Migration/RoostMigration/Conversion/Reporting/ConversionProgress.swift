internal import RoostCore

/// The progress of a conversion.
///
/// ```swift
/// let options = ConversionOptions(onProgress: { progress in
///     guard let fraction = progress.fraction else { return }
///     print("\(progress.phase): \(Int(fraction * 100)) %")
/// })
/// try store.convert(to: .lmdb("music.lmdb"), options: options)
/// ```
public struct ConversionProgress: Sendable, Hashable {
    /// The phases of a conversion.
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

    /// The current phase.
    public var phase: Phase
    /// The entity, or the relationship as `Entity.name`, that is being copied or verified; nil
    /// between them.
    package var current: String?
    /// The objects done in this phase.
    public var objects: Int
    /// The links done in this phase.
    package var links: Int
    /// The total number of objects; nil while it is unknown.
    package var totalObjects: Int?
    /// All links; nil where the source does not record their count.
    package var totalLinks: Int?
    /// Seconds since this phase began.
    package var seconds: Double
    /// The current step of a migration through several versions; nil if there is only one step.
    package var step: Step?

    /// One of several steps.
    package struct Step: Sendable, Hashable {
        /// The number of the step; 1 is the first.
        package var number: Int
        /// The number of steps.
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

    /// The seconds left in this phase at its rate; nil while they cannot be estimated.
    public var secondsLeft: Double? {
        guard let fraction, fraction > 0, seconds > 0 else { return nil }
        return seconds / fraction - seconds
    }
}
