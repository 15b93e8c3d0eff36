/// An operation of Roost, and the baseline that it is compared with.
struct Operation: Sendable {
    enum Unit: String, Codable, Sendable {
        case object, transaction
    }

    /// The source of the store that is read or changed.
    enum Source: Sendable, Hashable {
        /// No store: the operation creates its objects itself.
        case none
        /// A store in memory, created by the side that reads it.
        case memory
        /// A store on a server, created by the side that uses it; see ``BenchmarkServer``.
        case server
        /// A file of this type from ``Fixtures``, which several operations read.
        case shared(String)
        /// A shared file that also has an index over the titles of tracks.
        case indexed(String)
        /// A shared file that also has tags. Roost creates it for both sides.
        case tagged(String)
        /// A copy of a shared file for each round, because the operation changes it.
        case copied(String)
        /// A store that the side creates for each round, because the operation changes it.
        case anew

        var fileType: String? {
            switch self {
            case .shared(let type), .indexed(let type), .tagged(let type), .copied(let type): type
            case .none, .memory, .server, .anew: nil
            }
        }

        /// Whether each round has a store of its own.
        var isAnew: Bool {
            switch self {
            case .copied, .anew: true
            case .none, .memory, .server, .shared, .indexed, .tagged: false
            }
        }

        /// The part of the workload that the store contains.
        var form: TrackForm {
            switch self {
            case .indexed: .indexed
            case .tagged: .tagged
            case .none, .memory, .server, .shared, .copied, .anew: .plain
            }
        }
    }

    /// The program that Roost is compared with.
    enum Baseline: Sendable, Hashable {
        /// A program in C, by its name.
        case c(String)
        /// Roost's own verified conversion of the same store.
        ///
        /// The ratio shows the costs of a migration beyond copying.
        case conversion

        /// The heading of its column.
        var title: String {
            switch self {
            case .c: "C"
            case .conversion: "conversion"
            }
        }
    }

    /// The name on the command line: the backend or the pair of backends, a slash, and the action.
    let name: String
    let title: String
    let unit: Unit
    let source: Source
    /// The type of the created store; nil if none is created.
    let madeType: String?
    /// The number of tracks in a full run, without `--quick`.
    let trackCount: Int
    /// The number of repetitions in each round of a full run.
    let repetitions: Int
    let batchSize: Int
    let baseline: Baseline
    /// The maximum of Roost's time, as a multiple of the baseline's; nil without a target.
    let target: Double?
    /// The maximum private memory in bytes that Roost may add to its process; nil without a target.
    let memoryTarget: Int?
    /// The work of the migration; nil for other operations.
    let migration: MigrationKind?
    /// Creates Roost's side.
    let makeSubject: @Sendable (Workload) throws -> any Subject

    var makesFile: Bool { madeType != nil && !isProvenBySubject }

    /// Whether each side computes the checksum of its own store, because the store is not a file.
    var isProvenBySubject: Bool {
        // A store that is changed and was not copied from a file is in memory.
        madeType == "memory" || madeType == BenchmarkServer.type || (madeType == nil && source == .anew)
    }

    /// The type of the store whose content must be equal on both sides after a round, if any.
    ///
    /// Nil for transactions, because stores may leave gaps between reserved keys.
    var provenType: String? {
        if case .copied(let type) = source, unit == .object { return type }
        return madeType
    }

    /// Creates the side that Roost is compared with.
    func makeBaseline(_ workload: Workload) throws -> any Subject {
        switch baseline {
        case .c(let name): return try BaselineSubject(name, workload: workload)
        case .conversion:
            guard let source = source.fileType, let madeType else {
                throw BenchmarkError("no conversion corresponds to '\(name)'")
            }
            return try ConversionSubject(from: source, to: madeType, verifies: true, workload: workload)
        }
    }

    /// The part of the name before the slash.
    var group: String { String(name.prefix { $0 != "/" }) }
}
