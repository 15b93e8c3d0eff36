/// The two programs that are compared.
enum Side: String, Codable, CaseIterable, Sendable {
    case roost, baseline
}

/// The size of a run.
struct Scale: Sendable {
    /// The number of tracks of every operation; nil for the operation's own number.
    var trackCount: Int?
    /// The divisor of each operation's own number of tracks.
    var divisor = 1
    /// The number of measured rounds, without the first round.
    var rounds = 5

    /// Returns the operation's workload without its files.
    func workload(of operation: Operation) -> Workload {
        let tracks = max(1000, trackCount ?? operation.trackCount / divisor)
        // The number of tracks does not change the number of transactions.
        let repetitions =
            operation.unit == .transaction
            ? max(10, operation.repetitions / (divisor == 1 ? 1 : 3))
            : min(operation.repetitions, max(50, operation.repetitions * tracks / operation.trackCount))
        return Workload(trackCount: tracks, repetitions: repetitions, batchSize: operation.batchSize)
    }
}
