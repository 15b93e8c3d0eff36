import CampaignSupport
import Dispatch
import Foundation
import Roost
import RoostMigration
import Testing

/// A command that is killed at a random moment leaves the old content or the new, and a rerun
/// finishes.
///
/// The normal run kills a few commands. `ROOST_CAMPAIGN_KILLS` sets the number of kills, and
/// `ROOST_CAMPAIGN_SEED` repeats the choice of commands and moments.
@Suite("Killed commands", .serialized)
struct KillCampaignTests {
    /// One command, which changes the store `s`, or writes the store `t` from `s` or a dump.
    struct Job: Sendable {
        enum Verb: String, CaseIterable, Sendable {
            case convert, convertOver, load, loadOver, migrateInPlace, migrateWithBackup, migrateInto, compact
        }

        let verb: Verb
        let source: String
        let destination: String

        /// Whether `t` already exists, with other content.
        var hasOld: Bool { verb == .convertOver || verb == .loadOver }
        /// Whether `s` itself changes.
        var isInPlace: Bool { [.migrateInPlace, .migrateWithBackup, .compact].contains(verb) }

        var arguments: [String] {
            switch verb {
            case .convert: ["convert", "\(source):s", "\(destination):t", "-q"]
            case .convertOver: ["convert", "\(source):s", "\(destination):t", "-q", "--overwrite"]
            case .load: ["load", "\(destination):t", "-q"]
            case .loadOver: ["load", "\(destination):t", "-q", "--overwrite"]
            case .migrateInPlace: ["migrate", "\(source):s", "--to=next.roostmodel.json", "--in-place", "-q"]
            case .migrateWithBackup:
                ["migrate", "\(source):s", "--to=next.roostmodel.json", "--in-place", "--keep-backup", "-q"]
            case .migrateInto:
                ["migrate", "\(source):s", "--to=next.roostmodel.json", "--output=\(destination):t", "-q"]
            case .compact: ["compact", "\(source):s", "-q"]
            }
        }

        static let all: [Job] = {
            let types = DamageCampaignTests.types
            return Verb.allCases.flatMap { verb in
                types.flatMap { source in
                    // Only these two verbs are tried with two types.
                    types.filter { [.convert, .migrateInto].contains(verb) || $0 == source }
                        .map { Job(verb: verb, source: source, destination: $0) }
                }
            }
        }()
    }

    private let place: Place
    /// The digests of the stores `base-TYPE` and `old-TYPE`, and of the migrated content.
    private let (baseDigest, oldDigest, nextDigest): (String, String, String)

    init() throws {
        place = try Place()
        let people = CampaignNumbers.count("ROOST_CAMPAIGN_PEOPLE", usually: 2000)
        var digests: [String] = []
        for (name, people) in [("base", people), ("old", 100)] {
            for type in DamageCampaignTests.types {
                let store = try StoreRegistry.standard.create(
                    StoreLocation(type: type, path: place.file("\(name)-\(type)")), model: try CampaignContent.model())
                try CampaignContent.fill(store, people: people)
                digests.append(try store.snapshot().computeTally().digest.description)
                try store.close()
            }
        }
        (baseDigest, oldDigest) = (try #require(digests.first), try #require(digests.last))
        try Data(try CampaignContent.model(next: true).document())
            .write(to: URL(fileURLWithPath: place.file("next.roostmodel.json")))
        let next = StoreLocation(type: "json", path: place.file("next"))
        nextDigest = try MigrationManager(registry: .standard).migrate(
            from: .location(StoreLocation(type: "json", path: place.file("base-json"))), to: .location(next),
            model: try CampaignContent.model(next: true)
        ).destinationDigest
        let dump = try Program("roost", arguments: ["dump", "json:base-json"], in: place.path)
        var text = ""
        while let line = dump.line(withinSeconds: 60) { text += line + "\n" }
        try #require(dump.wait(withinSeconds: 60).status == 0)
        try Data(text.utf8).write(to: URL(fileURLWithPath: place.file("dump.jsonl")))
        // A digest does not depend on the type.
        #expect(Set(digests).count == 2)
    }

    /// Copies the stores of a job, and the next model, into a new directory.
    private func prepare(_ job: Job, in run: Place) throws {
        let files = FileManager.default
        try files.copyItem(atPath: place.file("base-\(job.source)"), toPath: run.file("s"))
        if job.hasOld { try files.copyItem(atPath: place.file("old-\(job.destination)"), toPath: run.file("t")) }
        try files.copyItem(atPath: place.file("next.roostmodel.json"), toPath: run.file("next.roostmodel.json"))
    }

    private func start(_ job: Job, in run: Place) throws -> Program {
        let reads = job.verb == .load || job.verb == .loadOver
        return try Program(
            "roost", arguments: job.arguments, in: run.path, input: reads ? place.file("dump.jsonl") : nil)
    }

    /// Returns the digest of a store, or nil if its file does not exist.
    ///
    /// Throws if the check of the store finds more than warnings.
    private func digest(of name: String, type: String, in run: Place) throws -> String? {
        guard FileManager.default.fileExists(atPath: run.file(name)) else { return nil }
        let store = try StoreRegistry.standard.open(
            StoreLocation(type: type, path: run.file(name)), options: StoreOptions(isReadOnly: true))
        // A log that a killed command left causes only warnings.
        let findings = try checkStore(store).filter { $0.severity != .warning }
        let digest = try store.snapshot().computeTally().digest.description
        try store.close()
        guard findings.isEmpty else { throw StoreError(.corrupted, "'\(name)' has findings: \(findings.prefix(3))") }
        return digest
    }

    /// Runs a killed command again, and returns the problems found before and after the rerun.
    private func examine(_ job: Job, in run: Place, source original: Data) throws -> [String] {
        var problems: [String] = []
        let migrates = [.migrateInPlace, .migrateWithBackup, .migrateInto].contains(job.verb)
        let new = migrates ? nextDigest : baseDigest
        func expect(_ isRight: Bool, _ problem: @autoclosure () -> String) {
            if !isRight { problems.append(problem()) }
        }
        do {
            if job.isInPlace {
                let found = try digest(of: "s", type: job.source, in: run)
                expect(found == baseDigest || found == new, "s is neither old nor new: \(found ?? "missing")")
            } else {
                expect(try run.bytes("s") == original, "the source changed")
                let found = try digest(of: "t", type: job.destination, in: run)
                expect(
                    found == new || found == (job.hasOld ? oldDigest : nil),
                    "t is neither old nor new: \(found ?? "missing")")
                // A rerun would fail because the destination exists.
                if found == new, !job.hasOld { run.remove("t") }
            }
        } catch {
            problems.append("after the kill: \(error)")
        }
        let again = try start(job, in: run).wait(withinSeconds: 120)
        expect(again.status == 0, "the same command again: \(again)")
        do {
            let name = job.isInPlace ? "s" : "t"
            let found = try digest(of: name, type: job.isInPlace ? job.source : job.destination, in: run)
            expect(found == new, "after the second run \(name) has \(found ?? "nothing")")
        } catch {
            problems.append("after the second run: \(error)")
        }
        let allowed: Set<String> = ["s", "t", "s.lock", "t.lock", "next.roostmodel.json"]
        let others = try run.names().subtracting(allowed).filter { !$0.contains("backup") }
        expect(others.isEmpty, "left: \(others.sorted())")
        return problems
    }

    @Test("a killed command leaves the old content or the new, and a rerun finishes")
    func kills() throws {
        let wanted = CampaignNumbers.count("ROOST_CAMPAIGN_KILLS", usually: 12)
        let seed = CampaignNumbers.seed
        var random = TrialRandom(seed: seed, number: 0)
        var (killed, finished) = (0, 0)
        var problems: [String] = []
        var seconds: [Int: Double] = [:]
        var killedByVerb: [String: Int] = [:]
        while killed < wanted, finished < 4 * wanted + 40 {
            let number = (killed + finished) % Job.all.count
            // A short run chooses jobs at random.
            let index = wanted < Job.all.count ? random.below(Job.all.count) : number
            let job = Job.all[index]
            let run = try Place()
            try prepare(job, in: run)
            let original = try run.bytes("s")
            guard let usual = seconds[index] else {
                let begin = ContinuousClock.now
                let end = try start(job, in: run).wait(withinSeconds: 120)
                #expect(end.status == 0, "\(job): \(end)")
                seconds[index] = (ContinuousClock.now - begin) / .seconds(1)
                continue
            }
            let program = try start(job, in: run)
            // Most kills are near the end, where files are renamed.
            let part = Double(random.below(1_000_000)) / 1_000_000
            Thread.sleep(forTimeInterval: usual * (1 - part * part))
            program.kill()
            let end = program.wait(withinSeconds: 60)
            guard end.status == -9 else {
                #expect(end.status == 0, "\(job): \(end)")
                finished += 1
                continue
            }
            killed += 1
            killedByVerb[job.verb.rawValue, default: 0] += 1
            for problem in try examine(job, in: run, source: original) {
                problems.append("\(job.verb) \(job.source) to \(job.destination), kill \(killed): \(problem)")
            }
        }
        print("kills: ROOST_CAMPAIGN_SEED=\(seed), \(killed) killed, \(finished) finished before")
        for (verb, count) in killedByVerb.sorted(by: { $0.key < $1.key }) { print("  \(verb): \(count)") }
        for problem in problems { print("  \(problem)") }
        #expect(killed == wanted)
        #expect(problems == [])
    }
}
