internal import Foundation
internal import Roost

/// A request of the parent to a process that runs one side of one operation.
struct WorkerRequest: Codable {
    var operation: String
    var side: Side
    var trackCount: Int
    var repetitions: Int
    var batchSize: Int
    /// The store that is read or copied; empty without one.
    var fixture: String
    /// The worker's own directory.
    var directory: String
}

/// The reply of a process after each round.
struct WorkerReply: Codable {
    /// The error of the round; all numbers are then 0.
    var error: String?
    var seconds = 0.0
    /// The processor time of all threads.
    var cpuSeconds = 0.0
    var unitCount = 0
    var checksum: UInt64?
    /// The private memory that the round added to the process; nil unless the command was `prove`.
    var peakPrivateBytes: Int?
    var diskBytes: Int?
}

/// One side of one operation in its own process.
///
/// A worker shares no memory with other operations, and a crash fails only one operation. It reads
/// a request, then `prove` or `measure` for each round until its input ends. Each answer is one
/// line of JSON.
struct Worker {
    private let request: WorkerRequest
    private let operation: Operation
    private let subject: any Subject
    private let workload: Workload
    private var isOpen = false

    static func run() {
        do {
            guard let line = readLine() else { return }
            let request = try JSONDecoder().decode(WorkerRequest.self, from: Data(line.utf8))
            var worker = try Worker(request)
            while let command = readLine() {
                do {
                    answer(try worker.round(proving: command == "prove"))
                } catch {
                    answer(WorkerReply(error: "\(error)"))
                }
            }
            try worker.close()
        } catch {
            answer(WorkerReply(error: "\(error)"))
        }
    }

    private static func answer(_ reply: WorkerReply) {
        let line = (try? JSONEncoder().encode(reply)) ?? Data(#"{"error": "cannot encode the reply"}"#.utf8)
        FileHandle.standardOutput.write(line + Data("\n".utf8))
    }

    /// Creates the side that the request names, and opens nothing yet.
    init(_ request: WorkerRequest) throws {
        guard let operation = Operations.all.first(where: { $0.name == request.operation }) else {
            throw BenchmarkError("unknown operation '\(request.operation)'")
        }
        self.request = request
        self.operation = operation
        var workload = Workload(
            trackCount: request.trackCount, repetitions: request.repetitions, batchSize: request.batchSize)
        switch operation.source {
        case .shared, .indexed, .tagged: workload.source = request.fixture
        case .copied: workload.source = request.directory + "/store"
        case .none, .memory, .server, .anew: break
        }
        if operation.makesFile { workload.destination = request.directory + "/made" }
        self.workload = workload
        subject =
            request.side == .roost
            ? try operation.makeSubject(workload) : try operation.makeBaseline(workload)
    }

    /// Runs one round.
    ///
    /// Preparation and cleanup are not measured.
    mutating func round(proving: Bool) throws -> WorkerReply {
        let files = WorkDirectory(path: request.directory)
        if operation.source.isAnew || !isOpen {
            try close()
            try files.clear()
            if case .copied = operation.source { try files.copy(request.fixture, to: workload.source) }
            try subject.open()
            isOpen = true
        } else {
            try files.clear()
        }
        let memory = proving ? PrivateMemoryWatch() : nil
        let clock = RoundClock()
        let outcome = try subject.run(proving: proving)
        let (seconds, cpuSeconds) = clock.elapsed()
        let peak = memory?.stop()
        let fixture = operation.source.fileType != nil && !operation.makesFile && !operation.source.isAnew
        let bytes = fixture ? try WorkDirectory(holding: request.fixture).byteCount() : try files.byteCount()
        var checksum = outcome.checksum
        if proving, operation.isProvenBySubject { checksum = try subject.madeChecksum() }
        try subject.clean()
        if proving, let type = operation.provenType, !operation.isProvenBySubject {
            if operation.source.isAnew { try close() }
            let path = operation.makesFile ? workload.destination : workload.source
            checksum = try Proof.checksum(of: path, type: type, side: request.side, operation: operation)
        }
        return WorkerReply(
            seconds: seconds, cpuSeconds: cpuSeconds, unitCount: outcome.unitCount, checksum: checksum,
            peakPrivateBytes: peak, diskBytes: operation.makesFile || operation.source.fileType != nil ? bytes : nil)
    }

    mutating func close() throws {
        guard isOpen else { return }
        isOpen = false
        try subject.close()
    }
}
