/// The two programs that are compared.
enum Side: String, Codable, CaseIterable, Sendable {
    case roost, baseline
}

/// The size of a run.
struct Scale: Sendable {
    /// The tracks of every operation; nil for each operation's own.
    var trackCount: Int?
    /// The divisor of each operation's own number of tracks.
    var divisor = 1
    /// The rounds that count, without the first, which does not.
    var rounds = 5

    /// The operation's workload, without its files.
    func workload(of operation: Operation) -> Workload {
        let tracks = max(1000, trackCount ?? operation.trackCount / divisor)
        // As many reads as there are tracks for the part that the whole run reads; transactions are counted by themselves.
        let repetitions =
            operation.unit == .transaction
            ? max(10, operation.repetitions / (divisor == 1 ? 1 : 3))
            : min(operation.repetitions, max(50, operation.repetitions * tracks / operation.trackCount))
        return Workload(trackCount: tracks, repetitions: repetitions, batchSize: operation.batchSize)
    }
}
