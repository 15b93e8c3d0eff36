/// The input of one side of a benchmark.
struct Workload: Sendable {
    /// The tracks of the store; there is one album for twenty.
    var trackCount: Int
    /// The number of repetitions in a round: reads, transactions, look-ups.
    ///
    /// 0 for whole stores.
    var repetitions = 0
    /// The objects of one transaction.
    var batchSize = 0
    /// The store that is read or changed; empty for one in memory.
    var source = ""
    /// The store that is made; empty for one in memory.
    var destination = ""

    var albumCount: Int { Tracks.albumCount(trackCount: trackCount) }
}

/// The result of a round.
struct Outcome: Sendable {
    /// In the unit the operation counts in; the same on both sides.
    var unitCount: Int
    /// The sum of the checksums of all objects that were read or written; nil where a round only
    /// reads part of them.
    var checksum: UInt64?
}

/// One side of an operation: Roost or the baseline.
///
/// Only ``run(proving:)`` is measured.
protocol Subject: AnyObject {
    /// Opens what the rounds need.
    func open() throws
    /// Does the operation once.
    ///
    /// - Parameter proving: Whether the checksum of everything that passes is computed, also where
    ///   the operation itself would not.
    /// - Returns: What was done, the same on both sides.
    /// - Throws: Whatever the operation throws; ``BenchmarkError`` when it did not do what it
    ///   should.
    func run(proving: Bool) throws -> Outcome
    /// The sum of the checksums of all objects in the store in memory that a round made; nil
    /// without one.
    func madeChecksum() throws -> UInt64?
    /// Releases everything that a round made, except for files.
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
