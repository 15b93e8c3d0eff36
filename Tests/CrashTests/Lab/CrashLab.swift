import Foundation
import Roost
import RoostConformance
import RoostCore
import Testing

/// A lab that runs one operation on stores in a directory, records its changes of files, and checks
/// the files after power cuts and faults.
///
/// The operation changes `store`, sometimes to the content of `source`. Initially, `store` is as a
/// killed process left it. After every cut and fault, `store` must be the old store or the new one;
/// after commits, it may also hold only the first transactions. A rerun must finish.
final class CrashLab {
    enum Operation: String, CaseIterable, Sendable {
        /// `source` is converted into the existing `store`.
        case convert
        /// `source` replaces `store`.
        case replace
        /// `store` is migrated in place to a larger model by an inferred mapping.
        case migrate
        /// `store` is migrated in place, and the old store is kept under another name.
        case migrateKeepingBackup
        /// `store` is migrated in place in two steps.
        ///
        /// The second step uses policies; many associations go to a file.
        case migrateThroughVersions
        /// `source` is migrated into the existing `store` in the steps of `migrateThroughVersions`.
        case migrateInto
        /// Three transactions are committed to `store`.
        ///
        /// Earlier transactions are in the log or journal that a killed process left.
        case commit
        /// Three transactions are committed to a store that records a history.
        ///
        /// Each state must have the history of exactly its transactions.
        case commitWithHistory

        var hasSource: Bool { [.convert, .replace, .migrateInto].contains(self) }
        /// Whether `store` gets the unchanged content of `source`.
        fileprivate var isCopy: Bool { [.convert, .replace].contains(self) }
        fileprivate var isCommit: Bool { [.commit, .commitWithHistory].contains(self) }
    }

    /// An early end of a migration.
    enum Ending: Sendable {
        /// A cancellation at the progress report with this number, from 1.
        case cancel(Int)
        /// A failure of a policy at the question with this number, from 1.
        ///
        /// A question is a point in a policy where the policy can fail.
        case failure(Int)

        fileprivate var arguments: [String] {
            switch self {
            case .cancel(let number): ["cancel", "\(number)"]
            case .failure(let number): ["failure", "\(number)"]
            }
        }
    }

    /// A fault at a system call.
    struct Fault: Sendable {
        /// The calls that count; a raw value is a bit of `crashrecorder_class`.
        var classes: Set<Class>
        /// The number of the faulty call among these calls, from 1.
        var number: Int
        var action: Action
        /// Whether every later call has the fault too.
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
            /// A flush of a directory; `sync` is a flush of a file.
            case syncDirectory = 256
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

    struct Run {
        /// The directory after the run.
        let root: URL
        /// The files before a recorded run, which `trace` changes.
        let tree: [DiskFile]
        let trace: Trace
        /// The exit status, negative for a signal.
        let status: Int32
        /// The standard error output.
        let errors: String
        /// The number of calls of the fault's classes; nil if the run did not finish.
        let callCount: Int?
        let reportCount: Int?
        let questionCount: Int?
    }

    /// The stores that may be present afterwards.
    enum Outcome: Int {
        /// The old store or the new store.
        case any
        /// The new store, because the operation reported success.
        case new
        /// The old store, because the operation was ended early.
        case old
    }

    typealias Examined = (model: DiskModel, count: Int, findings: Findings)

    /// The problems found, by kind, each with its count and the first state that shows it.
    typealias Findings = [String: (count: Int, first: String)]

    let operation: Operation
    private let types: (source: String, store: String)
    /// The number of the last transaction that the operation commits.
    private let lastTransaction: Int64
    private let directory: URL
    private let initial: URL
    private var digests: (old: String, new: String, source: String?)
    private var checker: Child?
    private var failer: Child?
    private var runCount = 0
    /// The sorted file names after the undisturbed run, with stars for random parts.
    private var finalNames: [String]?

    /// Whether calls can be recorded here.
    static let works: Bool = {
        guard let child = try? Child(program: "CrashLabChild", arguments: ["works"]) else { return false }
        let line = child.line()
        _ = child.wait()
        return line == "1"
    }()

    /// Creates the stores with different numbers of transactions, and runs the operation once
    /// undisturbed.
    init(_ operation: Operation, from source: String, to store: String, transactions: Int64 = 6) throws {
        self.operation = operation
        types = (source, store)
        lastTransaction = transactions + 3
        // Uses a file system in memory, if any, for thousands of states.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let base =
            FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        directory = base.appendingPathComponent("roost-crash-\(UUID().uuidString)")
        initial = directory.appendingPathComponent("initial")
        try FileManager.default.createDirectory(at: initial, withIntermediateDirectories: true)
        let hasHistory = operation == .commitWithHistory
        var old = try Self.build(
            store, at: initial.appendingPathComponent("store"), transactions: transactions, hasHistory: hasHistory)
        if operation.isCommit {
            // Each of the transactions may be the last one on the disk.
            for number in transactions + 1..<lastTransaction {
                old +=
                    ","
                    + (try Self.build(
                        store, at: directory.appendingPathComponent("between\(number)"), transactions: -number))
            }
        }
        // The source of a replacement is closed. Any other source, like `store`, is as a killed
        // process leaves it.
        let count = transactions * 2 + 1
        let new =
            operation.hasSource
            ? try Self.build(
                source, at: initial.appendingPathComponent("source"),
                transactions: operation == .replace ? -count : count) : nil
        digests = (old, new ?? old, new)
        try runUndisturbed()
    }

    private func runUndisturbed() throws {
        let run = try run()
        defer { discard(run) }
        guard run.status == 0 else {
            throw StoreError(.internalInconsistency, "the operation does not work undisturbed: \(run.errors)")
        }
        let store = try StoreRegistry.standard.open(
            StoreLocation(type: types.store, path: run.root.appendingPathComponent("store").path))
        let snapshot = try store.snapshot()
        let digest = "\(try snapshot.computeTally().digest)"
        snapshot.close()
        try store.close()
        if !operation.isCopy { digests.new = digest }
        guard digests.new == digest, digests.old != digest else {
            throw StoreError(.internalInconsistency, "the operation gives \(digest), not \(digests.new)")
        }
        if let problem = try check(run.root, after: .new) {
            throw StoreError(.internalInconsistency, "the operation does not work undisturbed: \(problem)")
        }
        if let names = finalNames, names.contains(where: { $0.contains("roost-tmp") }) {
            throw StoreError(.internalInconsistency, "the operation leaves \(names.joined(separator: ", "))")
        }
    }

    /// Returns sorted names with a star for each sequence of random digits.
    private static func masked(_ names: some Sequence<String>) -> [String] {
        names.map { $0.replacing(/[0-9a-fA-F-]{16,}/, with: "*") }.sorted()
    }

    deinit {
        checker?.kill()
        failer?.kill()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Creates a store in a process that is then killed, and returns its digest.
    ///
    /// If `transactions` is negative, the process closes the store first.
    private static func build(
        _ type: String, at file: URL, transactions: Int64, hasHistory: Bool = false
    ) throws -> String {
        let child = try Child(
            program: "CrashLabChild",
            arguments: ["build", type, file.path, "\(transactions)"] + (hasHistory ? ["history"] : []))
        let (digest, end) = (child.line(), child.line())
        child.kill()
        let (_, errors) = child.wait()
        guard let digest, digest.hasPrefix("digest "), end == "built" else {
            throw StoreError(.internalInconsistency, "no store was made: \(errors)")
        }
        return String(digest.dropFirst(7))
    }

    // MARK: Running

    /// Runs the operation on a new copy of the stores.
    func run(_ fault: Fault? = nil, ending: Ending? = nil, recording: Bool = false) throws -> Run {
        runCount += 1
        let root = directory.appendingPathComponent("run\(runCount)")
        let file = directory.appendingPathComponent("trace\(runCount)")
        try FileManager.default.copyItem(at: initial, to: root)
        let tree = recording ? try tree(of: root) : []
        let child = try start(in: root, fault: fault, ending: ending, trace: recording ? file : nil)
        defer { try? FileManager.default.removeItem(at: file) }
        return try end(of: child, in: root, tree: tree, trace: recording ? file : nil)
    }

    /// Runs the operation on a new copy of the stores with a failing call, in a shared process.
    ///
    /// A failure must not affect later runs in the process.
    func fail(_ fault: Fault) throws -> Run {
        runCount += 1
        let root = directory.appendingPathComponent("run\(runCount)")
        try FileManager.default.copyItem(at: initial, to: root)
        let failer =
            try self.failer
            ?? Child(
                program: "CrashLabChild", arguments: ["fail", operation.rawValue, types.source, types.store],
                environment: environment.merging(["CRASHRECORDER_ROOT": directory.path]) { $1 })
        self.failer = failer
        try failer.write("\(root.path) \(fault.text)\n")
        guard let answer = failer.line(withinSeconds: 60) else {
            self.failer = nil
            let (status, errors) = failer.wait()
            return Run(
                root: root, tree: [], trace: Trace(), status: status, errors: errors, callCount: nil, reportCount: nil,
                questionCount: nil)
        }
        let words = answer.split(separator: " ", maxSplits: 2)
        return Run(
            root: root, tree: [], trace: Trace(), status: words.first.flatMap { Int32($0) } ?? -1,
            errors: words.count > 2 ? String(words[2]) : "", callCount: words.count > 1 ? Int(words[1]) : nil,
            reportCount: nil, questionCount: nil)
    }

    /// Runs two processes at once on one copy of the stores; the first has the fault.
    func runTwice(_ fault: Fault) throws -> [Run] {
        runCount += 1
        let root = directory.appendingPathComponent("run\(runCount)")
        try FileManager.default.copyItem(at: initial, to: root)
        let children = [try start(in: root, fault: fault), try start(in: root, fault: nil)]
        return try children.map { try end(of: $0, in: root) }
    }

    private func start(in root: URL, fault: Fault?, ending: Ending? = nil, trace: URL? = nil) throws -> Child {
        var environment = environment
        environment["CRASHRECORDER_ROOT"] = root.path
        if let trace { environment["CRASHRECORDER_TRACE"] = trace.path }
        if let fault { environment["CRASHRECORDER_FAULT"] = fault.text }
        return try Child(
            program: "CrashLabChild",
            arguments: ["run", operation.rawValue, root.path, types.source, types.store] + (ending?.arguments ?? []),
            environment: environment)
    }

    private func end(of child: Child, in root: URL, tree: [DiskFile] = [], trace: URL? = nil) throws -> Run {
        var numbers: [Substring: Int] = [:]
        while let line = child.line() {
            let words = line.split(separator: " ")
            if words.count == 2 { numbers[words[0]] = Int(words[1]) }
        }
        let (status, errors) = child.wait()
        return Run(
            root: root, tree: tree, trace: try trace.map { try Trace(contentsOf: $0) } ?? Trace(), status: status,
            errors: errors, callCount: numbers["calls"], reportCount: numbers["reports"],
            questionCount: numbers["questions"])
    }

    func discard(_ run: Run) { try? FileManager.default.removeItem(at: run.root) }

    /// Returns the files in a directory, which must have no subdirectories.
    private func tree(of root: URL) throws -> [DiskFile] {
        try FileManager.default.contentsOfDirectory(atPath: root.path).map { name in
            let file = root.appendingPathComponent(name)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let inode = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
            return DiskFile(path: name, contents: [UInt8](try Data(contentsOf: file)), inode: inode)
        }
    }

    // MARK: Checking

    /// Checks the states after a power cut, or a sample of them, under each disk model.
    ///
    /// A state that both models allow is checked once. After an early end, every state must be the
    /// old store.
    ///
    /// - Returns: The numbers of checked states, and their problems.
    func findings(
        of run: Run, models: [DiskModel] = DiskModel.allCases, wasEnded: Bool = false, limit: Int?, seed: UInt64
    ) throws -> [Examined] {
        let state = directory.appendingPathComponent("state")
        var seen: Set<Int> = []
        return try models.map { model in
            var findings: Findings = [:]
            let states = CrashStates(of: run.trace, from: run.tree, model: model)
            let count = try states.forEach(limit: limit, seed: seed, except: &seen) { found in
                try write(found.files, to: state)
                defer { try? FileManager.default.removeItem(at: state) }
                let outcome = found.isAcknowledged ? Outcome.new : wasEnded ? .old : .any
                guard let problem = try check(state, after: outcome) else { return }
                let kind = String(problem.prefix { $0 != ":" })
                let known = findings[kind]
                findings[kind] = ((known?.count ?? 0) + 1, known?.first ?? "\(found.label): \(problem)")
            }
            return (model, count, findings)
        }
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

    /// Checks a directory, repeats the operation and checks again.
    ///
    /// Returns the kind of a problem, a colon and the problem, or nil.
    func check(_ root: URL, after outcome: Outcome) throws -> String? {
        let checker = try self.checker ?? startChecker()
        self.checker = checker
        try checker.write("\(outcome.rawValue) \(root.path)\n")
        guard let answer = checker.line(withinSeconds: 60) else {
            self.checker = nil
            let (status, errors) = checker.wait()
            return "died: the checker ended with \(status) \(errors.suffix(300))"
        }
        guard answer.hasPrefix("ok ") else { return answer }
        var names = Self.masked(answer.dropFirst(3).split(separator: "/").map(String.init))
        // The lock file of a source that was moved away is empty and belongs to no store.
        if operation == .replace { names.removeAll { $0 == "source.lock" } }
        guard let finalNames else {
            self.finalNames = names
            return nil
        }
        return names == finalNames ? nil : "litter: \(names) instead of \(finalNames)"
    }

    private func startChecker() throws -> Child {
        try Child(
            program: "CrashLabChild",
            arguments: [
                "check", operation.rawValue, types.source, types.store, digests.old, digests.new,
                digests.source ?? "-",
            ],
            environment: environment)
    }

    private var environment: [String: String] {
        ["SWIFT_BACKTRACE": "enable=no", "CRASHLAB_LAST_TRANSACTION": "\(lastTransaction)"]
    }
}
