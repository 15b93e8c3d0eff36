import Foundation
import Testing

/// The counted costs of operations: allocations, written bytes, flushes and steps of SQLite.
///
/// `ROOST_WRITE_LIMITS=1` records limits in `limits.json`, slightly above the counts. A higher cost
/// is a regression unless the change records a new limit.
@Suite("Costs", .serialized)
struct CostTests {
    /// The cost of one operation, per object, read or commit.
    struct Cost: Codable {
        var allocations: Double
        var writtenBytes: Double
        var flushes: Double
        var sqliteSteps: Double

        var numbers: [(String, Double)] {
            [
                ("allocations", allocations), ("bytes written", writtenBytes), ("flushes", flushes),
                ("SQLite steps", sqliteSteps),
            ]
        }
    }

    private typealias Limits = [String: [String: Cost]]
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("limits.json")
    private static let isRecording = ProcessInfo.processInfo.environment["ROOST_WRITE_LIMITS"] != nil

    @Test(
        "each operation costs no more than its recorded limit",
        arguments: [
            ["sqlite"], ["lmdb"], ["json"], ["memory"], ["door", "sqlite"], ["door", "lmdb"], ["door", "json"],
            ["door", "memory"], ["graph", "sqlite"], ["graph", "lmdb"], ["graph", "memory"],
            ["convert", "sqlite", "lmdb"], ["convert", "lmdb", "sqlite"],
        ])
    func costs(_ arguments: [String]) throws {
        let subject = arguments.joined(separator: " ")
        let counted = try count(arguments)
        guard !counted.isEmpty else {
            print("costs of \(subject): skipped, calls cannot be counted here")
            return
        }
        if Self.isRecording { try record(subject, costs: counted) }
        let limits = try #require(try Self.limits()[subject], "no limits of \(subject)")
        #expect(Set(limits.keys) == Set(counted.keys))
        for (operation, cost) in counted {
            guard let limit = limits[operation] else { continue }
            for (mine, most) in zip(cost.numbers, limit.numbers) {
                #expect(mine.1 <= most.1, "\(subject), \(operation): \(mine.0)")
            }
        }
    }

    @Test("a commit of one object to a store on disk flushes once", arguments: ["sqlite", "json"])
    func flushes(_ type: String) throws {
        let counted = try count([type])
        guard let commit = counted["commit of 1 object"] else { return }
        #expect(commit.flushes == 1)
    }

    @Test(
        "`Store.forEach` and `Store.insert` allocate at most 5 % more than the same operations of `PersistentStore`",
        arguments: ["sqlite", "lmdb", "json", "memory"])
    func door(_ type: String) throws {
        let counted = try count(["door", type])
        guard !counted.isEmpty else { return }
        for (door, contract) in [
            ("Store.forEach, per object", "contract: fetch with a copy of each record, per object"),
            ("Store.insert of 1000, per object", "contract: batch insert of 1000, per object"),
        ] {
            let (mine, theirs) = (try #require(counted[door]), try #require(counted[contract]))
            #expect(mine.allocations <= theirs.allocations * 1.05, "\(door)")
        }
    }

    @Test(
        "a fault takes at most 100 bytes, an object at most 96 plus its record, and a scan keeps few rows",
        arguments: ["sqlite", "memory"])
    func objectMemory(_ type: String) throws {
        var bytes: [String: Double] = [:]
        for line in try run(["graph-memory", type]).split(separator: "\n") {
            let parts = line.split(separator: "\t")
            try #require(parts.count == 2, "\(line)")
            let number: Double = try #require(Double(parts[1]))
            bytes[String(parts[0])] = number
        }
        guard !bytes.isEmpty else { return }
        print("memory of objects, \(type): \(bytes)")
        // The limit also applies directly after the table of objects has grown.
        #expect(try #require(bytes["fault, at most"]) <= 100)
        #expect(try #require(bytes["object beyond its record, at most"]) <= 96)
        // The rows of all 62 000 objects take 5 MB.
        #expect(try #require(bytes["few objects of a scan"]) <= 2_000_000)
    }

    @Test(
        "a window of a result takes no more memory if the result has more rows",
        arguments: ["sqlite", "lmdb", "memory"])
    func windowMemory(_ type: String) throws {
        func bytes(_ count: Int) throws -> [String: Double] {
            var bytes: [String: Double] = [:]
            for line in try run(["graph-window", type, "\(count)"]).split(separator: "\n") {
                let parts = line.split(separator: "\t")
                try #require(parts.count == 2, "\(line)")
                let number: Double = try #require(Double(parts[1]))
                bytes[String(parts[0])] = number
            }
            return bytes
        }
        let (few, many) = (try bytes(2_000), try bytes(20_000))
        guard !few.isEmpty else { return }
        print("memory of windows, \(type): \(few), \(many)")
        for window in ["first window", "window in the middle"] {
            for state in ["kept", "kept after events"] {
                let name = "\(window), \(state)"
                #expect(try #require(many[name]) <= (try #require(few[name])) + 20_000, "\(name)")
            }
        }
        // A result without a window has every row, so its memory grows.
        #expect(try #require(many["all rows, kept"]) > (try #require(few["all rows, kept"])) + 18_000 * 30)
    }

    @Test(
        "a load of links sorted by inverse end writes less than four times the bytes of a load sorted by owning end",
        arguments: ["sqlite", "lmdb"])
    func linksInAnyOrder(_ type: String) throws {
        let counted = try count(["links", type, "1000000"])
        guard !counted.isEmpty else { return }
        let inOrder = try #require(counted["links in the order of the end that owns them, per link"])
        let otherwise = try #require(counted["links in the order of the other end, per link"])
        #expect(otherwise.writtenBytes < 4 * inOrder.writtenBytes, "\(otherwise.writtenBytes), \(inOrder.writtenBytes)")
    }

    private static func limits() throws -> Limits {
        try JSONDecoder().decode(Limits.self, from: try Data(contentsOf: file))
    }

    /// Returns the costs by operation.
    private func count(_ arguments: [String]) throws -> [String: Cost] {
        var costs: [String: Cost] = [:]
        for line in try run(arguments).split(separator: "\n") {
            let parts = line.split(separator: "\t")
            let numbers = parts.dropFirst().compactMap { Double($0) }
            try #require(parts.count == 6 && numbers.count == 5, "\(line)")
            costs[String(parts[0])] = Cost(
                allocations: numbers[0], writtenBytes: numbers[1], flushes: numbers[2], sqliteSteps: numbers[3])
        }
        return costs
    }

    private func run(_ arguments: [String]) throws -> String {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("roost-cost-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let process = Process()
        let program: URL = try #require(Self.executable(), "CostChild is not built")
        process.executableURL = program
        process.arguments = arguments + [directory.path]
        // Makes hash tables grow equally in every run.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text
    }

    private static func executable() -> URL? {
        var folders = [
            Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        return folders.map { $0.appendingPathComponent("CostChild") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Writes limits slightly above the counts, which vary between machines and runs.
    private func record(_ subject: String, costs counted: [String: Cost]) throws {
        var limits = (try? Self.limits()) ?? [:]
        limits[subject] = counted.mapValues { cost in
            func limit(_ number: Double, share: Double, least: Double) -> Double {
                number == 0 ? least : ((number * (1 + share) + least) * 100).rounded(.up) / 100
            }
            return Cost(
                allocations: limit(cost.allocations, share: 0.1, least: 0.05),
                writtenBytes: limit(cost.writtenBytes, share: 0.1, least: 1),
                flushes: limit(cost.flushes, share: 0.02, least: 0),
                sqliteSteps: limit(cost.sqliteSteps, share: 0.02, least: 0))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (try encoder.encode(limits) + Data("\n".utf8)).write(to: Self.file)
    }
}
