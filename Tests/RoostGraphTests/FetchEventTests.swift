import Dispatch
import Roost
import RoostCore
import RoostGraph
import RoostStores
import Testing

/// A page whose `awakeFromFetch` calls `count`, which ends the event.
private final class Page: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Page" }
    static func propertyName(of path: AnyKeyPath) -> String? { nil }
    static var shape: ClassShape {
        ClassShape("Page", properties: [.field("title", as: .string), .field("next", as: .reference)])
    }

    var next: Page? {
        get { toOne(slot: 1) }
        set { setToOne(newValue, slot: 1) }
    }

    override func awakeFromFetch() { _ = try? context?.count(FetchRequest("Page")) }

    static func makeContainer() throws -> PersistentContainer {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Page", attributes: [.string("title")], relationships: [.toOne("next", to: "Page", inverse: nil)])
        ])
        return try PersistentContainer(.memory, model: model, types: [Page.self])
    }
}

/// A store that can wait after it has opened a snapshot.
private final class PausingStore: PersistentStore {
    private let base: any PersistentStore
    private let pause = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ base: any PersistentStore) { self.base = base }

    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }

    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }

    func snapshot() throws(StoreError) -> any StoreSnapshot {
        let snapshot = try base.snapshot()
        let pause = pause.withLock { body -> (@Sendable () -> Void)? in
            defer { body = nil }
            return body
        }
        pause?()
        return snapshot
    }

    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }

    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { try base.commit(changes) }

    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        try base.bulkLoader(options)
    }

    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func close() throws(StoreError) { try base.close() }

    /// Fetches names in the background, and calls `body` after the fetch has opened its snapshot.
    @MainActor
    func names(
        of request: Fetch<Artist>, in context: ManagedObjectContext, during body: () throws -> Void
    ) async throws -> [String] {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        pause.withLock { pause in
            pause = {
                started.yield()
                gate.wait()
            }
        }
        let fetch = Task { @MainActor () async throws -> [String] in
            defer { started.finish() }
            return try await context.fetchInBackground(request).map { $0.name }
        }
        for await _ in starts { break }
        let result = Result { try body() }
        gate.signal()
        let names = try await fetch.value
        try result.get()
        return names
    }
}

/// Fetches during which the program ends the event, saves or merges.
@Suite("Events during fetches")
struct FetchEventTests {
    /// A saved artist with the name "old", in a store that can pause fetches.
    private struct PausedFetch {
        let store: PausingStore
        let container: PersistentContainer
        let context: ManagedObjectContext
        let artist: Artist
        /// A request for all artists, which refreshes them.
        var request = Fetch<Artist>()

        init() throws {
            let model = try Music.model()
            let base = try PersistentContainer(.memory, model: model, types: Music.types).stores[0].persistentStore
            store = PausingStore(base)
            container = try PersistentContainer(
                try Store(store, registry: StoreRegistry([base.type])), model: model, types: Music.types)
            context = container.makeContext()
            artist = try context.insert()
            artist.name = "old"
            try context.save()
            request.refreshesObjects = true
        }
    }

    private func insertArtists(
        _ count: Int, into container: PersistentContainer
    ) throws -> [ManagedObjectID<Artist>] {
        let context = container.makeContext()
        let artists = try (1...count).map { number in
            let artist: Artist = try context.insert()
            artist.name = "artist \(number)"
            return artist
        }
        try context.save()
        return artists.map { $0.id }
    }

    @Test("a loop over the objects of a fetch visits all objects if its body counts and saves")
    func loopThatSaves() throws {
        try Music.onEachBackend { container in
            _ = try insertArtists(3, into: container)
            let context = container.makeContext()
            for (rank, user) in [(Int64(1), context), (2, context.makeChild())] {
                var count = 0
                try user.forEach(Fetch<Artist>()) { artist in
                    count += try user.count(Fetch<Artist>()) / 3
                    artist.rank = rank
                    try user.save()
                }
                try context.save()
                #expect(count == 3)
                let other = container.makeContext()
                #expect(try other.fetch(Fetch<Artist>()).map { $0.rank } == [rank, rank, rank])
            }
        }
    }

    @Test("a loop over the objects of a fetch shows later objects with the changes that its body saved")
    func loopThatChangesLaterObjects() throws {
        let container = try Music.container()
        // The last objects are not in the first batch of records.
        let ids = try insertArtists(1_500, into: container)
        let context = container.makeContext()
        var (count, ranks): (Int, [Int64?]) = (0, [])
        try context.forEach(Fetch<Artist>()) { artist in
            count += 1
            if count == 1 {
                context.delete(try context.existingObject(ids[1_499]))
                try context.existingObject(ids[1_498]).rank = 7
                try context.save()
            }
            guard artist.objectID == ids[1_498].objectID else { return }
            ranks.append(artist.rank)
            artist.rank = 8
        }
        #expect(count == 1_499)
        #expect(ranks == [7])
        try context.save()
        #expect(try container.makeContext().existingObject(ids[1_498]).rank == 8)
    }

    @Test("a loop over the objects of a fetch skips an object that its body has deleted")
    func loopThatDeletes() throws {
        let container = try Music.container()
        let ids = try insertArtists(3, into: container)
        let context = container.makeContext()
        var names: [String] = []
        try context.forEach(Fetch<Artist>()) { artist in
            names.append(artist.name)
            guard names.count == 1 else { return }
            context.delete(try context.existingObject(ids[1]))
            try context.save()
        }
        #expect(names == ["artist 1", "artist 3"])
    }

    @Test("a loop over the objects of a fetch can edit all objects if its body resets the context")
    func loopThatResets() throws {
        let container = try Music.container()
        _ = try insertArtists(3, into: container)
        let context = container.makeContext()
        try context.forEach(Fetch<Artist>()) { artist in
            artist.rank = 1
            try context.save()
            context.reset()
        }
        #expect(try container.makeContext().count(FetchRequest("Artist", where: "rank == 1")) == 3)
    }

    @Test("awakeFromFetch can fetch, during a fetch and during a deletion that clears references")
    func fetchInAwake() throws {
        let container = try Page.makeContainer()
        let writer = container.makeContext()
        let (first, second): (Page, Page) = (try writer.insert(), try writer.insert())
        first.next = second
        try writer.save()
        #expect(try container.makeContext().fetch(Fetch<Page>()).count == 2)
        let context = container.makeContext()
        context.delete(try context.existingObject(second.id))
        try context.save()
        let other = container.makeContext()
        #expect(try other.existingObject(first.id).next == nil)
    }

    @Test("a fetch in the background keeps the values that its context saves during the read")
    @MainActor
    func saveDuringRead() async throws {
        let sample = try PausedFetch()
        let (context, artist) = (sample.context, sample.artist)
        let names = try await sample.store.names(of: sample.request, in: context) {
            artist.name = "new"
            try context.save()
        }
        #expect(names == ["new"] && artist.name == "new")
        artist.rank = 1
        try context.save()
    }

    @Test("a fetch in the background does not return an object that its context deletes during the read")
    @MainActor
    func deletionDuringRead() async throws {
        let sample = try PausedFetch()
        let (context, artist) = (sample.context, sample.artist)
        let names = try await sample.store.names(of: sample.request, in: context) {
            context.delete(artist)
            try context.save()
        }
        #expect(names.isEmpty)
    }

    @Test("a fetch in the background shows the values of a save that its context merges during the read")
    @MainActor
    func mergeDuringRead() async throws {
        let sample = try PausedFetch()
        let (context, artist) = (sample.context, sample.artist)
        let other = sample.container.makeContext()
        let names = try await sample.store.names(of: Fetch<Artist>(), in: other) {
            artist.name = "new"
            try context.save()
            try other.mergeChanges(updated: [artist.objectID])
        }
        #expect(names == ["new"])
    }

    @Test("a fetch in the background keeps the values of an object that is refreshed during the read")
    @MainActor
    func refreshDuringRead() async throws {
        let sample = try PausedFetch()
        let (context, artist) = (sample.context, sample.artist)
        let other = sample.container.makeContext()
        let copy = try other.existingObject(artist.id)
        let names = try await sample.store.names(of: sample.request, in: other) {
            artist.name = "new"
            try context.save()
            try other.refresh(copy, mergingChanges: true)
        }
        #expect(names == ["new"] && copy.name == "new")
    }
}
