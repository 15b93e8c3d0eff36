internal import CBaselines

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The C side of an operation.
final class BaselineSubject: Subject {
    private let functions: baseline
    /// The baseline that reads the created store, if the store is not a file.
    private let reader: String
    /// The argument of the C functions, at a stable address because the functions may keep
    /// pointers.
    private let argument: UnsafeMutablePointer<baseline_run>
    private let source: UnsafeMutablePointer<CChar>?
    private let destination: UnsafeMutablePointer<CChar>?

    /// Creates the side of a named baseline; throws if it does not exist.
    init(_ name: String, workload: Workload) throws {
        guard let functions = baseline_named(name) else {
            throw BenchmarkError("unknown baseline '\(name)'")
        }
        self.functions = functions.pointee
        reader = name.hasPrefix(BenchmarkServer.type) ? "\(BenchmarkServer.type)-read" : "memory-read"
        source = strdup(workload.source)
        destination = strdup(workload.destination)
        var run = baseline_run()
        run.path = UnsafePointer(source)
        run.destination = UnsafePointer(destination)
        run.track_count = Int64(workload.trackCount)
        run.repetitions = Int64(workload.repetitions)
        run.batch_size = Int64(workload.batchSize)
        argument = .allocate(capacity: 1)
        argument.initialize(to: run)
    }

    deinit {
        argument.deallocate()
        free(source)
        free(destination)
    }

    func open() throws { try call(functions.open) }

    func run(proving: Bool) throws -> Outcome {
        try call(functions.run)
        return Outcome(unitCount: Int(argument.pointee.unit_count), checksum: argument.pointee.checksum)
    }

    func madeChecksum() throws -> UInt64? {
        guard let functions = baseline_named(reader) else { return nil }
        try call(functions.pointee.run)
        return argument.pointee.checksum
    }

    func clean() { functions.clean?() }

    func close() { functions.close(argument) }

    private func call(_ function: @convention(c) (UnsafeMutablePointer<baseline_run>?) -> CInt) throws {
        argument.pointee.unit_count = 0
        argument.pointee.checksum = 0
        guard function(argument) == 0 else {
            let message = withUnsafeBytes(of: argument.pointee.error) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw BenchmarkError("baseline: \(message)")
        }
    }
}
