import Foundation
import Observation
import Roost
import RoostGraph
import Testing

/// The code of `docs/contexts-and-concurrency.md`.
extension ArticleTests {
    @Test("an object ID that is passed to another isolation finds the object there")
    func identifiers() async throws {
        let container = try Music.container()
        let context = container.makeContext()
        let album: Album = try context.insert()
        album.title = "Blue"
        try context.save()
        let id = album.id
        let title = try await container.perform { context in
            try context.existingObject(id).title
        }
        #expect(title == "Blue")
        #expect(try await titles(container) == ["Blue"])
        let cataloger = Cataloger(container)
        let added = try await cataloger.add("Hejira")
        #expect(try context.existingObject(added).title == "Hejira")
    }

    @MainActor
    func titles(_ container: PersistentContainer) throws -> [String?] {
        try container.viewContext.fetch(Fetch<Album>(sortedBy: ["title"])).map(\.title)
    }

    @Test("merging a save notice updates the objects of another context")
    func notices() throws {
        let container = try Music.container()
        let (source, context) = (container.makeContext(), container.makeContext())
        let album: Album = try source.insert()
        album.title = "Blue"
        try source.save()
        let copy = try context.existingObject(album.id)
        var notices: [SaveNotice] = []
        let token = source.observeSaves { notices.append($0) }
        album.title = "Hejira"
        try source.save()
        #expect(copy.title == "Blue")
        for notice in notices { try context.mergeChanges(notice) }
        #expect(copy.title == "Hejira")
        withExtendedLifetime(token) {}
    }

    @Test("objects that an automatic merge deletes keep the values that were read")
    func mergedDeletes() throws {
        try Music.onEachBackend { container in
            let (source, context) = (container.makeContext(), container.makeContext())
            context.mergesChangesAutomatically = true
            let album: Album = try source.insert()
            album.title = "Blue"
            try source.save()
            let copy = try context.existingObject(album.id)
            source.delete(album)
            try source.save()
            #expect(!copy.isDeleted)
            context.processPendingChanges()
            #expect(copy.isDeleted && copy.title == "Blue")
            copy.title = "Hejira"
            try context.save()
            #expect(try context.count(Fetch<Album>()) == 0)
        }
    }

    @Test("all reads in one event see the state of the store at the event's first read")
    func readsOfOneEvent() throws {
        try Music.onEachBackend { container in
            let (source, context) = (container.makeContext(), container.makeContext())
            context.mergesChangesAutomatically = true
            #expect(try context.count(Fetch<Album>()) == 0)
            let album: Album = try source.insert()
            album.title = "Mingus"
            try source.save()
            // The count began an event, and reads of that event see the state before the insertion.
            #expect(throws: StoreError.self) { try context.existingObject(album.id) }
            context.processPendingChanges()
            #expect(try context.existingObject(album.id).title == "Mingus")
        }
    }

    @Test("a merge keeps a changed object that another context deleted, and saving it throws a conflict")
    func changedAndDeleted() throws {
        try Music.onEachBackend { container in
            let (source, context) = (container.makeContext(), container.makeContext())
            context.mergesChangesAutomatically = true
            let changed: Album = try source.insert()
            changed.title = "Mingus"
            try source.save()
            let other = try context.existingObject(changed.id)
            other.title = "Shadows"
            source.delete(changed)
            try source.save()
            context.processPendingChanges()
            #expect(!other.isDeleted && other.title == "Shadows")
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.conflicts.map(\.id) == [other.objectID])
        }
    }

    @Test("an observer of a context gets the objects inserted in an event")
    func observation() throws {
        let container = try Music.container()
        let context = container.makeContext()
        var inserted: [ManagedObject] = []
        let token = context.observe { change in inserted += change.inserted }
        let album: Album = try context.insert()
        context.processPendingChanges()
        #expect(inserted == [album])
        withExtendedLifetime(token) {}
    }

    @Test("observation tracking reports a changed property of an object in the view context")
    @MainActor
    func observedProperties() throws {
        let container = try Music.container()
        container.viewContext.isObservable = true
        let album: Album = try container.viewContext.insert()
        album.title = "Blue"
        let changes = Signal()
        withObservationTracking {
            print(album.title ?? "", album.tracks.count)
        } onChange: {
            changes.set()
        }
        album.title = "Hejira"
        #expect(changes.isSet)
    }

    @Test("a context saves and fetches in the background")
    func background() async throws {
        let container = try Music.container()
        let context = container.makeContext()
        let album: Album = try context.insert()
        album.title = "Blue"
        try await context.saveInBackground()
        let albums = try await context.fetchInBackground(Fetch<Album>(where: "title == 'Blue'"))
        #expect(albums == [album])
    }

    @Test("a pinned context does not see later commits until it is unpinned")
    func pins() throws {
        try Music.onEachBackend { container in
            let (context, other) = (container.makeContext(), container.makeContext())
            try context.pin()
            let before = try context.count(Fetch<Album>())
            let album: Album = try other.insert()
            album.title = "Blue"
            try other.save()
            let still = try context.count(Fetch<Album>())
            context.unpin()
            let after = try context.count(Fetch<Album>())
            #expect((before, still, after) == (0, 0, 1))
        }
    }
}

/// An actor that owns a context.
actor Cataloger: ContextActor {
    let executor = ContextExecutor("cataloger")
    let context: ManagedObjectContext

    init(_ container: PersistentContainer) {
        context = container.makeContext("cataloger")
        container.attach(self)
    }

    func add(_ title: String) throws -> ManagedObjectID<Album> {
        let album: Album = try context.insert()
        album.title = title
        try context.save()
        return album.id
    }
}
