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
        /// Copying objects and links.
        case copying
        /// Building the destination's indexes and making its content durable.
        case finishing
        /// Reading the destination again and comparing it with the source's content.
        case verifying
        /// Publishing the destination.
        case publishing
    }

    /// The current phase.
    public var phase: Phase
    /// The entity or relationship (`Entity.name`) being processed, or nil if none is.
    package var current: String?
    /// The number of objects processed in this phase.
    public var objects: Int
    package var links: Int
    /// The total number of objects; nil while it is unknown.
    package var totalObjects: Int?
    package var totalLinks: Int?
    /// The seconds since this phase began; 0 if not measured.
    package var seconds: Double
    /// The current step of a migration through several versions; nil if there is only one step.
    package var step: Step?

    package struct Step: Sendable, Hashable {
        /// The number of the step, starting at 1.
        package var number: Int
        package var count: Int
    }

    package var rate: Double { seconds > 0 ? Double(objects + links) / seconds : 0 }

    /// The completed fraction of this phase, from 0 to 1; nil if the total is unknown.
    public var fraction: Double? {
        guard let totalObjects else { return nil }
        let total = totalObjects + (totalLinks ?? links)
        return total == 0 ? 1 : min(1, Double(objects + links) / Double(total))
    }

    /// The estimated seconds left in this phase; nil if they cannot be estimated.
    public var secondsLeft: Double? {
        guard let fraction, fraction > 0, seconds > 0 else { return nil }
        return seconds / fraction - seconds
    }
}
