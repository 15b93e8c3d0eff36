internal import Foundation
internal import Roost

/// Runs operations, alternating between both sides.
struct Runner {
    var scale: Scale
    let fixtures: Fixtures
    /// The directory for the workers' files.
    let workDirectory: String
    /// Called with each operation before it runs.
    let onStart: (Operation) -> Void

    /// Measures one operation.
    ///
    /// The first round of each side warms up memory and files, and is not timed. It samples memory,
    /// and its counts and checksums must be equal on both sides. Then the sides alternate, and each
    /// round reverses their order.
    func measure(_ operation: Operation) throws -> OperationResult {
        onStart(operation)
        let workload = scale.workload(of: operation)
        let roost = try start(operation, side: .roost, workload: workload)
        defer { roost.end() }
        let baseline = try start(operation, side: .baseline, workload: workload)
        defer { baseline.end() }

        let mine = try roost.round(proving: true)
        let other = try baseline.round(proving: true)
        try requireSame(mine, as: other)
        var (mySeconds, otherSeconds): ([WorkerReply], [WorkerReply]) = ([], [])
        for round in 0..<scale.rounds {
            if round.isMultiple(of: 2) {
                mySeconds.append(try roost.round(proving: false))
                otherSeconds.append(try baseline.round(proving: false))
            } else {
                otherSeconds.append(try baseline.round(proving: false))
                mySeconds.append(try roost.round(proving: false))
            }
        }
        for reply in mySeconds + otherSeconds where reply.unitCount != mine.unitCount {
            throw BenchmarkError("A round did \(reply.unitCount) units, the first did \(mine.unitCount).")
        }
        return OperationResult(
            name: operation.name, title: operation.title, unit: operation.unit, trackCount: workload.trackCount,
            unitCount: mine.unitCount, baselineTitle: operation.baseline.title,
            roost: Self.result(first: mine, rounds: mySeconds),
            baseline: Self.result(first: other, rounds: otherSeconds),
            target: operation.target, memoryTarget: operation.memoryTarget)
    }

    /// Returns the private memory in bytes that one round of Roost adds to its process.
    func peakPrivateBytes(_ operation: Operation) throws -> Int? {
        onStart(operation)
        let worker = try start(operation, side: .roost, workload: scale.workload(of: operation))
        defer { worker.end() }
        return try worker.round(proving: true).peakPrivateBytes
    }

    /// Runs one side in this process, for a profiler.
    func profile(_ operation: Operation, side: Side) throws {
        var worker = try Worker(try request(operation, side: side, workload: scale.workload(of: operation)))
        for _ in 0..<scale.rounds {
            let reply = try worker.round(proving: false)
            print(String(format: "%.3f s, of the processor %.3f s", reply.seconds, reply.cpuSeconds))
        }
        try worker.close()
    }

    /// Returns the request for a worker; first creates the store that the worker reads, if missing.
    private func request(_ operation: Operation, side: Side, workload: Workload) throws -> WorkerRequest {
        var fixture = ""
        if let type = operation.source.fileType {
            fixture = try fixtures.path(
                type, side: side, trackCount: workload.trackCount, form: operation.source.form)
        }
        return WorkerRequest(
            operation: operation.name, side: side, trackCount: workload.trackCount, repetitions: workload.repetitions,
            batchSize: workload.batchSize, fixture: fixture, directory: "\(workDirectory)/\(side.rawValue)")
    }

    private func start(_ operation: Operation, side: Side, workload: Workload) throws -> WorkerProcess {
        let request = try request(operation, side: side, workload: workload)
        let worker = try WorkerProcess(["worker"])
        try worker.send(String(decoding: try JSONEncoder().encode(request), as: UTF8.self))
        return worker
    }

    private func requireSame(_ mine: WorkerReply, as other: WorkerReply) throws {
        guard mine.unitCount == other.unitCount else {
            throw BenchmarkError("Roost did \(mine.unitCount) units, the baseline \(other.unitCount).")
        }
        if let sum = mine.checksum, let otherSum = other.checksum, sum != otherSum {
            throw BenchmarkError("The checksums differ: Roost \(sum), the baseline \(otherSum).")
        }
    }

    private static func result(first: WorkerReply, rounds: [WorkerReply]) -> SideResult {
        SideResult(
            seconds: rounds.map(\.seconds), cpuSeconds: rounds.map(\.cpuSeconds),
            peakPrivateBytes: first.peakPrivateBytes, diskBytes: first.diskBytes)
    }
}
