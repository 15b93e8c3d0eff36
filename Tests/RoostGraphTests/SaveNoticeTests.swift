import Foundation
import Roost
import RoostCore
import RoostGraph
import RoostStores
import Testing

@Suite("Notices of commits")
struct SaveNoticeTests {
    /// Runs `body` with two containers for one store.
    private func withTwo(
        _ body: (PersistentContainer, PersistentContainer) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "notices-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        for location in [
            StoreLocation.sqlite(directory.appending(path: "m.sqlite").path),
            .lmdb(directory.appending(path: "m.lmdb").path),
        ] {
            let model = try Music.model()
            let first = try PersistentContainer(location, model: model, types: Music.types)
            let second = try PersistentContainer(location, model: model, types: Music.types)
            try await body(first, second)
            try second.close()
            try first.close()
        }
    }

    @Test("a sequence of notices lists the inserts, updates and deletes of each commit")
    func kinds() async throws {
        let container = try Music.container()
        let context = container.makeContext("writer")
        var notices = try container.saves.makeAsyncIterator()
        let artist = try context.insert(Artist.self)
        artist.name = "Joni"
        try context.save()
        let inserted = try #require(await notices.next())
        #expect(inserted.inserted == [artist.objectID] && inserted.updated.isEmpty && inserted.isComplete)
        artist.name = "Joni Mitchell"
        try context.save()
        let updated = try #require(await notices.next())
        #expect(updated.updated == [artist.objectID] && updated.previousGeneration == inserted.generation)
        let id = artist.objectID
        context.delete(artist)
        try context.save()
        #expect(try #require(await notices.next()).deleted == [id])
    }

    @Test("a slow reader gets one notice for all commits, with each object once")
    func union() async throws {
        let container = try Music.container()
        let context = container.makeContext()
        let old = try context.insert(Artist.self)
        old.name = "old"
        try context.save()
        var notices = try container.saves.makeAsyncIterator()
        let new = try context.insert(Artist.self)
        new.name = "new"
        let short = try context.insert(Artist.self)
        short.name = "short"
        try context.save()
        new.name = "A"
        old.name = "B"
        context.delete(short)
        let gone = short.objectID
        try context.save()
        let notice = try #require(await notices.next())
        #expect(notice.inserted == [new.objectID])
        #expect(notice.updated == [old.objectID])
        #expect(notice.deleted == [gone])
        #expect(notice.isComplete)
    }

    @Test("a notice of more objects than the limit is incomplete and lists no objects")
    func bound() async throws {
        let store = try await Store.open(.memory, model: Music.model())
        var notices = try store.changes.makeAsyncIterator()
        for _ in 0..<3 {
            try await store.insert("Artist", rows: (0..<4000).map { ["name": .string("\($0)")] })
        }
        let notice = try #require(await notices.next())
        #expect(!notice.isComplete && notice.inserted.isEmpty && !notice.isEmpty)
        #expect(notice.generation == (try store.persistentStore.currentGeneration()))
        try await store.insert("Artist", rows: [["name": "one"]])
        #expect(try #require(await notices.next()).inserted.count == 1)
    }

    @Test("a bulk load gives an incomplete notice")
    func load() async throws {
        let store = try await Store.open(.memory, model: Music.model())
        var notices = try store.changes.makeAsyncIterator()
        let loader = try store.persistentStore.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: store.model)
        try batch.append(ObjectID("Artist", key: 1), values: ["name": "Joni"])
        try loader.append(batch)
        _ = try loader.finish()
        #expect(try #require(await notices.next()).isComplete == false)
    }

    @Test("a commit that fails or changes nothing gives no notice")
    func nothing() async throws {
        let store = try await Store.open(.memory, model: Music.model())
        let id = try #require(
            try await store.insert("Artist", rows: [["name": "Joni"]], result: .objectIDs).objectIDs?.first)
        var notices = try store.changes.makeAsyncIterator()
        var stale = ChangeSet(model: store.model)
        stale.delete(id, version: 7)
        #expect(throws: StoreError.self) { try store.persistentStore.commit(stale) }
        _ = try store.persistentStore.commit(ChangeSet(model: store.model))
        try await store.update("Artist", set: "name = 'Joni Mitchell'")
        let notice = try #require(await notices.next())
        #expect(notice.updated == [id] && notice.isComplete)
    }

    @Test("closing a store ends its sequence of notices after the pending ones")
    func closing() async throws {
        let store = try await Store.open(.memory, model: Music.model())
        var notices = try store.changes.makeAsyncIterator()
        try await store.insert("Artist", rows: [["name": "Joni"]])
        try await store.close()
        #expect(await notices.next()?.inserted.count == 1)
        #expect(await notices.next() == nil)
        #expect(throws: StoreError.self) { try store.changes }
    }

    @Test("a task that was cancelled gets no notices")
    func cancelledBefore() async throws {
        let store = try await Store.open(.memory, model: Music.model())
        let notices = try store.changes
        let task = Task {
            var count = 0
            for await _ in notices { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0)
    }

    @Test("cancelling a task ends its wait for notices")
    func cancelledWhileWaiting() async throws {
        let store = try await Store.open(.memory, model: Music.model())
        let notices = try store.changes
        let waiting = Task {
            for await _ in notices {}
            return true
        }
        await Task.yield()
        waiting.cancel()
        #expect(await waiting.value)
    }

    @Test("two containers of one store get complete notices of each other's commits")
    func twoOpenings() async throws {
        try await withTwo { first, second in
            var notices = try second.saves.makeAsyncIterator()
            let context = first.makeContext()
            let artist = try context.insert(Artist.self)
            artist.name = "Joni"
            try context.save()
            let notice = try #require(await notices.next())
            #expect(notice.inserted == [artist.objectID] && notice.isComplete)
            #expect(notice.store == second.stores[0].location)
        }
    }

    @Test("concurrent writers give notices without a gap between their generations")
    func writers() async throws {
        try await withTwo { first, second in
            let before = try second.stores[0].persistentStore.currentGeneration()
            let all = Sequence()
            let source = try CommitSubscription(to: second.stores[0], listener: { all.append($0) }, end: {})
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    let container = writer.isMultiple(of: 2) ? first : second
                    group.addTask {
                        for number in 0..<10 {
                            do {
                                try await container.stores[0].insert(
                                    "Artist", rows: [["name": .string("\(writer) \(number)")]])
                            } catch { Issue.record(error) }
                        }
                    }
                }
            }
            let notices = all.notices
            #expect(notices.count == 40)
            var known = before
            for notice in notices {
                #expect(notice.previousGeneration == known && notice.isComplete && notice.inserted.count == 1)
                known = notice.generation
            }
            withExtendedLifetime(source) {}
        }
    }

    private final class Sequence: Sendable {
        private let list = Mutex<[SaveNotice]>([])
        var notices: [SaveNotice] { list.withLock { $0 } }
        func append(_ notice: SaveNotice) { list.withLock { $0.append(notice) } }
    }

    @Test("sequences of notices can begin and end while another thread commits")
    func comeAndGo() async throws {
        let store = try await Store.open(.memory, model: Music.model())
        let writer = Task.detached {
            for number in 0..<3000 { try store.insert("Artist", rows: [["name": .string("\(number)")]]) }
        }
        let isDone = Mutex(false)
        let watch = Task {
            _ = try? await writer.value
            isDone.withLock { $0 = true }
        }
        while !isDone.withLock({ $0 }) {
            let changes = try store.changes
            withExtendedLifetime(changes) {}
            await Task.yield()
        }
        await watch.value
        try await writer.value
        #expect(try await store.count("Artist") == 3000)
    }

    @Test("a context's sequence has notices of the context's own saves and of the saves that the context merges")
    func context() async throws {
        let container = try Music.container()
        let (one, two) = (container.makeContext("one"), container.makeContext("two"))
        two.mergesChangesAutomatically = true
        var notices = two.changes.makeAsyncIterator()
        let own = try two.insert(Artist.self)
        own.name = "own"
        try two.save()
        #expect(await notices.next()?.inserted == [own.objectID])
        let other = try one.insert(Artist.self)
        other.name = "other"
        try one.save()
        two.processPendingChanges()
        let notice = try #require(await notices.next())
        #expect(notice.inserted == [other.objectID] && notice.contextName == "one")
    }

    @Test("the view context automatically merges what another container commits")
    @MainActor
    func viewContext() async throws {
        try await withTwo { first, second in
            let context = first.makeContext()
            let artist = try context.insert(Artist.self)
            artist.name = "Joni"
            try context.save()
            let view = second.viewContext
            let shown = try #require(try view.existingObject(with: artist.objectID) as? Artist)
            #expect(shown.name == "Joni")
            var notices = view.changes.makeAsyncIterator()
            artist.name = "Joni Mitchell"
            try context.save()
            _ = await notices.next()
            #expect(shown.name == "Joni Mitchell")
        }
    }
}
