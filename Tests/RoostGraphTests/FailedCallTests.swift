import Roost
import RoostCore
import RoostGraph
import RoostStores
import Testing

@testable import RoostConformance

/// Contexts on a store whose calls fail temporarily.
@Suite("Failed calls of stores")
struct FailedCallTests {
    @Test("after a failed save reserves keys for only one of two entities, the next save keeps all references")
    func keysOfOneEntity() throws {
        let control = StoreMeter()
        let container = try control.makeContainer(.memory)
        control.setReservesKeys(false)
        let context = container.makeContext()
        let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
        (artist.name, album.title) = ("Joni", "Blue")
        // The objects refer to each other, because either entity may get its keys first.
        (album.artist, artist.favorite) = (artist, album)
        control.limitReservations(to: 1)
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .busy)
        #expect(artist.objectID.key < 0 && album.objectID.key < 0)
        control.setReservesKeys(true)
        try context.save()
        let other = container.makeContext()
        #expect(try other.existingObject(artist.id).favorite?.title == "Blue")
        #expect(try other.existingObject(album.id).artist?.name == "Joni")
    }

    @Test("after failed merges of a commit, the next event shows the commit's values")
    func mergeOfGenerations() throws {
        let control = StoreMeter()
        let container = try control.makeContainer(.memory)
        let context = container.makeContext()
        context.mergesChangesAutomatically = true
        let artist: Artist = try context.insert()
        artist.name = "old"
        try context.save()
        let other = container.makeContext()
        try other.existingObject(artist.id).name = "new"
        try other.save()
        // The first merge uses the commit's notice, and the second uses only the commit's generation.
        for _ in 1...2 {
            control.failNextRead()
            context.processPendingChanges()
            #expect(control.endReadFailure())
            #expect(artist.name == "old" && context.pendingError?.code == .busy)
        }
        context.processPendingChanges()
        #expect(artist.name == "new")
    }

    @Test("a save that cannot read an object to delete throws, and the next save deletes the object")
    func unreadDelete() throws {
        let control = StoreMeter()
        let model = try ManagedObjectModel(entities: [EntityDescription("Word", attributes: [.string("text")])])
        let container = try control.makeContainer(.memory, model: model)
        let context = container.makeContext()
        let undo = UndoStack()
        context.undo = undo
        let word = try context.insert("Word")
        try context.save()
        try context.refreshAllObjects()
        // Undo of a saved insertion deletes the object without reading it.
        undo.undo()
        #expect(word.isFault && word.isDeleted)
        control.failNextRead()
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .busy)
        try context.save()
        #expect(try container.makeContext().count(FetchRequest("Word")) == 0)
    }

    @Test("redo restores links after an undo that could not read members, a failed transaction and a save")
    func redoAfterFailedTransaction() throws {
        let control = StoreMeter()
        let container = try control.makeContainer(.memory)
        let context = container.makeContext()
        let undo = UndoStack()
        context.undo = undo
        let (artist, friend): (Artist, Artist) = (try context.insert(), try context.insert())
        (artist.name, friend.name) = ("a", "b")
        try context.save()
        undo.removeAll()
        artist.friends.insert(friend)
        try context.save()
        // Undo must now read the members, and cannot read all of them.
        try context.refreshAllObjects()
        control.failNextRead()
        undo.undo()
        #expect(control.endReadFailure() && undo.canRedo)
        let failure = #expect(throws: StoreError.self) { try context.save() }
        #expect(failure?.code == .busy)
        #expect(throws: StoreError.self) {
            try undo.transaction(nil, in: context) { () throws(StoreError) in
                artist.rank = 5
                throw StoreMeter.error
            }
        }
        #expect(artist.rank == nil && undo.canRedo)
        try context.save()
        undo.redo()
        #expect(Array(artist.friends) == [friend] && Array(friend.friends) == [artist])
    }

    @Test("a container refuses a configuration that its model does not have, even if it has only one store")
    func unknownConfiguration() throws {
        let model = try ManagedObjectModel(entities: [EntityDescription("Word")], configurations: ["words": ["Word"]])
        let stores = try PersistentContainer(.memory, model: model).stores
        let error = #expect(throws: StoreError.self) {
            try PersistentContainer(stores, configurations: ["wörds"])
        }
        #expect(error?.code == .invalidRequest && error?.message.contains("'wörds'") == true)
        _ = try PersistentContainer(stores, configurations: ["words"])
    }

    @Test("after a failed subscription to one of two stores, the next context follows both stores")
    func subscriptionToSecondStore() throws {
        let model = try ManagedObjectModel(
            entities: [EntityDescription("Word"), EntityDescription("Label")],
            configurations: ["words": ["Word"], "labels": ["Label"]])
        let first = try PersistentContainer(.memory, model: model).stores[0]
        let base = try PersistentContainer(.memory, model: model).stores[0].persistentStore
        let control = StoreMeter()
        let second = MeteredStore(base, meter: control)
        let container = try PersistentContainer(
            [first, try Store(second, registry: StoreRegistry([base.type]))], configurations: ["words", "labels"])
        let context = container.makeContext()
        control.failSnapshots(with: StoreMeter.error)
        context.mergesChangesAutomatically = true
        #expect(context.pendingError?.code == .busy)
        control.failSnapshots(with: nil)
        let other = container.makeContext()
        other.mergesChangesAutomatically = true
        #expect(other.pendingError == nil)
        // The feed gives tickets only while it has listeners.
        #expect(second.commitFeed.ticket() != nil)
        withExtendedLifetime(container) {}
    }
}
