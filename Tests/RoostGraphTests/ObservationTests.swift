import Foundation
import Observation
import Roost
import RoostCore
import RoostGraph
import Testing

@Suite("Observation")
@MainActor
struct ObservationTests {
    private func makeContainer() throws -> PersistentContainer {
        try Music.container()
    }

    private func makeContext(_ container: PersistentContainer) -> ManagedObjectContext {
        let context = container.makeContext("observable")
        context.isObservable = true
        return context
    }

    /// Observes the properties that `body` reads.
    private func signal(_ body: () -> Void) -> Signal {
        let signal = Signal()
        withObservationTracking(body) { signal.set() }
        return signal
    }

    /// Returns the properties whose observers got a report of a change.
    private func reported(
        _ readings: [String: () -> Void], by change: () throws -> Void
    ) throws -> [String] {
        let signals = readings.mapValues { signal($0) }
        try change()
        return signals.filter(\.value.isSet).keys.sorted()
    }

    private func readings(_ album: Album) -> [String: () -> Void] {
        [
            "title": { _ = album.title }, "year": { _ = album.year }, "artist": { _ = album.artist },
            "tracks": { _ = album.tracks.count }, "isDeleted": { _ = album.isDeleted },
        ]
    }

    private func readings(_ artist: Artist) -> [String: () -> Void] {
        [
            "name": { _ = artist.name }, "albums": { _ = artist.albums.count },
            "friends": { _ = Array(artist.friends) }, "passport": { _ = artist.passport },
        ]
    }

    // MARK: Setters

    @Test("a setter reports only the property that it writes")
    func setters() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let (album, other): (Album, Album) = (try context.insert(), try context.insert())
        let unrelated = signal { _ = other.title }
        #expect(
            try reported(readings(album)) { album.title = "Blue" } == ["title"])
        #expect(
            try reported(readings(album)) { album.year = 1971 } == ["year"])
        // The object now has its own copy of the row, and its setters still report.
        #expect(
            try reported(readings(album)) { album.year = 1972 } == ["year"])
        #expect(
            try reported(readings(album)) { album["title"] = "Hejira" } == ["title"])
        #expect(
            try reported(readings(album)) { album.dynamic.year = 1976 } == ["year"])
        #expect(
            try reported(readings(album)) { try album.setValue("Mingus", for: "title") } == ["title"])
        #expect(!unrelated.isSet)
        try context.save()
        #expect(
            try reported(readings(album)) { album.title = nil } == ["title"])
        #expect(album.title == nil && album.year == 1976)
    }

    @Test("observation tracking reports a property once, even if it changes twice")
    func reportsOnce() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let album: Album = try context.insert()
        album.title = "Blue"
        let seen = Mutex<[String]>([])
        withObservationTracking {
            _ = album.title
        } onChange: {
            MainActor.assumeIsolated { seen.withLock { $0.append("was") } }
        }
        album.title = "Hejira"
        album.title = "Mingus"
        #expect(seen.withLock { $0 } == ["was"])
    }

    @Test("reads by subscript, dynamic member and property are all observed")
    func reads() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let album: Album = try context.insert()
        let signals = [
            signal { _ = album["rating"] }, signal { _ = album.dynamic.rating }, signal { _ = album.rating },
        ]
        album.rating = 3
        #expect(signals.allSatisfy { $0.isSet })
    }

    @Test("the setters of all attribute types report their property")
    func types() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let album: Album = try context.insert()
        let readings: [String: () -> Void] = [
            "rating": { _ = album.rating }, "released": { _ = album.released }, "isLive": { _ = album.isLive },
            "cover": { _ = album.cover },
        ]
        #expect(
            try reported(readings) { album.rating = 1 } == ["rating"])
        #expect(
            try reported(readings) { album.released = Date(timeIntervalSinceReferenceDate: 0) } == ["released"])
        #expect(
            try reported(readings) { album.isLive = true } == ["isLive"])
        #expect(
            try reported(readings) { album.cover = Data([1, 2]) } == ["cover"])
    }

    // MARK: Relationships

    @Test("changing a relationship reports both of its sides")
    func inverses() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let (artist, other): (Artist, Artist) = (try context.insert(), try context.insert())
        let album: Album = try context.insert()
        #expect(
            try reported(readings(artist)) { artist.albums.insert(album) } == ["albums"])
        #expect(
            try reported(readings(album)) { artist.albums.remove(album) } == ["artist"])
        #expect(
            try reported(readings(artist)) { album.artist = artist } == ["albums"])
        let former = signal { _ = artist.albums.map(\.title) }
        let next = signal { _ = other.albums.isEmpty }
        #expect(
            try reported(readings(album)) { album.artist = other } == ["artist"])
        #expect(former.isSet && next.isSet)
        let passport: Passport = try context.insert()
        #expect(
            try reported(readings(artist)) { passport.holder = artist } == ["passport"])
        #expect(
            try reported(readings(artist)) { artist.friends.insert(other) } == ["friends"])
        #expect(
            try reported(readings(other)) { artist.friends = [] } == ["friends"])
    }

    @Test("appending, moving and swapping members report an ordered relationship")
    func lists() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let album: Album = try context.insert()
        let tracks: [Track] = try (0..<3).map { _ in try context.insert() }
        for track in tracks {
            #expect(
                try reported(readings(album)) { album.tracks.append(track) } == ["tracks"])
        }
        #expect(
            try reported(readings(album)) { album.tracks.move(from: 0, to: 2) } == ["tracks"])
        #expect(
            try reported(readings(album)) { album.tracks.swapAt(0, 1) } == ["tracks"])
    }

    // MARK: Other changes

    @Test("a merge reports the properties that it changes, and no others")
    func merges() throws {
        try Music.onEachBackend { container in
            let (context, source) = (makeContext(container), container.makeContext("source"))
            context.mergesChangesAutomatically = true
            let artist: Artist = try source.insert()
            let (album, other): (Album, Album) = (try source.insert(), try source.insert())
            (artist.name, album.title, other.title) = ("Joni", "Blue", "Hejira")
            other.artist = artist
            try source.save()
            context.processPendingChanges()
            let mine = try context.existingObject(album.id)
            let owner = try context.existingObject(artist.id)
            let unrelated = signal { _ = owner.name }
            #expect(
                try reported(readings(mine)) {
                    album.title = "Blue, again"
                    try source.save()
                    context.processPendingChanges()
                } == ["title"])
            #expect(mine.title == "Blue, again")
            let members = signal { _ = owner.albums.count }
            #expect(
                try reported(readings(mine)) {
                    album.artist = artist
                    try source.save()
                    context.processPendingChanges()
                } == ["artist"])
            #expect(members.isSet && owner.albums.count == 2)
            // The next merge does not change the members of `owner.albums`.
            let same = signal { _ = owner.albums.count }
            other.title = "Mingus"
            try source.save()
            context.processPendingChanges()
            #expect(!same.isSet && !unrelated.isSet)
            let deleted = signal { _ = mine.isDeleted }
            source.delete(album)
            try source.save()
            context.processPendingChanges()
            #expect(deleted.isSet && mine.isDeleted && owner.albums.count == 1)
        }
    }

    @Test("a rollback reports changed properties and the lists that were read")
    func rollback() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let album: Album = try context.insert()
        album.title = "Blue"
        try context.save()
        album.title = "Hejira"
        // A rollback reads nothing, so lists that were read count as changed.
        #expect(
            try reported(readings(album)) { context.rollback() } == ["title", "tracks"])
        #expect(album.title == "Blue")
        let artist: Artist = try context.insert()
        artist.albums.insert(album)
        let gone = signal { _ = artist.name }
        #expect(
            try reported(readings(album)) { context.rollback() } == ["artist", "tracks"])
        #expect(gone.isSet && artist.context == nil)
    }

    @Test("refreshing an object to a fault reports all its properties")
    func refresh() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let album: Album = try context.insert()
        album.title = "Blue"
        try context.save()
        #expect(
            try reported(readings(album)) { try context.refresh(album, mergingChanges: false) }
                == ["artist", "isDeleted", "title", "tracks", "year"])
        #expect(album.isFault)
        #expect(
            try reported(readings(album)) {} == [])
    }

    @Test("undo and redo report the properties that they change")
    func undo() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let undo = UndoStack()
        context.undo = undo
        let artist: Artist = try context.insert()
        artist.name = "Joni"
        let album: Album = try context.insert()
        try context.save()
        album.year = 1971
        context.processPendingChanges()
        #expect(
            try reported(readings(album)) { undo.undo() } == ["year"])
        #expect(
            try reported(readings(album)) { undo.redo() } == ["year"])
        artist.albums.insert(album)
        context.processPendingChanges()
        let members = signal { _ = artist.albums.count }
        #expect(
            try reported(readings(album)) { undo.undo() } == ["artist"])
        #expect(members.isSet)
        context.delete(album)
        context.processPendingChanges()
        #expect(
            try reported(readings(album)) { undo.undo() }.contains("isDeleted"))
    }

    @Test("a deletion reports the object and the properties that delete rules change")
    func deletion() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let artist: Artist = try context.insert()
        let (album, other): (Album, Album) = (try context.insert(), try context.insert())
        artist.name = "Joni"
        artist.albums = [album, other]
        try context.save()
        let members = signal { _ = artist.albums.count }
        #expect(
            try reported(readings(album)) { context.delete(album) }.contains("isDeleted"))
        context.processPendingChanges()
        #expect(members.isSet)
        let cascade = signal { _ = other.isDeleted }
        context.delete(artist)
        context.processPendingChanges()
        #expect(cascade.isSet && other.isDeleted)
        let left = signal { _ = album.title }
        try context.save()
        #expect(left.isSet && album.context == nil)
    }

    @Test("a save reports nothing except derived attributes")
    func saves() async throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let artist: Artist = try context.insert()
        let album: Album = try context.insert()
        (artist.name, album.title) = ("Joni", "Blue")
        #expect(
            try reported(readings(album)) { try context.save() } == [])
        artist.name = "Joni Mitchell"
        let derived = signal { _ = artist.upperName }
        #expect(
            try reported(readings(artist)) { try context.save() } == [])
        #expect(derived.isSet && artist.upperName == "JONI MITCHELL")
        artist.albums.insert(album)
        let signals = readings(artist).mapValues { signal($0) }
        try await context.saveInBackground()
        #expect(!signals.values.contains { $0.isSet })
    }

    @Test("a parent reports what its child saves, and the child its own changes")
    func children() throws {
        let container = try makeContainer()
        let context = makeContext(container)
        let album: Album = try context.insert()
        album.title = "Blue"
        try context.save()
        let child = context.makeChild()
        #expect(child.isObservable)
        guard let copy = child.object(album.id) else { throw Problem("no object") }
        #expect(
            try reported(readings(copy)) { copy.title = "Hejira" } == ["title"])
        #expect(
            try reported(readings(album)) { try child.save() } == ["title"])
        #expect(album.title == "Hejira")
    }

    @Test("observers of properties can save the context during an event")
    func reentrance() throws {
        let container = try makeContainer()
        let context = container.viewContext
        context.isObservable = true
        let artist: Artist = try context.insert()
        artist.name = "Joni"
        let albums: [Album] = try (0..<4).map { _ in try context.insert() }
        artist.albums = ToMany(albums)
        try context.save()
        context.delete(artist)
        for album in albums {
            withObservationTracking {
                _ = (album.title, album.artist, album.isDeleted)
            } onChange: {
                MainActor.assumeIsolated { _ = try? container.viewContext.save() }
            }
        }
        context.processPendingChanges()
        #expect(!context.hasChanges && albums.allSatisfy { $0.context == nil })
    }

    // MARK: Contexts

    @Test("a context that has objects cannot become observable before a reset")
    func late() throws {
        let container = try makeContainer()
        let context = container.makeContext()
        let album: Album = try context.insert()
        context.isObservable = true
        #expect(!context.isObservable && context.pendingError?.code == .invalidRequest)
        #expect(throws: StoreError.self) { try context.save() }
        #expect(
            try reported(readings(album)) { album.title = "Blue" } == [])
        context.reset()
        context.isObservable = true
        let other: Album = try context.insert()
        #expect(
            try reported(readings(other)) { other.title = "Blue" } == ["title"])
        try context.save()
    }

    @Test("the view context reports changed properties when it is observable")
    func viewContext() throws {
        let container = try makeContainer()
        container.viewContext.isObservable = true
        let album: Album = try container.viewContext.insert()
        #expect(
            try reported(readings(album)) { album.title = "Blue" } == ["title"])
    }
}
