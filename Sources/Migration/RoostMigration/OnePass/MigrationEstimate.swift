internal import RoostCore

/// About how long a migration takes: what an object or a link costs on its way, as measured on one machine with stores of a million.
///
/// Right within a factor of a few, since machines, objects and expressions differ; what the code of policies does comes on top.
struct MigrationEstimate {
    /// Three passes read objects again, keep associations and commit; reading and writing go on one after the other.
    private static let threePassesFactor = 2.0

    /// How long one step takes, in seconds.
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
        // Reading and writing go on side by side; in one transaction what is written may be much less.
        case .onePass, .oneTransaction: making = max(source.readingMicroseconds, destination.writingMicroseconds)
        case .threePasses: making = (source.readingMicroseconds + destination.writingMicroseconds) * threePassesFactor
        }
        return Double(count) * (making + (verifies ? destination.readingMicroseconds : 0)) / 1_000_000
    }
}
