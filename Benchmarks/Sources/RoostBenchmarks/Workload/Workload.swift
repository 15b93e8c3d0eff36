/// The input of one side of a benchmark.
struct Workload: Sendable {
    /// The number of tracks in the store, which has one album for twenty tracks.
    var trackCount: Int
    /// The number of repetitions in a round: reads, transactions, look-ups.
    ///
    /// 0 for whole stores.
    var repetitions = 0
    /// The number of objects in one transaction.
    var batchSize = 0
    /// The file that is read or changed; empty if the store is not a file.
    var source = ""
    /// The file that is created; empty if the store is not a file.
    var destination = ""

    var albumCount: Int { Tracks.albumCount(trackCount: trackCount) }
}

/// The result of a round.
struct Outcome: Sendable {
    /// The number of units of the operation, equal on both sides.
    var unitCount: Int
    /// A checksum or count of the result, equal on both sides; nil if the round computed none.
    var checksum: UInt64?
}

/// One side of an operation: Roost or the baseline.
///
/// Only ``run(proving:)`` is measured.
protocol Subject: AnyObject {
    /// Opens the stores and files that the rounds use.
    func open() throws
    /// Runs the operation once.
    ///
    /// - Parameter proving: Whether to compute the checksum of all objects, even if the operation
    ///   itself does not.
    /// - Returns: The outcome.
    /// - Throws: Errors of the operation; ``BenchmarkError`` after a wrong result.
    func run(proving: Bool) throws -> Outcome
    /// Returns the sum of all objects' checksums in a store that a round wrote, if the store is not
    /// a file.
    func madeChecksum() throws -> UInt64?
    /// Releases everything that a round created, except files.
    func clean() throws
    /// Releases everything that ``open()`` opened.
    func close() throws
}

extension Subject {
    func madeChecksum() throws -> UInt64? { nil }
    func clean() throws {}
}

/// A failure that ends a benchmark.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
