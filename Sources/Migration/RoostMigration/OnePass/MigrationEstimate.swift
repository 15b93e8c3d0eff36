internal import RoostCore

/// An estimate of the time that a migration takes, from the costs of an object or a link.
///
/// The costs were measured on one machine with stores of a million objects. The estimate is right
/// within a small factor, because machines, objects and expressions differ. The time of the code of
/// policies is not included.
struct MigrationEstimate {
    /// The cost of three passes, which read objects again, keep associations and commit.
    ///
    /// They read and write alternately.
    private static let threePassesFactor = 2.0

    /// Returns the time of one step, in seconds.
    ///
    /// - Parameters:
    ///   - count: The objects and links of the source.
    ///   - source: The costs of the source's type.
    ///   - destination: The costs of the destination's type.
    ///   - path: How the step is made.
    ///   - verifies: Whether the destination is read again.
    /// - Returns: The seconds.
    static func seconds(
        for count: Int, from source: StoreCosts, to destination: StoreCosts, path: MigrationPath, verifies: Bool
    ) -> Double {
        let making: Double
        switch path {
        case .nothing: return 0
        // Reading and writing are concurrent; in one transaction much less may be written.
        case .onePass, .oneTransaction: making = max(source.readingMicroseconds, destination.writingMicroseconds)
        case .threePasses: making = (source.readingMicroseconds + destination.writingMicroseconds) * threePassesFactor
        }
        return Double(count) * (making + (verifies ? destination.readingMicroseconds : 0)) / 1_000_000
    }
}
