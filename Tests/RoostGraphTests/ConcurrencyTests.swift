import Dispatch
import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostGraph
import Testing

@Suite("Contexts of several isolations")
struct ConcurrencyTests {
    private func container() throws -> PersistentContainer {
        try Music.container()
    }

    @Test("after its next event, the view context shows what a background context saved")
    @MainActor
    func background() async throws {
        let container = try container()
        let view = container.viewContext
        #expect(try view.count(FetchRequest("Artist")) == 0)
        let background = container.makeBackgroundContext("import")
        let id = try await background.perform { context in
            let artist: Artist = try context.insert()
            artist.name = "Joni"
            try context.save()
            return artist.id
        }
        let artist = try view.existingObject(id)
        #expect(artist.name == "Joni")
        try await background.perform { context in
            try context.existingObject(id).name = "Ella"
            try context.save()
        }
        #expect(artist.name == "Joni" || artist.name == "Ella")
        view.processPendingChanges()
        #expect(artist.name == "Ella")
    }

    @Test("the view context ends an event that only reads, and releases its snapshot")
    @MainActor
    func readingEvent() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "graph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let location = StoreLocation.sqlite(directory.appending(path: "m.sqlite").path)
        let container = try PersistentContainer(location, model: try Music.model(), types: Music.types)
        let view = container.viewContext
        #expect(try view.count(Fetch<Artist>()) == 0)
        // Saves during the view context's event.
        let other = try PersistentContainer(location, model: try Music.model(), types: Music.types)
        let context = other.makeContext()
        let artist: Artist = try context.insert()
        artist.name = "Joni"
        try context.save()
        try other.close()
        try await nextTurns()
        #expect(try view.fetch(Fetch<Artist>()).map(\.name) == ["Joni"])
        try await nextTurns()
        // No snapshot keeps the file open.
        try container.close()
        try StoreRegistry.standard.type(named: "sqlite").destroy(location)
    }

    /// Lets waiting tasks of the main actor run.
    @MainActor
    private func nextTurns() async throws {
        for _ in 1...10 { await Task { @MainActor in await Task.yield() }.value }
    }

    @Test("perform discards changes that were not saved")
    func perform() async throws {
        let container = try container()
        try await container.perform { context in _ = try context.insert("Artist") }
        let count = try await container.perform { context in try context.count(FetchRequest("Artist")) }
        #expect(count == 0)
    }

    @Test("a save in the background writes all changes")
    func saveInBackground() async throws {
        let container = try container()
        let context = container.makeContext()
        let artists = try (0..<100).map { number in
            let artist: Artist = try context.insert()
            artist.name = "artist \(number)"
            return artist
        }
        try await context.saveInBackground()
        #expect(!context.hasChanges)
        #expect(artists[0].version == 1)
        artists[0].name = "other"
        artists[0].albums.insert(try context.insert())
        try await context.saveInBackground()
        #expect(!context.hasChanges)
        let copy = container.makeContext()
        #expect(try copy.existingObject(artists[0].id).name == "other")
        #expect(try copy.existingObject(artists[0].id).albums.count == 1)
    }

    @Test("a save in the background that fails leaves all changes pending")
    func failedSaveInBackground() async throws {
        let container = try container()
        let context = container.makeContext()
        let artist: Artist = try context.insert()
        artist.name = "first"
        try await context.saveInBackground()
        artist.name = String(repeating: "too long", count: 20)
        await #expect(throws: StoreError.self) { try await context.saveInBackground() }
        #expect(context.hasChanges)
        artist.name = "fits"
        try await context.saveInBackground()
        let last = container.makeContext()
        #expect(try last.existingObject(artist.id).name == "fits")
        #expect(try await last.fetchInBackground(Fetch<Artist>(where: "name == 'fits'")).count == 1)
    }

    @Test("a value set during a save in the background stays pending for the next save")
    @MainActor
    func valueAfterMember() async throws {
        let control = StoreMeter()
        let container = try control.makeContainer(.memory)
        let context = container.makeContext()
        let (artist, friend): (Artist, Artist) = (try context.insert(), try context.insert())
        (artist.name, friend.name) = ("a", "b")
        let error = try await control.save(context) {
            artist.friends.insert(friend)
            artist.rank = 77
        }
        #expect(error == nil)
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Artist", where: "rank == 77")) == 1)
    }

    @Test("relationship changes that are reverted during a failed background save are not pending")
    @MainActor
    func changesThatCancelEachOther() async throws {
        let control = StoreMeter()
        let container = try control.makeContainer(.memory)
        let context = container.makeContext()
        let (artist, friend, stranger): (Artist, Artist, Artist) = (
            try context.insert(), try context.insert(), try context.insert()
        )
        for artist in [artist, friend, stranger] { artist.name = "a" }
        artist.friends.insert(friend)
        try context.save()
        #expect(artist.friends.count == 1)
        artist.friends.insert(stranger)
        artist.friends.remove(friend)
        let error = try await control.save(context, commitError: StoreMeter.error) {
            artist.friends.remove(stranger)
            artist.friends.insert(friend)
        }
        #expect(error?.code == .busy)
        #expect(artist.friends.map(\.objectID) == [friend.objectID])
        #expect(!artist.hasPersistentChangedValues)
        try context.save()
        #expect(artist.version == 1)
    }

    @Test("a fetch in the background retains its objects if the context retains objects")
    func retainedFetchInBackground() async throws {
        let container = try container()
        try await container.perform { context in
            let artist: Artist = try context.insert()
            artist.name = "Joni"
            try context.save()
        }
        let context = container.makeContext()
        context.retainsRegisteredObjects = true
        var count = try await context.fetchInBackground(Fetch<Artist>()).count
        #expect(count == 1)
        count = context.registeredObjects.count
        #expect(count == 1)
    }

    @Test("an executor that cannot start a thread runs all its jobs, one at a time")
    func executorWithoutThread() async {
        let (task, overlaps) = await Threadless().startOther()
        #expect(!overlaps)
        await task.value
    }

    @Test("an actor that owns a context merges what other contexts save")
    func owner() async throws {
        let container = try container()
        let importer = Importer(container)
        let id = try await importer.add("Joni")
        try await container.perform { context in
            try context.existingObject(id).name = "Ella"
            try context.save()
        }
        // The read merges at the beginning of its event, even if no save notice has arrived.
        #expect(try await importer.name(of: id) == "Ella")
    }
}

/// An actor whose executor cannot start a thread.
private actor Threadless {
    // No address space has room for this stack.
    private let executor = ContextExecutor("threadless", stackByteCount: 1 << 50)
    private let ran = DispatchSemaphore(value: 0)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Starts a task with a second job, and returns whether the job runs during the current job.
    func startOther() -> (task: Task<Void, Never>, overlaps: Bool) {
        let task = Task.detached { await self.run() }
        return (task, ran.wait(timeout: .now() + 0.2) == .success)
    }

    private func run() { ran.signal() }
}

#if DEBUG
    /// A box that passes an object to another isolation without a compiler error.
    private final class Smuggler: @unchecked Sendable {
        // Proof: none. The unsafe use is deliberate, and the tests expect that the program stops.
        var object: ManagedObject?
    }

    @Suite("Isolation checks at run time")
    struct IsolationCheckTests {
        @Test("using an object of a background context outside its isolation stops the program")
        func background() async throws {
            let result = await #expect(processExitsWith: .failure) {
                let container = try Music.container()
                let (background, smuggler) = (container.makeBackgroundContext(), Smuggler())
                try await background.perform { context in smuggler.object = try context.insert("Artist") }
                smuggler.object?["name"] = "x"
            }
            try expectStopped(result)
        }

        @Test("using an object of the view context outside the main actor stops the program")
        func view() async throws {
            let result = await #expect(processExitsWith: .failure) {
                let container = try Music.container()
                let smuggler = Smuggler()
                try await MainActor.run { smuggler.object = try container.viewContext.insert("Artist") }
                await container.perform { _ in smuggler.object?["name"] = "x" }
            }
            try expectStopped(result)
        }

        /// Expects that a signal ended the process, not an error of its body.
        private func expectStopped(_ result: ExitTest.Result?) throws {
            guard case .signal = try #require(result).exitStatus else {
                Issue.record("the process ended without a signal")
                return
            }
        }

        @Test("using an object of the view context on the main actor is allowed")
        func home() async {
            await #expect(processExitsWith: .success) {
                let container = try Music.container()
                let smuggler = Smuggler()
                try await MainActor.run { smuggler.object = try container.viewContext.insert("Artist") }
                _ = try await container.perform { context in try context.count(FetchRequest("Artist")) }
                await MainActor.run { smuggler.object?["name"] = "x" }
            }
        }
    }
#endif

actor Importer: ContextActor {
    let executor = ContextExecutor("importer")
    let context: ManagedObjectContext

    init(_ container: PersistentContainer) {
        context = container.makeContext("importer")
        container.attach(self)
    }

    func add(_ name: String) throws -> ManagedObjectID<Artist> {
        let artist: Artist = try context.insert()
        artist.name = name
        try context.save()
        return artist.id
    }

    func name(of id: ManagedObjectID<Artist>) throws -> String {
        context.processPendingChanges()
        return try context.existingObject(id).name
    }
}
