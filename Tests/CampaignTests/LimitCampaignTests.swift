import CampaignSupport
import Foundation
import Roost
import RoostSystem
import Testing

/// A command under a limit of processes, memory or open files finishes or fails with an error.
///
/// It never hangs or ends by a signal. The normal run tries a few limits. `ROOST_CAMPAIGN_LIMITS`
/// sets the number of runs.
@Suite("Commands under limits", .serialized)
struct LimitCampaignTests {
    /// A conversion under a limit.
    struct Limit: Sendable, CustomStringConvertible {
        enum Kind: String, Sendable { case processes, memory, files }

        let kind: Kind
        let value: Int
        let source: String
        let destination: String

        var description: String { "\(kind) \(value), \(source) to \(destination)" }
    }

    /// Returns the lowest tried memory limit, in KiB, under which the program prints its version.
    private func baseMemory(_ place: Place) throws -> Int {
        for size in stride(from: 40_000, through: 2_000_000, by: 10_000) {
            let run = try Program(
                "/bin/sh", arguments: ["-c", "ulimit -v \(size); exec \"$0\" --version", try roost()], in: place.path)
            if run.wait(withinSeconds: 20).status == 0 { return size }
        }
        throw StoreError(.outOfResources, "the program does not start under any limit")
    }

    private func roost() throws -> String { try Program.product("roost").path }

    /// Whether limits of processes can be tested.
    ///
    /// The limits do not apply to root, so the command runs as another user. Only root can start
    /// such a command.
    private static let canLimitProcesses: Bool =
        geteuid() == 0
        && ["/usr/bin/setpriv", "/usr/bin/prlimit"].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

    private func command(_ limit: Limit, in place: Place) throws -> [String] {
        let convert = [
            "convert", "\(limit.source):\(place.file("s"))", "\(limit.destination):\(place.file("t"))", "-q",
        ]
        switch limit.kind {
        case .memory: return ["/bin/sh", "-c", "ulimit -v \(limit.value); exec \"$0\" \"$@\"", try roost()] + convert
        case .files: return ["/bin/sh", "-c", "ulimit -n \(limit.value); exec \"$0\" \"$@\"", try roost()] + convert
        case .processes:
            return [
                "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/prlimit",
                "--nproc=\(limit.value)", try roost(),
            ] + convert
        }
    }

    /// Returns all limits, alternating between the kinds.
    private func limits(_ place: Place) throws -> [Limit] {
        let types = DamageCampaignTests.types
        let memory = try baseMemory(place)
        print("limits: the program starts with \(memory) KiB")
        var lists: [[Limit]] = []
        lists.append(
            [20, 40, 70, 100, 150, 200, 300, 500].flatMap { more in
                types.map { .init(kind: .memory, value: memory + more * 1000, source: "sqlite", destination: $0) }
            })
        lists.append(
            [3, 5, 7, 9, 12, 16, 24, 40].flatMap { count in
                [("sqlite", "lmdb"), ("json", "sqlite")].map {
                    .init(kind: .files, value: count, source: $0.0, destination: $0.1)
                }
            })
        if Self.canLimitProcesses {
            lists.append(
                (1...8).flatMap { count in
                    types.map { .init(kind: .processes, value: count, source: "sqlite", destination: $0) }
                })
        } else {
            print("limits of processes are not tried: they need root, setpriv and prlimit")
        }
        let longest = lists.map(\.count).max() ?? 0
        return (0..<longest).flatMap { index in lists.compactMap { $0.indices.contains(index) ? $0[index] : nil } }
    }

    @Test("a conversion under a limit of memory, files or processes finishes or fails with an error")
    func limits() throws {
        let base = try Place()
        var digests: Set<String> = []
        for type in DamageCampaignTests.types {
            let store = try StoreRegistry.standard.create(
                StoreLocation(type: type, path: base.file("base-\(type)")), model: try CampaignContent.model())
            try CampaignContent.fill(store, people: 1500)
            digests.insert(try store.snapshot().computeTally().digest.description)
            try store.close()
        }
        let wanted = CampaignNumbers.count("ROOST_CAMPAIGN_LIMITS", usually: 9)
        let all = try limits(base)
        var chosen = all
        if wanted < all.count {
            // The seed selects the limits to test.
            let step = max(1, all.count / wanted)
            let first = Int(CampaignNumbers.seed % UInt64(step))
            chosen = stride(from: first, to: all.count, by: step).map { all[$0] }
        }
        var problems: [String] = []
        var ends: [String: Int] = [:]
        for limit in chosen.prefix(wanted) {
            let place = try Place()
            let files = FileManager.default
            try files.copyItem(atPath: base.file("base-\(limit.source)"), toPath: place.file("s"))
            // Another user must be able to read and write.
            try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place.path)
            try files.setAttributes([.posixPermissions: 0o666], ofItemAtPath: place.file("s"))
            let command = try command(limit, in: place)
            let run = try Program(command[0], arguments: Array(command.dropFirst()), in: place.path)
            let end = run.wait(withinSeconds: 30)
            ends["\(limit.kind) exit \(end.status)", default: 0] += 1
            // 127: the system's loader did not have enough memory for the program.
            if end.isHanging || end.status < 0 || ![0, 3, 127].contains(end.status) {
                problems.append("\(limit): \(end)")
                continue
            }
            let left = try place.names().subtracting(["s", "t", "s.lock", "t.lock"])
            if !left.isEmpty { problems.append("\(limit): left \(left.sorted())") }
            guard end.status == 0 else {
                if files.fileExists(atPath: place.file("t")) { problems.append("\(limit): failed, and t exists") }
                continue
            }
            let store = try StoreRegistry.standard.open(
                StoreLocation(type: limit.destination, path: place.file("t")), options: StoreOptions(isReadOnly: true))
            if try !digests.contains(store.snapshot().computeTally().digest.description) {
                problems.append("\(limit): other content")
            }
            try store.close()
        }
        print(
            "limits: \(min(wanted, chosen.count)) runs, \(ends.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
        )
        for problem in problems { print("  \(problem)") }
        #expect(problems == [])
    }
}
