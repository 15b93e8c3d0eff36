internal import RoostCore

/// An estimate of a migration's duration, from the costs per object or link.
///
/// The costs were measured on one machine with stores of a million objects.
struct MigrationEstimate {
    /// The cost factor of three passes, which read objects again, store associations and commit.
    private static let threePassesFactor = 2.0

    /// Estimates the duration of one step, in seconds.
    ///
    /// `count` is the number of objects and links of the source.
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
