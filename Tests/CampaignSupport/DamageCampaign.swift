import Dispatch
import Foundation
import RoostCore
import RoostSystem

/// Many damaged copies of one file, tried in child processes.
///
/// A child tries one file after the other and writes a line before and after each. If a signal ends
/// the child, or a file takes too long, another child continues with the next file.
public struct DamageCampaign: Sendable {
    /// The type of the store.
    public var type: String
    /// The sound file.
    public var base: String
    /// The number of copies.
    public var count: Int
    /// The seed.
    public var seed: UInt64
    /// The maximum time for one file.
    public var secondsPerFile = 20.0

    /// Creates a campaign.
    public init(type: String, base: String, count: Int, seed: UInt64) {
        (self.type, self.base, self.count, self.seed) = (type, base, count, seed)
    }

    /// The results of all files.
    public struct Results: Sendable {
        /// The files with complete results.
        public fileprivate(set) var trials: [Trial] = []
        /// The files whose child ended by a signal, each with the signal.
        public fileprivate(set) var crashes: [String] = []
        /// The files whose child took too long.
        public fileprivate(set) var hangs: [String] = []
        /// The errors of starting children, the ends of children that stopped early without a
        /// signal, and failures after the last file.
        public fileprivate(set) var failures: [String] = []

        /// The number of trials, crashes and hangs.
        public var count: Int { trials.count + crashes.count + hangs.count }

        /// Returns the numbers of the files that gave this outcome for this operation.
        public func numbers(of operation: String, with outcome: Outcome) -> [Int] {
            trials.filter { $0.outcomes[operation] == outcome }.map(\.number).sorted()
        }

        /// The remarks, each with the numbers of its files.
        public var remarks: [String: [Int]] {
            var result: [String: [Int]] = [:]
            for trial in trials { for remark in trial.remarks { result[remark, default: []].append(trial.number) } }
            return result.mapValues { $0.sorted() }
        }

        /// Returns a table with a line for all files and one for each operation, mutation and
        /// remark.
        public func table(_ title: String) -> String {
            let hits = trials.count { $0.hitsLive }
            var lines = [
                "\(title): \(count) files, \(hits * 100 / max(1, trials.count)) % hit live bytes, \(crashes.count) signals, \(hangs.count) hangs"
            ]
            for operation in ["check", "dump", "convert", "backup"] {
                let outcomes = Outcome.allCases.compactMap { outcome -> String? in
                    let count = trials.count { $0.outcomes[operation] == outcome }
                    return count == 0 ? nil : "\(outcome) \(count)"
                }
                if !outcomes.isEmpty { lines.append("  \(operation): \(outcomes.joined(separator: ", "))") }
            }
            for mutation in Mutation.allCases {
                let own = trials.filter { $0.mutation == mutation }
                let silent = own.count { trial in
                    ["dump", "convert", "backup"].contains { trial.outcomes[$0] == .different }
                }
                lines.append(
                    "  \(mutation): \(own.count) files, \(own.count { $0.hitsLive }) hit, \(silent) silently different")
            }
            for (remark, numbers) in remarks.sorted(by: { $0.key < $1.key }) {
                lines.append("  \(remark): \(numbers.count), first \(numbers.prefix(3))")
            }
            return lines.joined(separator: "\n")
        }
    }

    /// Runs the campaign in two children at a time, each with every second file.
    public func run() -> Results {
        let results = Mutex(Results())
        let workers = 2
        DispatchQueue.concurrentPerform(iterations: workers) { worker in
            var next = 1 + worker
            while next <= count {
                next = runChild(from: next, step: workers, addingTo: results)
            }
        }
        return results.withLock { $0 }
    }

    /// Runs one child until it ends, and returns the next file to try, or a number above `count`.
    private func runChild(from start: Int, step: Int, addingTo results: Mutex<Results>) -> Int {
        // The files are in memory if possible, because no result depends on power cuts.
        let memory = "/dev/shm"
        let place =
            FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
        let directory = "\(place)/roost-campaign-\(UUID().uuidString)"
        // If the removal fails, the system removes the files.
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let child: Program
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            child = try Program(
                "CampaignChild", arguments: [type, base, directory, "\(seed)", "\(start)", "\(step)", "\(count)"],
                in: directory)
        } catch {
            results.withLock { $0.failures.append("\(error)") }
            return count + 1
        }
        var current = start
        while let line = child.line(withinSeconds: secondsPerFile) {
            if let trial = Trial(line) {
                results.withLock { $0.trials.append(trial) }
                current = trial.number + step
            }
        }
        let end = child.wait(withinSeconds: secondsPerFile)
        guard current <= count else {
            // A child may still fail after its last file.
            if end.isHanging || end.status != 0 {
                results.withLock { $0.failures.append("\(type) after the last file, seed \(seed), \(end)") }
            }
            return current
        }
        let text = "\(type) file \(current), seed \(seed), \(end)"
        results.withLock { results in
            if end.isHanging {
                results.hangs.append(text)
            } else if end.status < 0 {
                results.crashes.append(text)
            } else {
                results.failures.append(text)
            }
        }
        // No child follows an early exit with status 0 or 3, because it would fail too.
        return end.status == 0 || end.status == 3 ? count + 1 : current + step
    }
}
