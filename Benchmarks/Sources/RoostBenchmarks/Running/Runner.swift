internal import Foundation
internal import Roost

/// Runs operations, both sides by turns.
struct Runner {
    let scale: Scale
    let fixtures: Fixtures
    /// Where the workers have their files.
    let workDirectory: String
    /// Called with each operation before it runs.
    let onStart: (Operation) -> Void

    /// Measures one operation.
    ///
    /// The first round of each side proves that both do the same, by counts and checksums, and watches memory; its time does not
    /// count, because memory is touched and files are read for the first time in it. Then both sides take turns, each round in the
    /// other order.
    func measure(_ operation: Operation) throws -> OperationResult {
        onStart(operation)
        let workload = scale.workload(of: operation)
        let roost = try start(operation, .roost, workload)
        defer { roost.end() }
        let baseline = try start(operation, .baseline, workload)
        defer { baseline.end() }

        let mine = try roost.round(proving: true)
        let other = try baseline.round(proving: true)
        try requireSame(mine, other)
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
            unitCount: mine.unitCount, roost: Self.result(first: mine, mySeconds),
            baseline: Self.result(first: other, otherSeconds), target: operation.target)
    }

    private func start(_ operation: Operation, _ side: Side, _ workload: Workload) throws -> WorkerProcess {
        var fixture = ""
        if let type = operation.source.fileType {
            fixture = try fixtures.path(type, side, trackCount: workload.trackCount)
        }
        let request = WorkerRequest(
            operation: operation.name, side: side, trackCount: workload.trackCount, repetitions: workload.repetitions,
            batchSize: workload.batchSize, fixture: fixture, directory: "\(workDirectory)/\(side.rawValue)")
        let worker = try WorkerProcess(["worker"])
        try worker.send(String(decoding: try JSONEncoder().encode(request), as: UTF8.self))
        return worker
    }

    private func requireSame(_ mine: WorkerReply, _ other: WorkerReply) throws {
        guard mine.unitCount == other.unitCount else {
            throw BenchmarkError("Roost did \(mine.unitCount) units, the baseline \(other.unitCount).")
        }
        if let sum = mine.checksum, let otherSum = other.checksum, sum != otherSum {
            throw BenchmarkError("The checksums differ: Roost \(sum), the baseline \(otherSum).")
        }
    }

    private static func result(first: WorkerReply, _ rounds: [WorkerReply]) -> SideResult {
        SideResult(
            seconds: rounds.map(\.seconds), cpuSeconds: rounds.map(\.cpuSeconds),
            peakPrivateBytes: first.peakPrivateBytes, diskBytes: first.diskBytes)
    }
}
