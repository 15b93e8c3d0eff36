internal import CBaselines

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The C side of an operation.
final class BaselineSubject: Subject {
    private let functions: baseline
    private let source: UnsafeMutablePointer<CChar>?
    private let destination: UnsafeMutablePointer<CChar>?
    private var state: UnsafeMutableRawPointer?
    private let workload: Workload

    /// Throws when there is no baseline with this name.
    init(_ name: String, _ workload: Workload) throws {
        guard let functions = baseline_named(name) else {
            throw BenchmarkError("There is no baseline '\(name)'.")
        }
        self.functions = functions.pointee
        self.workload = workload
        source = strdup(workload.source)
        destination = strdup(workload.destination)
    }

    deinit {
        free(source)
        free(destination)
    }

    func open() throws { _ = try call(functions.open) }

    func run(proving: Bool) throws -> Outcome {
        let run = try call(functions.run)
        return Outcome(unitCount: Int(run.unit_count), checksum: run.checksum)
    }

    func clean() { functions.clean?() }

    func close() {
        var run = argument()
        functions.close(&run)
        state = nil
    }

    private func argument() -> baseline_run {
        var run = baseline_run()
        run.path = UnsafePointer(source)
        run.destination = UnsafePointer(destination)
        run.track_count = Int64(workload.trackCount)
        run.repetitions = Int64(workload.repetitions)
        run.batch_size = Int64(workload.batchSize)
        run.state = state
        return run
    }

    private func call(
        _ function: @convention(c) (UnsafeMutablePointer<baseline_run>?) -> CInt
    ) throws -> baseline_run {
        var run = argument()
        let code = function(&run)
        state = run.state
        guard code == 0 else {
            let message = withUnsafeBytes(of: run.error) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            throw BenchmarkError("baseline: \(message)")
        }
        return run
    }
}
