import Foundation
import Roost
import RoostGraph
import Testing

/// The code of `docs/conflicts.md`.
extension ArticleTests {
    @Test("with detectConflicts, a save detects the conflict of an object that the save does not change")
    func detection() throws {
        try Music.onEachBackend { container in
            let (context, other) = (container.makeContext(), container.makeContext())
            let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
            (artist.name, album.title) = ("Joni Mitchell", "Blue")
            try context.save()
            try other.existingObject(artist.id).name = "Joni"
            try other.save()
            context.detectConflicts(for: artist)
            album.title = "The album of \(artist.name)"
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.conflicts.map(\.id) == [artist.objectID])
        }
    }

    @Test("a save succeeds after a refresh that merges the conflicting changes")
    func refreshing() throws {
        try Music.onEachBackend { container in
            let (context, other) = (container.makeContext(), container.makeContext())
            let artist: Artist = try context.insert()
            (artist.name, artist.rank) = ("Joni", 1)
            try context.save()
            let copy = try other.existingObject(artist.id)
            (copy.name, copy.rank) = ("Joni M.", 2)
            try other.save()
            artist.name = "Joni Mitchell"
            #expect(throws: StoreError.self) { try context.save() }
            try context.refresh(artist, mergingChanges: true)
            try context.save()
            #expect(artist.name == "Joni Mitchell" && artist.rank == 2)
        }
    }

    @Test("the merge policy decides whether an object deleted elsewhere is inserted again", arguments: [true, false])
    func deletedThere(_ isMine: Bool) throws {
        try Music.onEachBackend { container in
            let (context, other) = (container.makeContext(), container.makeContext())
            let artist: Artist = try context.insert()
            artist.name = "Joni"
            try context.save()
            other.delete(try other.existingObject(artist.id))
            try other.save()
            artist.name = "Joni Mitchell"
            context.mergePolicy = isMine ? .mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump
            try context.save()
            #expect((artist.context == nil) == !isMine)
            #expect(try container.makeContext().count(Fetch<Artist>()) == (isMine ? 1 : 0))
        }
    }
}
