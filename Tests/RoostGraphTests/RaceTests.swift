import Foundation
import Roost
import RoostCore
import RoostGraph
import Testing

/// A flag that is set when the workers have ended.
private actor End {
    private(set) var hasCome = false

    func come() { hasCome = true }
}

/// `ROOST_GRAPH_ROUNDS` sets the number of rounds, and `make faults` adds ThreadSanitizer.
@Suite("Ten contexts at once")
struct RaceTests {
    private static let workerCount = 10
    private static let roundCount =
        ProcessInfo.processInfo.environment["ROOST_GRAPH_ROUNDS"].flatMap { Int($0) } ?? 12

    /// A policy that adds the increments of both sides to a rank.
    private static let sum = MergePolicy(
        "sum",
        resolve: { conflict in
            guard var values = conflict.mine, let theirs = conflict.theirs,
                case .int(let old)? = conflict.base["rank"], case .int(let here)? = values["rank"],
                case .int(let there)? = theirs["rank"]
            else { return .fail }
            values["rank"] = .int(here + there - old)
            return .keep(values)
        }, resolveConstraint: { _ in .fail })

    private func fill(_ container: PersistentContainer) throws {
        let context = container.makeContext()
        for number in 0..<3 {
            let artist: Artist = try context.insert()
            artist.name = "artist \(number)"
            artist.rank = 0
        }
        try context.save()
    }

    /// Increments a rank, adds an album, and sometimes deletes an older album.
    private static func work(_ context: ManagedObjectContext, worker: Int, round: Int) throws {
        context.mergePolicy = sum
        let artists = try context.fetch(Fetch<Artist>(sortedBy: ["name"]))
        let artist = artists[(worker + round) % artists.count]
        artist.rank = (artist.rank ?? 0) + 1
        let album: Album = try context.insert()
        album.title = "\(worker) \(round)"
        album.artist = artist
        if round % 5 == 4 {
            let title = "\(worker) \(round - 2)"
            for old in try context.fetch(Fetch<Album>(where: "title == \(title)")) { context.delete(old) }
        }
        _ = artist.albums.count
        // Repeats the save if another writer keeps the store busy, or a counted album is deleted
        // meanwhile.
        var attempt = 0
        while true {
            do throws(StoreError) {
                try context.save()
                return
            } catch {
                attempt += 1
                guard attempt < 1_000, error.code == .busy || error.code == .conflict else { throw error }
            }
        }
    }

    /// Returns the content of the store without keys, which depend on the order of the commits.
    private func content(_ container: PersistentContainer) throws -> [String] {
        let context = container.makeContext()
        return try context.fetch(Fetch<Artist>(sortedBy: ["name"])).map { artist in
            let titles = artist.albums.compactMap(\.title).sorted()
            return "\(artist.name), rank \(artist.rank ?? -1): \(titles.joined(separator: ", "))"
        }
    }

    @Test(
        "ten concurrent contexts leave the same content as ten successive contexts",
        arguments: ["memory", "sqlite", "lmdb"])
    func race(_ type: String) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "race-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        func container(_ name: String) throws -> PersistentContainer {
            try PersistentContainer(
                StoreLocation(type: type, path: directory.appending(path: name).path), model: try Music.model(),
                types: Music.types)
        }
        let serial = try container("serial")
        try fill(serial)
        for worker in 0..<Self.workerCount {
            let context = serial.makeContext()
            for round in 0..<Self.roundCount { try Self.work(context, worker: worker, round: round) }
        }

        let shared = try container("shared")
        try fill(shared)
        let end = End()
        let view = Task { @MainActor in
            let view = shared.viewContext
            func look() throws -> Int {
                view.processPendingChanges()
                return try view.fetch(Fetch<Artist>()).map(\.albums.count).max() ?? 0
            }
            while await !end.hasCome { _ = try look() }
            return try look()
        }
        var failure: (any Error)?
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<Self.workerCount {
                    group.addTask {
                        let background = shared.makeBackgroundContext("worker \(worker)")
                        for round in 0..<Self.roundCount {
                            try await background.perform { context in
                                try Self.work(context, worker: worker, round: round)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        } catch { failure = error }
        await end.come()
        if let failure { throw failure }
        #expect(try await view.value > 0)
        #expect(try content(shared) == (try content(serial)))
        try shared.close()
        try serial.close()
    }
}
