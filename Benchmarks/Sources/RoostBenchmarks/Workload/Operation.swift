/// Something that Roost and a C program both do, to be compared.
struct Operation: Sendable {
    /// The unit of an operation.
    enum Unit: String, Codable, Sendable {
        case object, transaction
    }

    /// The source of the store that is read or changed.
    enum Source: Sendable, Hashable {
        /// No store: the operation makes its objects itself.
        case none
        /// A store that is in memory, made by the side that reads it.
        case memory
        /// A store on a server, made by the side that reads or changes it; see ``BenchmarkServer``.
        case server
        /// A file of this type, made once for each side and read by all operations.
        case shared(String)
        /// Such a file with an index over the titles of tracks, too.
        case indexed(String)
        /// Such a file with tags, too; Roost has made it for both sides.
        case tagged(String)
        /// A copy of such a file for each round, because the operation changes it.
        case copied(String)
        /// Something that the side itself makes anew for each round, because the operation changes
        /// it.
        case anew

        /// The type of the file, if any.
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

        /// The part of the workload that the store has.
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
        /// Roost's own verified conversion of the same store: what a migration costs beyond
        /// copying.
        case conversion

        /// The heading of its column.
        var title: String {
            switch self {
            case .c: "C"
            case .conversion: "conversion"
            }
        }
    }

    /// The name on the command line: the backend or the pair, a slash, what is done.
    let name: String
    /// A description in a few words.
    let title: String
    let unit: Unit
    let source: Source
    /// The type of the store that is made; nil if none is made.
    let madeType: String?
    /// The tracks of a whole run.
    let trackCount: Int
    /// The number of repetitions in a round, in a whole run.
    let repetitions: Int
    let batchSize: Int
    let baseline: Baseline
    /// The most that Roost's time may be, in times of the baseline's; nil where nothing was
    /// promised.
    let target: Double?
    /// The most private memory that Roost may need beyond what its process has, in bytes; nil where
    /// nothing was promised.
    let memoryTarget: Int?
    /// The work of the migration; nil for other operations.
    let migration: MigrationKind?
    /// Makes Roost's side.
    let makeSubject: @Sendable (Workload) throws -> any Subject

    /// Whether a file is made.
    var makesFile: Bool { madeType != nil && !isProvenBySubject }

    /// Whether the side itself reads its store, because it is not a file that another side could
    /// open.
    var isProvenBySubject: Bool { madeType == "memory" || madeType == BenchmarkServer.type }

    /// The type of the store whose whole content both sides must agree on after a round, if any.
    ///
    /// Transactions are left out: a store may leave gaps between the keys that it gives.
    var provenType: String? {
        if case .copied(let type) = source, unit == .object { return type }
        return madeType
    }

    /// Makes the side that Roost is compared with.
    func makeBaseline(_ workload: Workload) throws -> any Subject {
        switch baseline {
        case .c(let name): return try BaselineSubject(name, workload)
        case .conversion:
            guard let source = source.fileType, let madeType else {
                throw BenchmarkError("There is no conversion that '\(name)' could be compared with.")
            }
            return try ConversionSubject(source, madeType, verifies: true, workload)
        }
    }

    /// The part of the name before the slash.
    var group: String { String(name.prefix { $0 != "/" }) }
}
