internal import Foundation
internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostMigration

extension Subcommand {
    static let demo = Subcommand(
        name: "demo", summary: "Make a music library and convert it through every type of store.", usage: "",
        argumentCount: 0...0,
        discussion: """
            Writes artists, albums, tracks, playlists, genres and covers into an SQLite store, converts SQLite to LMDB to JSON
            to memory to SQLite, verifies each hop by content, compares the last store with the first, and prints a table. The
            files of an earlier demonstration in the same directory are replaced.
            """,
        options: [
            CommandOption("objects", value: "N", help: "The number of objects, at most 1000000000 (default: 100000)."),
            CommandOption("seed", value: "S", help: "The seed of the content (default: 1)."),
            CommandOption(
                "directory", value: "D", help: "The directory of the files (default: the working directory)."),
            .verbose,
        ],
        examples: ["roost demo --objects=1000000 --directory=/tmp/demo"], run: runDemo)

    @Sendable private static func runDemo(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let objects = try arguments.integer("objects", minimum: 1) ?? 100_000
        guard objects <= 1_000_000_000 else {
            throw UsageError("option '--objects' needs a number from 1 to 1000000000, not '\(objects)'")
        }
        let seed = try arguments.integer("seed", minimum: 0) ?? 1
        let directory = arguments.value("directory") ?? "."
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw StoreError(
                .missingDirectory, "The directory '\(directory)' cannot be created. Choose another one.",
                underlying: error)
        }
        let cancellation = ConversionCancellation()
        return try Interruption.shared.cancelling(cancellation) {
            var demo = Demonstration(directory: directory, console: console, cancellation: cancellation)
            return try demo.run(objects: objects, seed: UInt64(seed))
        }
    }
}

/// One run of `roost demo`.
private struct Demonstration {
    let directory: String
    let console: Console
    let cancellation: ConversionCancellation
    private var table = TextTable([
        ("hop", .leading), ("objects", .trailing), ("links", .trailing), ("seconds", .trailing),
        ("objects/s", .trailing),
        ("bytes", .trailing), ("digest", .leading), ("verified", .leading),
    ])

    init(directory: String, console: Console, cancellation: ConversionCancellation) {
        self.directory = directory
        self.console = console
        self.cancellation = cancellation
    }

    mutating func run(objects: Int, seed: UInt64) throws -> ExitCode {
        let registry = StoreRegistry.standard
        let names = registry.all.map(\.name)
        let first = StoreLocation(type: "sqlite", path: "\(directory)/music.sqlite")
        let last = StoreLocation(type: "sqlite", path: "\(directory)/music-again.sqlite")
        var source = ConversionEndpoint.location(first)
        try generate(objects: objects, seed: seed, into: first)
        for type in ["lmdb", "json"] where names.contains(type) {
            let next = ConversionEndpoint.location(StoreLocation(type: type, path: "\(directory)/music.\(type)"))
            try convert(source, to: next)
            source = next
        }
        let model = try MusicModel.make()
        let memory = try registry.create(StoreLocation(type: "memory", path: ""), model: model)
        try convert(source, to: .store(memory))
        try convert(.store(memory), to: .location(last))
        try memory.close()
        console.showProgress("")

        let (a, b) = (
            try registry.open(first, options: StoreOptions(isReadOnly: true)),
            try registry.open(last, options: StoreOptions(isReadOnly: true))
        )
        let differences = try StoreComparison.diff(a, b, cancellation: cancellation)
        try a.close()
        try b.close()

        try console.print(table.description)
        try console.print("")
        guard differences.isEmpty else {
            for difference in differences { try console.print(difference.description) }
            return .finding
        }
        try console.print("The last store equals the first: \(last.path) and \(first.path), compared object by object.")
        try console.print(
            "The files are in \(directory); try: \(CommandLine.arguments.first ?? "roost") info \(first.path)")
        return .success
    }

    private mutating func generate(objects: Int, seed: UInt64, into location: StoreLocation) throws {
        let clock = ContinuousClock()
        let start = clock.now
        console.showProgress("generating \(objects) objects")
        let registry = StoreRegistry.standard
        let type = try registry.type(named: location.type)
        let library = try MusicLibrary(objects: objects, seed: seed)
        let temporary = StoreLocation(type: location.type, path: StoreFile.temporarySibling(of: location.path))
        if !StoreFile.hasEntry(at: location.path) {
            try StoreFile.requireNoCompanions(of: location.path, types: registry.all, includesLock: true)
        }
        let claim = try DestinationClaim.acquire(forStoreAt: location.path)
        defer { claim.release() }
        StoreFile.sweepTemporarySiblings(
            of: location.path, companions: registry.companionSuffixes, holding: claim)
        let store = try type.create(
            temporary, model: library.model, options: StoreOptions().with { $0.isUnpublished = true })
        let tally: StoreTally
        do {
            tally = try library.write(into: store) { [cancellation] in cancellation.isCancelled }
            try store.close()
            try type.replace(location, with: temporary, overwriting: true)
        } catch {
            // Only the first error is reported.
            try? store.close()
            try? type.destroy(temporary)
            throw error
        }
        let elapsed = clock.now - start
        add(
            "generate \(location.type)", objects: tally.digest.objectCount, links: tally.digest.linkCount,
            seconds: Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18,
            bytes: try StoreFile.byteCount(at: location.path), digest: tally.digest.description, verified: nil)
    }

    private mutating func convert(_ source: ConversionEndpoint, to destination: ConversionEndpoint) throws {
        let progress = ProgressLine(console)
        var options = ConversionOptions(overwrites: true, cancellation: cancellation)
        if console.showsProgress { options.onProgress = { progress.show($0) } }
        let report = try MigrationManager(registry: .standard).convert(from: source, to: destination, options: options)
        add(
            "\(source.location.type) -> \(destination.location.type)", objects: report.objects, links: report.links,
            seconds: report.seconds, bytes: report.bytes, digest: report.digest, verified: report.verified)
    }

    private mutating func add(
        _ hop: String, objects: Int, links: Int, seconds: Double, bytes: Int, digest: String, verified: Bool?
    ) {
        table.append([
            hop, "\(objects)", "\(links)", String(format: "%.2f", seconds),
            seconds > 0 ? "\(Int(Double(objects) / seconds))" : "", "\(bytes)", digest,
            verified.map { $0 ? "yes" : "no" } ?? "",
        ])
    }
}
