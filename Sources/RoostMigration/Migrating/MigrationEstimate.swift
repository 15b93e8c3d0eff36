internal import RoostCore

/// About how long a migration takes: what an object or a link costs on its way, as measured on one machine with stores of a million.
///
/// Right within a factor of a few, since machines, objects and expressions differ; what the code of policies does comes on top.
struct MigrationEstimate {
    /// What reading and writing an object costs in a type of store, in microseconds.
    private struct Cost {
        var reading: Double
        var writing: Double
    }

    /// By the name of the type: those of `make bench`.
    private static let costs = [
        "sqlite": Cost(reading: 0.8, writing: 1.2), "lmdb": Cost(reading: 0.2, writing: 0.8),
        "json": Cost(reading: 0.6, writing: 0.6), "memory": Cost(reading: 0.1, writing: 0.5),
        "coredata": Cost(reading: 3.2, writing: 0),
    ]
    /// Of a type that is not known, as of the slower ones.
    private static let unknown = Cost(reading: 1, writing: 1.5)
    /// Three passes read objects again, keep associations and commit; reading and writing go on one after the other.
    private static let threePassesFactor = 2.0

    /// How long one step takes, in seconds.
    ///
    /// - Parameters:
    ///   - count: The objects and links of the source.
    ///   - source: The name of the source's type.
    ///   - destination: The name of the destination's type.
    ///   - path: How the step is made.
    ///   - verifies: Whether the destination is read again.
    /// - Returns: The seconds.
    static func seconds(
        for count: Int, from source: String, to destination: String, path: MigrationPath, verifies: Bool
    ) -> Double {
        let (from, to) = (costs[source] ?? unknown, costs[destination] ?? unknown)
        let making: Double
        switch path {
        case .nothing: return 0
        // Reading and writing go on side by side; in one transaction what is written may be much less.
        case .onePass, .oneTransaction: making = max(from.reading, to.writing)
        case .threePasses: making = (from.reading + to.writing) * threePassesFactor
        }
        return Double(count) * (making + (verifies ? to.reading : 0)) / 1_000_000
    }
}
