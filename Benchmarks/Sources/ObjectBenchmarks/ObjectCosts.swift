internal import Foundation
internal import Roost

/// Measures single operations of Roost's objects, with time limits for some of them.
struct ObjectCosts {
    let layer: RoostLayer
    let count: Int
    private let rounds: Int

    init(_ layer: RoostLayer, count: Int, rounds: Int) {
        (self.layer, self.count, self.rounds) = (layer, count, rounds)
    }

    struct Line {
        let name: String
        let nanoseconds: Double
        let limit: Double?
    }

    /// Returns the median of all rounds, in nanoseconds for each of `count` objects.
    func measure(per count: Int, _ body: () throws -> Duration) throws -> Double {
        var times: [Double] = []
        for _ in 0..<rounds {
            let time = try body().components
            times.append((Double(time.seconds) * 1e9 + Double(time.attoseconds) / 1e9) / Double(count))
        }
        return times.sorted()[rounds / 2]
    }

    static func clock(_ body: () throws -> Void) rethrows -> Duration { try ContinuousClock().measure(body) }

    private func albums(_ context: ManagedObjectContext) throws -> [Album] { try context.fetch(Fetch<Album>()) }

    /// Measures all operations on a store with `count` albums.
    func lines() throws -> [Line] {
        try accessors() + reading() + saving() + results()
    }

    private func accessors() throws -> [Line] {
        let context = layer.container.makeContext()
        let albums = try albums(context)
        guard let first = albums.first else { return [] }
        var sum = 0
        /// Times a loop that adds to a local sum, which can stay in a register.
        func clockSum(_ body: (inout Int) -> Void) -> Duration {
            var own = 0
            let time = Self.clock { body(&own) }
            sum &+= own
            return time
        }
        let one = try measure(per: count) {
            clockSum { sum in for _ in 0..<count { sum &+= Int(first.year) } }
        }
        let all = try measure(per: count) {
            clockSum { sum in for album in albums { sum &+= Int(album.year) } }
        }
        // Each title has at most 13 bytes, so that a read allocates no memory.
        let text = try measure(per: count) {
            clockSum { sum in for album in albums { sum &+= album.title?.utf8.count ?? 0 } }
        }
        let firstWrite = try measure(per: count) {
            context.rollback()
            return Self.clock { for album in albums { album.plays = 7 } }
        }
        let again = try measure(per: count) {
            Self.clock { for _ in 0..<count { first.plays = Int64(truncatingIfNeeded: sum) } }
        }
        let texts = try measure(per: count) {
            Self.clock { for album in albums { album.title = "Another title" } }
        }
        context.rollback()
        guard sum != 1 else { return [] }
        return [
            Line(name: "typed read, one object", nanoseconds: one, limit: 2),
            Line(name: "typed read, one object after the other", nanoseconds: all, limit: nil),
            Line(name: "text read", nanoseconds: text, limit: 60),
            Line(name: "first write of an object", nanoseconds: firstWrite, limit: 200),
            Line(name: "write in a changed object", nanoseconds: again, limit: 4),
            Line(name: "text write in a changed object", nanoseconds: texts, limit: nil),
        ]
    }

    private func reading() throws -> [Line] {
        let container = layer.container
        let store = layer.store
        var keys: Int64 = 0
        let cursor = try measure(per: count) {
            try Self.clock {
                let snapshot = try store.snapshot()
                defer { snapshot.close() }
                let cursor = try snapshot.fetch(FetchRequest("Album"))
                var batch = RecordBatch(model: store.model)
                while try cursor.next(into: &batch) { keys &+= Int64(batch.count) }
            }
        }
        let fetch = try measure(per: count) {
            let context = container.makeContext()
            var found: [Album] = []
            let time = try Self.clock { found = try albums(context) }
            keys &+= Int64(found.count)
            return time
        }
        let context = container.makeContext()
        let kept = try albums(context)
        let again = try measure(per: count) {
            var found: [Album] = []
            let time = try Self.clock { found = try albums(context) }
            keys &+= Int64(found.count + kept.count)
            return time
        }
        let append = try measure(per: count / 20) {
            let context = container.makeContext()
            let artists = try context.fetch(Fetch<Artist>())
            let album = try context.insert(Album.self)
            return Self.clock { for artist in artists { artist.albums.insert(album) } }
        }
        return [
            Line(name: "cursor over records", nanoseconds: cursor, limit: nil),
            Line(name: "fetch of objects", nanoseconds: fetch, limit: cursor + 400),
            Line(name: "fetch of known objects", nanoseconds: again, limit: nil),
            Line(name: "to-many append", nanoseconds: append, limit: nil),
        ]
    }

    /// The times of saves and their parts, and of commits of the same changes without a context.
    private struct SaveTimes {
        var commits: [Duration] = []
        var saves: [Duration] = []
        /// The times from the start of a save to its commit: hooks, validation and the change set.
        var preparations: [Duration] = []
        var ownCommits: [Duration] = []
    }

    /// Commits changes of all albums without a context.
    ///
    /// The snapshot is closed before the timed commit.
    private func commit(_ plays: Int64, addingTo times: inout SaveTimes) throws {
        let snapshot = try layer.store.snapshot()
        let cursor = try snapshot.fetch(FetchRequest("Album"))
        var (changes, batch) = (ChangeSet(model: layer.store.model), RecordBatch(model: layer.store.model))
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count {
                var values = batch.record(at: index).values()
                values["plays"] = .int(plays)
                try changes.update(batch.id(at: index), version: batch.version(at: index), values: values)
            }
        }
        snapshot.close()
        times.commits.append(try Self.clock { _ = try layer.store.commit(changes) })
    }

    /// Saves changes of all albums.
    private func save(_ times: inout SaveTimes, _ change: (Album) -> Void) throws {
        let context = layer.container.makeContext()
        let albums = try albums(context)
        for album in albums { change(album) }
        let start = ContinuousClock.now
        try context.save()
        let end = ContinuousClock.now
        // The objects stay alive, so that their release is not a part of the save.
        withExtendedLifetime(albums) {}
        guard let own = layer.store.lastCommit else { return }
        times.saves.append(start.duration(to: end))
        times.preparations.append(start.duration(to: own.start))
        times.ownCommits.append(own.start.duration(to: own.end))
    }

    private func saving() throws -> [Line] {
        let container = layer.container
        var (times, texts) = (SaveTimes(), SaveTimes())
        for round in 0..<rounds {
            let plays = Int64(round) * 2 + 1
            if round % 2 == 0 { try commit(plays, addingTo: &times) }
            try save(&times) { $0.plays = plays + 1 }
            if round % 2 == 1 { try commit(plays, addingTo: &times) }
            try save(&texts) { $0.title = "Another title of \(plays % 97)" }
        }
        func median(_ times: [Duration]) -> Double {
            let time = times.sorted()[times.count / 2].components
            return (Double(time.seconds) * 1e9 + Double(time.attoseconds) / 1e9) / Double(count)
        }
        func counting(_ request: FetchRequest) throws -> Double {
            let context = container.makeContext()
            let albums = try albums(context)
            for album in albums { album.plays += 1 }
            return try measure(per: count) { try Self.clock { _ = try context.count(request) } }
        }
        return [
            Line(name: "commit of updates", nanoseconds: median(times.commits), limit: nil),
            Line(name: "save of updates", nanoseconds: median(times.saves), limit: median(times.commits) * 1.2),
            Line(name: "  including: the commit", nanoseconds: median(times.ownCommits), limit: nil),
            Line(name: "  including: hooks, rules, change set", nanoseconds: median(times.preparations), limit: nil),
            Line(
                name: "  without the commit",
                nanoseconds: median(zip(times.saves, times.ownCommits).map { $0 - $1 }),
                limit: median(times.ownCommits) * 0.2),
            Line(name: "save of changed texts", nanoseconds: median(texts.saves), limit: nil),
            Line(name: "  including: before the commit", nanoseconds: median(texts.preparations), limit: nil),
            Line(
                name: "count while objects of another entity have changes",
                nanoseconds: try counting(FetchRequest("Artist")), limit: 60),
            Line(
                name: "count while all objects have changes",
                nanoseconds: try counting(FetchRequest("Album", where: "plays > 3")), limit: nil),
            Line(
                name: "the same over a relationship",
                nanoseconds: try counting(FetchRequest("Album", where: "artist.name BEGINSWITH 'A'")), limit: nil),
        ]
    }
}
