import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

/// Runs one operation on stores in a directory, records what it does to the files, and looks at what is left after cuts and faults.
///
/// The operation makes `store` another one, mostly what `source` holds. The stores are at first as processes left them that were killed;
/// whatever happens, `store` must be exactly the old one or exactly the new one, and the same operation run again must finish.
final class CrashLab {
    /// What is done.
    enum Operation: String, CaseIterable, Sendable {
        /// `source` is converted into `store`, which is there already.
        case convert
        /// `source` takes the place of `store`.
        case replace
        /// `store` is migrated under its own name to a model with more in it, by what is inferred.
        case migrate
        /// As `migrate`, and the old store is kept under another name.
        case migrateKeepingBackup
    }

    /// A call of the system that does not do what it should.
    struct Fault: Sendable {
        /// Which calls count: bits of `crashrecorder_class`.
        var classes: Set<Class>
        /// The how manieth of them it is, from 1.
        var number: Int
        var action: Action
        /// Whether every later one is met as well.
        var isSticky = false

        enum Class: Int, CaseIterable, Sendable {
            case open = 1
            case write = 2
            case truncate = 4
            case sync = 8
            case rename = 16
            case unlink = 32
            case read = 64
            case create = 128
        }

        enum Action: Sendable {
            case error(Int32)
            case skip, kill, killAfter

            fileprivate var number: Int32 {
                switch self {
                case .error(let code): code
                case .skip: -1
                case .kill: -2
                case .killAfter: -3
                }
            }
        }

        fileprivate var text: String {
            "\(classes.reduce(0) { $0 | $1.rawValue }) \(number) \(action.number) \(isSticky ? 1 : 0)"
        }
    }

    /// What a run of the operation came to.
    struct Run {
        /// The directory, as the run left it.
        let root: URL
        /// The files as they were before, if the run was recorded, and what happened to them.
        let tree: [DiskFile]
        let trace: Trace
        /// The exit status, negative for a signal.
        let status: Int32
        /// What it wrote to standard error.
        let errors: String
        /// How many calls of the fault's classes there were; nil when it did not come to its end.
        let callCount: Int?
    }

    /// What was wrong with states, by what it was: how many, and where the first one is.
    typealias Findings = [String: (count: Int, first: String)]

    let operation: Operation
    private let types: (source: String, store: String)
    private let directory: URL
    private let initial: URL
    private var digests: (old: StoreDigest, new: StoreDigest)
    private var checker: Child?
    private var runCount = 0
    /// The names that are there after an undisturbed run and a look at it, sorted, with stars for what is random in them; nil before.
    private var finalNames: [String]?

    /// Whether calls can be recorded here.
    static let works: Bool = {
        guard let child = try? Child(program: "CrashLabChild", ["works"]) else { return false }
        let line = child.line()
        _ = child.wait()
        return line == "1"
    }()

    /// Makes the stores, with different numbers of the transactions of `CrashWorkload`, and runs the operation once undisturbed.
    init(_ operation: Operation, from source: String, to store: String, transactions: Int64 = 6) throws {
        self.operation = operation
        types = (source, store)
        // Where there is memory to be had as a file system, thousands of states cost no disk.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let base =
            FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        directory = base.appendingPathComponent("roost-crash-\(UUID().uuidString)")
        initial = directory.appendingPathComponent("initial")
        try FileManager.default.createDirectory(at: initial, withIntermediateDirectories: true)
        let building = directory.appendingPathComponent("building")
        try FileManager.default.createDirectory(at: building, withIntermediateDirectories: true)
        let old = try Self.build(store, building.appendingPathComponent("store"), transactions)
        let hasSource = operation == .convert || operation == .replace
        let new =
            hasSource
            ? try Self.build(source, building.appendingPathComponent("source"), transactions * 2 + 1) : nil
        digests = (old.digest, new?.digest ?? old.digest)
        // A store that is moved was closed; every other one is copied while it is open, which is how a killed process leaves it.
        if operation == .replace { try new?.store.close() }
        for name in try FileManager.default.contentsOfDirectory(atPath: building.path) {
            try FileManager.default.copyItem(
                at: building.appendingPathComponent(name), to: initial.appendingPathComponent(name))
        }
        if operation != .replace { try new?.store.close() }
        try old.store.close()
        try FileManager.default.removeItem(at: building)
        try runUndisturbed()
    }

    /// Learns from a run to which nothing happens what the operation comes to.
    private func runUndisturbed() throws {
        let run = try run()
        defer { discard(run) }
        guard run.status == 0 else {
            throw StoreError(.internalInconsistency, "the operation does not work undisturbed: \(run.errors)")
        }
        let store = try StoreRegistry.shared.open(
            StoreURL(type: types.store, path: run.root.appendingPathComponent("store").path))
        let snapshot = try store.snapshot()
        let digest = try snapshot.computeTally().digest
        snapshot.close()
        try store.close()
        if operation == .migrate || operation == .migrateKeepingBackup { digests.new = digest }
        guard digests.new == digest, digests.old != digest else {
            throw StoreError(.internalInconsistency, "the operation comes to \(digest), not to \(digests.new)")
        }
        if let problem = try check(run.root, isAcknowledged: true) {
            throw StoreError(.internalInconsistency, "the operation does not work undisturbed: \(problem)")
        }
        if let names = finalNames, names.contains(where: { $0.contains("roost-tmp") }) {
            throw StoreError(.internalInconsistency, "the operation leaves \(names.joined(separator: ", "))")
        }
    }

    /// Names, sorted, with a star for each run of random digits.
    private static func masked(_ names: some Sequence<String>) -> [String] {
        names.map { $0.replacing(/[0-9a-fA-F-]{16,}/, with: "*") }.sorted()
    }

    deinit {
        checker?.kill()
        try? FileManager.default.removeItem(at: directory)
    }

    private static func build(
        _ type: String, _ file: URL, _ transactions: Int64
    ) throws -> (store: any PersistentStore, digest: StoreDigest) {
        let store = try StoreRegistry.shared.create(
            StoreURL(type: type, path: file.path), model: try CrashWorkload.model)
        for number in 1...transactions { _ = try store.commit(try CrashWorkload.transaction(number)) }
        var state = try CrashWorkload.State()
        try state.advance(to: transactions)
        return (store, state.digest)
    }

    // MARK: Running

    /// Runs the operation on a fresh copy of the stores.
    func run(_ fault: Fault? = nil, recording: Bool = false) throws -> Run {
        runCount += 1
        let root = directory.appendingPathComponent("run\(runCount)")
        let file = directory.appendingPathComponent("trace\(runCount)")
        try FileManager.default.copyItem(at: initial, to: root)
        let tree = recording ? try tree(of: root) : []
        var environment = ["CRASHRECORDER_ROOT": root.path, "SWIFT_BACKTRACE": "enable=no"]
        if recording { environment["CRASHRECORDER_TRACE"] = file.path }
        if let fault { environment["CRASHRECORDER_FAULT"] = fault.text }
        let child = try Child(
            program: "CrashLabChild", ["run", operation.rawValue, root.path, types.source, types.store],
            environment: environment)
        var calls: Int?
        while let line = child.line() {
            if line.hasPrefix("calls ") { calls = Int(line.dropFirst(6)) }
        }
        let (status, errors) = child.wait()
        defer { try? FileManager.default.removeItem(at: file) }
        let trace = recording ? try Trace(contentsOf: file) : Trace()
        return Run(root: root, tree: tree, trace: trace, status: status, errors: errors, callCount: calls)
    }

    /// Removes what a run left.
    func discard(_ run: Run) { try? FileManager.default.removeItem(at: run.root) }

    /// The files in a directory, which has no directories in it.
    private func tree(of root: URL) throws -> [DiskFile] {
        try FileManager.default.contentsOfDirectory(atPath: root.path).map { name in
            let file = root.appendingPathComponent(name)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let inode = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
            return DiskFile(path: name, contents: [UInt8](try Data(contentsOf: file)), inode: inode)
        }
    }

    // MARK: Looking

    /// Looks at the states that a power cut can leave of a run, all of them or a sample.
    ///
    /// - Returns: How many were looked at, and what was wrong.
    func findings(
        _ model: DiskModel, fault: Fault? = nil, limit: Int?, seed: UInt64
    ) throws -> (count: Int, findings: Findings) {
        let run = try run(fault, recording: true)
        defer { discard(run) }
        var findings: Findings = [:]
        let state = directory.appendingPathComponent("state")
        let count = try CrashStates(of: run.trace, from: run.tree, model).forEach(limit: limit, seed: seed) { found in
            try write(found.files, to: state)
            defer { try? FileManager.default.removeItem(at: state) }
            guard let problem = try check(state, isAcknowledged: found.isAcknowledged) else { return }
            let kind = String(problem.prefix { $0 != ":" })
            let known = findings[kind]
            findings[kind] = ((known?.count ?? 0) + 1, known?.first ?? "\(found.label): \(problem)")
        }
        return (count, findings)
    }

    private func write(_ files: [String: FileImage], to state: URL) throws {
        try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
        var names: [ObjectIdentifier: URL] = [:]
        for (path, image) in files.sorted(by: { $0.key < $1.key }) {
            let file = state.appendingPathComponent(path)
            if let other = names[image.node] {
                try FileManager.default.linkItem(at: other, to: file)
            } else if let contents = image.contents {
                try Data(contents).write(to: file)
            } else {
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            }
            names[image.node] = file
        }
    }

    /// Looks at a directory, runs the operation on it and looks again; nil when all is as it must be.
    ///
    /// What is wrong begins with its kind, before a colon.
    func check(_ root: URL, isAcknowledged: Bool) throws -> String? {
        let checker = try self.checker ?? startChecker()
        self.checker = checker
        try checker.write("\(isAcknowledged ? 1 : 0) \(root.path)\n")
        guard let answer = checker.line(withinSeconds: 60) else {
            self.checker = nil
            let (status, errors) = checker.wait()
            return "died: the checker ended with \(status) \(errors.suffix(300))"
        }
        guard answer.hasPrefix("ok ") else { return answer }
        var names = Self.masked(answer.dropFirst(3).split(separator: "/").map(String.init))
        // The empty lock file of a name that leads nowhere any more is no store's.
        if operation == .replace { names.removeAll { $0 == "source.lock" } }
        guard let finalNames else {
            self.finalNames = names
            return nil
        }
        return names == finalNames ? nil : "litter: \(names) in the place of \(finalNames)"
    }

    private func startChecker() throws -> Child {
        try Child(
            program: "CrashLabChild",
            ["check", operation.rawValue, types.source, types.store, "\(digests.old)", "\(digests.new)"],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }
}
