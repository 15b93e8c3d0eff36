internal import RoostCore

/// An estimate of a migration's duration, from the costs per object or link.
///
/// The costs were measured on one machine with stores of a million objects. The estimate is
/// accurate only within a small factor. The time of policies is not included.
struct MigrationEstimate {
    /// The cost factor of three passes, which read objects again, store associations and commit.
    private static let threePassesFactor = 2.0

    /// Estimates the duration of one step.
    ///
    /// - Parameters:
    ///   - count: The number of objects and links of the source.
    ///   - source: The costs of the source's type.
    ///   - destination: The costs of the destination's type.
    ///   - path: The path of the step.
    ///   - verifies: Whether the destination is read again.
    /// - Returns: The duration in seconds.
    static func seconds(
        for count: Int, from source: StoreCosts, to destination: StoreCosts, path: MigrationPath, verifies: Bool
    ) -> Double {
        let making: Double
        switch path {
        case .nothing: return 0
        // Reading and writing are concurrent. One transaction may write much less than estimated.
        case .onePass, .oneTransaction: making = max(source.readingMicroseconds, destination.writingMicroseconds)
        case .threePasses: making = (source.readingMicroseconds + destination.writingMicroseconds) * threePassesFactor
        }
        return Double(count) * (making + (verifies ? destination.readingMicroseconds : 0)) / 1_000_000
    }
}
