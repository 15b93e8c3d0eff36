import CallCounter
import Foundation
import Roost
import RoostGraph

/// The costs of objects in contexts, and of their store.
struct GraphCosts {
    let container: PersistentContainer
    let store: Store
    private static let albumCount = 4_000

    init(_ typeName: String, in directory: URL) throws {
        let type = try StoreRegistry.standard.type(named: typeName)
        let location = StoreLocation(type: typeName, path: directory.appendingPathComponent("albums").path)
        store = try Store(
            try type.create(location, model: try AlbumsModel.model, options: CostChild.options(typeName)),
            registry: StoreRegistry.standard)
        container = try PersistentContainer(store, types: AlbumsModel.types)
    }

    func insert(_ count: Int, into context: ManagedObjectContext) throws {
        var artist: Artist?
        for number in 0..<count {
            if number % 20 == 0 {
                artist = try context.insert(Artist.self)
                artist?.name = "Artist \(number / 20)"
            }
            let album = try context.insert(Album.self)
            album.title = "Title \(number % 97)"
            album.year = Int16(truncatingIfNeeded: 1950 + number % 70)
            album.rating = Double(number % 11) / 2
            album.artist = artist
        }
    }

    private func albums(_ context: ManagedObjectContext) throws -> [Album] { try context.fetch(Fetch<Album>()) }

    func run() throws {
        let context = container.makeContext()
        try CostChild.measure("insert with a reference, per object", per: Self.albumCount) {
            try insert(Self.albumCount, into: context)
        }
        try CostChild.measure("save of inserts, per object", per: Self.albumCount) { try context.save() }
        try reading()
        try writing()
        try saving()
        try store.close()
    }

    private func reading() throws {
        var count = 0
        // The first round is not counted, because it creates statements and pages.
        for isCounted in [false, true] {
            let context = container.makeContext()
            func run(_ name: String, _ body: () throws -> Void) throws {
                if isCounted { try CostChild.measure(name, per: Self.albumCount, body) } else { try body() }
            }
            try run("contract: fetch, per object") {
                let snapshot = try store.persistentStore.snapshot()
                defer { snapshot.close() }
                let cursor = try snapshot.fetch(FetchRequest("Album"))
                var batch = RecordBatch(model: store.model)
                while try cursor.next(into: &batch) { count += batch.count }
            }
            var albums: [Album] = []
            try run("fetch of objects, per object") { albums = try self.albums(context) }
            try run("fetch of known objects, per object") { count += try self.albums(context).count }
            guard let first = albums.first else { return }
            try run("typed read") { for _ in 0..<Self.albumCount { count &+= Int(first.year) } }
            try run("typed read of all objects") { for album in albums { count &+= Int(album.year) } }
            try run("text read") { for album in albums { count &+= album.title?.utf8.count ?? 0 } }
            try run("read over a reference") { for album in albums { count &+= album.artist?.name?.utf8.count ?? 0 } }
            let ids = albums.map(\.objectID)
            try run("fault, per object") {
                let other = container.makeContext()
                var faults: [ManagedObject] = []
                faults.reserveCapacity(ids.count)
                for id in ids { faults.append(other.object(with: id)) }
                count += faults.count
            }
        }
        guard count != 0 else { throw StoreError(.internalInconsistency, "No album was read.") }
    }

    private func writing() throws {
        for isCounted in [false, true] {
            let context = container.makeContext()
            func run(_ name: String, per count: Int = Self.albumCount, _ body: () throws -> Void) throws {
                if isCounted { try CostChild.measure(name, per: count, body) } else { try body() }
            }
            let albums = try albums(context)
            let artists = try context.fetch(Fetch<Artist>())
            guard let first = albums.first else { return }
            try run("first write of an object") { for album in albums { album.plays = 7 } }
            try run("write in a changed object") {
                for number in 0..<Self.albumCount { first.plays = Int64(number) }
            }
            try run("count beside changes of another entity, per change") {
                guard try context.count(FetchRequest("Artist", where: "name == 'Artist 7'")) == 1 else {
                    throw StoreError(.internalInconsistency, "An artist is missing.")
                }
            }
            try run("fetch beside changes, per object") {
                _ = try context.fetch(Fetch<Album>(where: "plays == 7 AND artist.name != 'x'"))
            }
            try run("text write in a changed object") { for album in albums { album.title = "Another" } }
            let album = try context.insert(Album.self)
            try run("to-many append, per owner", per: artists.count) {
                for artist in artists { artist.albums.insert(album) }
            }
            try run("rollback, per object") { context.rollback() }
            let undo = UndoStack()
            context.undo = undo
            try run("first write of an object with undo") { for album in albums { album.plays = 8 } }
            context.processPendingChanges()
            try run("undo of a write, per object") { undo.undo() }
            try run("redo of a write, per object") { undo.redo() }
            guard first.plays == 8 else { throw StoreError(.internalInconsistency, "Redo did nothing.") }
            context.rollback()
        }
    }

    /// Measures change sets, a save, and a commit of similar changes.
    private func saving() throws {
        for round in 0..<2 {
            func run(_ name: String, _ body: () throws -> Void) throws {
                if round == 1 { try CostChild.measure(name, per: Self.albumCount, body) } else { try body() }
            }
            let changes = try changes(plays: Int64(round) * 2 + 1)
            try run("contract: commit of updates, per object") { _ = try store.persistentStore.commit(changes) }
            let context = container.makeContext()
            let albums = try albums(context)
            for album in albums { album.plays = Int64(round) * 2 + 2 }
            var count = 0
            try run("change set, per object") { count = try context.pendingChangeSet().updates.count }
            try run("save of updates, per object") { try context.save() }
            for album in albums { album.title = "Another title of \(album.plays + Int64(round))" }
            try run("change set of changed texts, per object") {
                count += try context.pendingChangeSet().updates.count
            }
            try context.save()
            guard count == 2 * Self.albumCount else {
                throw StoreError(.internalInconsistency, "A change set lacks an album.")
            }
            // The objects stay alive, so that the save does not include their release.
            withExtendedLifetime(albums) {}
        }
    }

    /// Returns a change set that updates all albums.
    ///
    /// As in a save, no snapshot is open afterwards.
    private func changes(plays: Int64) throws -> ChangeSet {
        let snapshot = try store.persistentStore.snapshot()
        defer { snapshot.close() }
        let cursor = try snapshot.fetch(FetchRequest("Album"))
        var (changes, batch) = (ChangeSet(model: store.model), RecordBatch(model: store.model))
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count {
                var values = batch.record(at: index).values()
                values["plays"] = .int(plays)
                try changes.update(batch.id(at: index), version: batch.version(at: index), values: values)
            }
        }
        return changes
    }

    /// Prints the nanoseconds per object of change sets, undo and redo for 100 000 changed objects.
    func times() throws {
        let count = 100_000
        let filling = container.makeContext()
        try insert(count, into: filling)
        try filling.save()
        let context = container.makeContext()
        let albums = try albums(context)
        func time(_ name: String, setUp: (() throws -> Void)? = nil, _ body: () throws -> Void) throws {
            var times: [Double] = []
            for _ in 0..<9 {
                try setUp?()
                let time = try ContinuousClock().measure(body).components
                times.append((Double(time.seconds) * 1e9 + Double(time.attoseconds) / 1e9) / Double(count))
            }
            print("\(name)\t\(times.sorted()[times.count / 2])\t\(times.min() ?? 0)")
        }
        func timeChangeSet(_ name: String) throws {
            try time(name) {
                guard try context.pendingChangeSet().updates.count == count else {
                    throw StoreError(.internalInconsistency, "A change set lacks an album.")
                }
            }
        }
        for album in albums { album.plays = 7 }
        try timeChangeSet("change set")
        try context.save()
        for album in albums { album.title = "Another title of \(album.plays)" }
        try timeChangeSet("change set of changed texts")
        try context.save()
        let undo = UndoStack()
        context.undo = undo
        for album in albums { album.plays += 1 }
        context.processPendingChanges()
        try time("undo and redo") {
            undo.undo()
            undo.redo()
        }
        try time("redo", setUp: undo.undo, undo.redo)
        undo.undo()
        try time("undo", setUp: undo.redo, undo.undo)
        try withExtendedLifetime(albums) { try store.close() }
    }

    /// Prints the memory of a fault, of an object without its record, and of the few objects that
    /// remain after a scan.
    ///
    /// The memory of a fault includes its entry in the context.
    func memory() throws {
        let filling = container.makeContext()
        try insert(62_000, into: filling)
        try filling.save()
        filling.reset()
        let context = container.makeContext()
        let ids = try context.fetchIDs(FetchRequest("Album"))
        var faults: [ManagedObject] = []
        faults.reserveCapacity(ids.count)
        let start = callcounter_bytes_in_use()
        // An object uses most memory directly after the table of objects has grown.
        var most = 0.0
        for id in ids {
            faults.append(context.object(with: id))
            guard faults.count > 10_000, faults.count % 64 == 0 else { continue }
            most = max(most, Double(callcounter_bytes_in_use() &- start) / Double(faults.count))
        }
        let withFaults = callcounter_bytes_in_use()
        try context.load(faults)
        context.processPendingChanges()
        let withObjects = callcounter_bytes_in_use()
        var recordBytes = 0
        try store.forEach(FetchRequest("Album")) { record in recordBytes += record.withReader { $0.bytes.count } }
        let count = Double(ids.count)
        // The context moves rows out of nearly empty pages, so the few kept objects need little memory.
        let scanning = container.makeContext()
        var (kept, position) = ([Album](), 0)
        let before = callcounter_bytes_in_use()
        try scanning.forEach(Fetch<Album>()) { album in
            position += 1
            if position % 1_000 == 0 { kept.append(album) }
        }
        scanning.processPendingChanges()
        let afterScan = callcounter_bytes_in_use()
        print("few objects of a scan\t\(Double(afterScan &- before))")
        withExtendedLifetime(kept) {}
        let fault = Double(withFaults &- start) / count
        let object = (Double(withObjects &- start) - Double(recordBytes)) / count
        print("fault\t\(fault)")
        print("object beyond its record\t\(object)")
        print("fault, at most\t\(most)")
        print("object beyond its record, at most\t\(object - fault + most)")
        try withExtendedLifetime(faults) { try store.close() }
    }
}
