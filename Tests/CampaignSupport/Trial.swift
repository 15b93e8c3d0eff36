import Foundation
public import RoostCore
import RoostMigration
import RoostStores
internal import RoostSystem

/// The outcome of one operation on a damaged file.
public enum Outcome: String, Sendable, CaseIterable {
    /// The operation returned the content of the sound file, or `check` found no damage.
    case same
    /// The operation failed with a store error; for `check`, with a code other than `corrupted`.
    case error
    /// The operation returned other content, or a copy that cannot be read, without an error.
    case different
    /// The operation `check` found the damage.
    case found
}

/// The results of one damaged file.
public struct Trial: Sendable {
    /// The number of the file in its campaign.
    public var number: Int
    /// The damage.
    public var mutation: Mutation
    /// Whether a live byte changed.
    public var hitsLive: Bool
    /// The outcomes by the name of the operation.
    public var outcomes: [String: Outcome]
    /// Other problems: a file that reading changed, leftover files, or damage that `check` missed.
    public var remarks: [String]

    /// The trial as one line.
    public var line: String {
        let outcomes = outcomes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        let remarks = remarks.joined(separator: ";").replacingOccurrences(of: " ", with: "_")
        return
            "end \(number) \(mutation) \(hitsLive) \(outcomes.isEmpty ? "-" : outcomes) \(remarks.isEmpty ? "-" : remarks)"
    }

    init(number: Int, mutation: Mutation, hitsLive: Bool) {
        (self.number, self.mutation, self.hitsLive) = (number, mutation, hitsLive)
        (outcomes, remarks) = ([:], [])
    }

    /// Reads a trial from a line; nil for any other text.
    init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 6, words[0] == "end", let number = Int(words[1]),
            let mutation = Mutation(rawValue: words[2])
        else { return nil }
        self.init(number: number, mutation: mutation, hitsLive: words[3] == "true")
        for pair in words[4].split(separator: ",") where words[4] != "-" {
            let parts = pair.split(separator: "=").map(String.init)
            guard parts.count == 2, let outcome = Outcome(rawValue: parts[1]) else { return nil }
            outcomes[parts[0]] = outcome
        }
        if words[5] != "-" { remarks = words[5].split(separator: ";").map(String.init) }
    }
}

/// Trials of check, dump, conversion and backup on damaged copies of a sound file, in this process.
public struct DamageTrials {
    private let type: String
    private let directory: String
    private let good: [UInt8]
    private let live: LiveBytes
    private let seed: UInt64
    private let registry: StoreRegistry
    private var expected: [UInt8] = []

    /// Prepares trials in their own directory.
    ///
    /// - Parameters:
    ///   - type: The type of the store.
    ///   - base: The sound file.
    ///   - directory: An empty directory.
    ///   - seed: The seed of the campaign.
    ///   - registry: The types of store.
    /// - Throws: Errors of using the sound file.
    public init(
        type: String, base: String, directory: String, seed: UInt64, registry: StoreRegistry
    ) throws {
        (self.type, self.directory, self.seed, self.registry) = (type, directory, seed, registry)
        good = Array(try Data(contentsOf: URL(fileURLWithPath: base)))
        live = LiveBytes(of: type, in: good)
        try Data(good).write(to: URL(fileURLWithPath: path("d")))
        guard let text = try dump("d", type: type) else {
            throw StoreError(.internalInconsistency, "the sound file '\(base)' cannot be dumped")
        }
        expected = text
    }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }
    private func location(_ name: String, type: String) -> StoreLocation {
        StoreLocation(type: type, path: path(name))
    }

    /// Returns the dump of a store as text, or nil after an error of the store.
    private func dump(_ name: String, type: String) throws -> [UInt8]? {
        do throws(StoreError) {
            let store = try registry.open(
                location(name, type: type), options: StoreOptions(isReadOnly: true, timeoutSeconds: 1))
            var text: [UInt8] = []
            let sink = Sink()
            do throws(StoreError) {
                _ = try MigrationManager(registry: registry).dump(store) { (bytes) throws(StoreError) in sink.add(bytes)
                }
                text = sink.bytes
            } catch {
                try? store.close()
                throw error
            }
            try store.close()
            return text
        } catch {
            return nil
        }
    }

    private func outcome(of text: [UInt8]?) -> Outcome {
        guard let text else { return .error }
        return text == expected ? .same : .different
    }

    /// Damages one copy of the sound file, and runs every operation on the copy.
    public func run(_ number: Int) throws -> Trial {
        var random = TrialRandom(seed: seed, number: number)
        // About half of the damage to a Core Data store is in property lists.
        let mark = type == "coredata" ? Array("bplist00".utf8) : nil
        let (bytes, mutation, hitsLive) = Mutation.apply(to: good, live: live, mark: mark, using: &random)
        var trial = Trial(number: number, mutation: mutation, hitsLive: hitsLive)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            try FileManager.default.removeItem(atPath: path(name))
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path("d")))

        trial.outcomes["check"] = check()
        trial.outcomes["dump"] = outcome(of: try dump("d", type: type))
        trial.outcomes["convert"] = try copy(as: "c", type: "json") { destination throws(StoreError) in
            _ = try MigrationManager(registry: registry).convert(
                from: .location(location("d", type: type)), to: .location(destination),
                options: ConversionOptions(timeoutSeconds: 1))
        }
        if type != "coredata" {
            trial.outcomes["backup"] = try copy(as: "b", type: type) { destination throws(StoreError) in
                _ = try StoreMaintenance(registry: registry).backUp(
                    .location(location("d", type: type)), to: destination, options: ConversionOptions(timeoutSeconds: 1)
                )
            }
        }
        if Array(try Data(contentsOf: URL(fileURLWithPath: path("d")))) != bytes { trial.remarks.append("changed") }
        let allowed: Set<String> = ["d", "d.lock", "c", "c.lock", "b", "b.lock"]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) where !allowed.contains(name) {
            trial.remarks.append("left:\(name.replacing(/[0-9a-f]{8,}/, with: "*"))")
        }
        if trial.outcomes["check"] == .same, trial.outcomes["dump"] == .different {
            trial.remarks.append("check-missed")
        }
        return trial
    }

    private func check() -> Outcome {
        do throws(StoreError) {
            let store = try registry.open(
                location("d", type: type), options: StoreOptions(isReadOnly: true, timeoutSeconds: 1))
            let findings: [StoreFinding]
            do throws(StoreError) { findings = try checkStore(store) } catch {
                try? store.close()
                throw error
            }
            try store.close()
            return findings.contains { $0.severity == .damage } ? .found : .same
        } catch {
            return error.code == .corrupted ? .found : .error
        }
    }

    /// Creates a copy with `body`, and compares its content with the sound store.
    private func copy(
        as name: String, type: String, _ body: (StoreLocation) throws(StoreError) -> Void
    ) throws -> Outcome {
        do throws(StoreError) { try body(location(name, type: type)) } catch { return .error }
        // After success, a copy that cannot be read counts as `different`, not as `error`.
        return try dump(name, type: type) == expected ? .same : .different
    }

    private final class Sink: Sendable {
        private let content = Mutex<[UInt8]>([])
        var bytes: [UInt8] { content.withLock { $0 } }
        func add(_ bytes: [UInt8]) { content.withLock { $0 += bytes } }
    }
}
