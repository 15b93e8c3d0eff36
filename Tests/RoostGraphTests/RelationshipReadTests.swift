import Roost
import RoostConformance
import RoostCore
import RoostGraph
import RoostStores
import Testing

@Suite("Reading relationships")
struct RelationshipReadTests {
    /// Creates a store with a shape that has a circle and a square as parts and as neighbors.
    ///
    /// The relationships refer to an entity with subentities, so a context must read a member to
    /// find the member's entity.
    private func makeShapes(_ meter: StoreMeter) throws -> (container: PersistentContainer, shape: ObjectID) {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Shape", attributes: [.string("name")],
                relationships: [
                    .toOne("whole", to: "Shape", inverse: "parts"),
                    .toMany("parts", to: "Shape", inverse: "whole", isOrdered: true),
                    .toMany("near", to: "Shape", inverse: "near"),
                ]),
            EntityDescription("Circle", superentity: "Shape"),
            EntityDescription("Square", superentity: "Shape"),
        ])
        let container = try meter.makeContainer(.memory, model: model)
        let context = container.makeContext()
        let shape = try context.insert("Shape")
        var (parts, near) = (try shape.orderedObjects("parts"), try shape.objects("near"))
        for entity: EntityName in ["Circle", "Square"] {
            let part = try context.insert(entity)
            parts.append(part)
            near.insert(part)
        }
        try context.save()
        return (container, shape.objectID)
    }

    private func stored(_ shape: ObjectID, in container: PersistentContainer) throws -> [String] {
        let context = container.makeContext()
        return try withExtendedLifetime(context) {
            try context.existingObject(with: shape).orderedObjects("parts").map(\.entity.name.text)
        }
    }

    // MARK: Copies

    @Test("joining two ordered lists of members makes a new list and changes no relationship")
    func joining() throws {
        let context = try Music.container().makeContext()
        let (first, second): (Album, Album) = (try context.insert(), try context.insert())
        let tracks: [Track] = try (0..<3).map { _ in try context.insert() }
        first.tracks.append(tracks[0])
        first.tracks.append(tracks[1])
        second.tracks.append(tracks[2])
        second.year = 1971
        try context.save()
        let joined = first.tracks + second.tracks
        let longer = first.tracks + [tracks[2], tracks[0]]
        let head = first.tracks.prefix(1) + second.tracks
        #expect(Array(joined) == tracks)
        #expect(Array(longer) == tracks)
        #expect(Array(head) == [tracks[0], tracks[2]])
        #expect(!context.hasChanges)
        #expect(Array(first.tracks) == [tracks[0], tracks[1]])
        #expect(tracks[2].album === second)
    }

    @Test("changing a slice in place changes the relationship, and changing a copied slice does not")
    func slices() throws {
        let context = try Music.container().makeContext()
        let album: Album = try context.insert()
        let tracks: [Track] = try (0..<3).map { number in
            let track: Track = try context.insert()
            track.title = "\(number)"
            album.tracks.append(track)
            return track
        }
        try context.save()
        var slice = album.tracks[1...]
        slice.sort { $0.title ?? "" > $1.title ?? "" }
        _ = slice.remove(at: 1)
        #expect(Array(slice) == [tracks[1]])
        #expect(!context.hasChanges)
        #expect(Array(album.tracks) == tracks)
        album.tracks[1...].sort { $0.title ?? "" > $1.title ?? "" }
        #expect(Array(album.tracks) == [tracks[0], tracks[2], tracks[1]])
    }

    @Test("removing all elements of an ordered list removes all members", arguments: [false, true])
    func removingAll(keepingCapacity: Bool) throws {
        let context = try Music.container().makeContext()
        let (album, track): (Album, Track) = (try context.insert(), try context.insert())
        album.tracks.append(track)
        try context.save()
        var list = try album.orderedObjects("tracks")
        if keepingCapacity { list.removeAll(keepingCapacity: true) } else { list.removeAll() }
        #expect(list.isEmpty && album.tracks.isEmpty)
        #expect(track.album == nil)
        try context.save()
        #expect(album.tracks.isEmpty)
    }

    // MARK: Errors

    @Test("a collection whose members cannot be read returns one object without a context for each member")
    func unreadableMembers() throws {
        let meter = StoreMeter()
        let (container, id) = try makeShapes(meter)
        let reads: [(ManagedObject) throws -> [ManagedObject]] = [
            { try $0.objects("near").first.map { [$0] } ?? [] },
            { try $0.orderedObjects("parts").last.map { [$0] } ?? [] },
            { Array(try $0.objects("near")) },
            { try $0.orderedObjects("parts").map { $0 } },
            { Array(try $0.orderedObjects("parts")[0...]) },
        ]
        for (number, read) in reads.enumerated() {
            let context = container.makeContext()
            let shape = try context.existingObject(with: id)
            #expect(try shape.objects("near").count == 2)
            #expect(try shape.orderedObjects("parts").count == 2)
            meter.failNextRead()
            let objects = try read(shape)
            #expect(meter.endReadFailure())
            #expect(objects.first?.context == nil, "read \(number)")
            #expect(objects.count == (number < 2 ? 1 : 2), "read \(number)")
            #expect(context.pendingError?.code == .busy, "read \(number)")
            #expect(throws: StoreError.self) { try context.save() }
            let again = try read(shape)
            #expect(again.allSatisfy { $0.context === context }, "read \(number)")
            #expect(context.pendingError == nil)
        }
    }

    @Test("a change of an ordered list does nothing if the members cannot be read")
    func unreadableChange() throws {
        let meter = StoreMeter()
        let (container, id) = try makeShapes(meter)
        let changes: [(inout OrderedToMany<ManagedObject>) -> Void] = [
            { $0.sort { $0.objectID.key > $1.objectID.key } },
            { $0.removeAll { _ in true } },
            { $0.removeAll() },
            { $0.removeSubrange(0..<1) },
            { $0.swapAt(0, 1) },
            { $0.move(from: 0, to: 1) },
            { $0[0] = $0[1] },
        ]
        for (number, change) in changes.enumerated() {
            let context = container.makeContext()
            let shape = try context.existingObject(with: id)
            var parts = try shape.orderedObjects("parts")
            #expect(parts.count == 2)
            meter.failNextRead()
            change(&parts)
            #expect(meter.endReadFailure(), "change \(number)")
            #expect(!context.hasChanges, "change \(number)")
            let error = #expect(throws: StoreError.self, "change \(number)") { try context.save() }
            #expect(error?.code == .busy, "change \(number)")
            try context.save()
            #expect(try stored(id, in: container) == ["Circle", "Square"], "change \(number)")
        }
    }

    @Test("a change of a set of members does nothing if the members cannot be read")
    func unreadableSetChange() throws {
        let meter = StoreMeter()
        let (container, id) = try makeShapes(meter)
        let changes: [(inout ToMany<ManagedObject>) -> Void] = [
            { $0.removeAll() },
            { $0.formIntersection([ManagedObject]()) },
        ]
        for change in changes {
            let context = container.makeContext()
            var near = try context.existingObject(with: id).objects("near")
            #expect(near.count == 2)
            meter.failNextRead()
            change(&near)
            #expect(meter.endReadFailure())
            #expect(!context.hasChanges && context.pendingError?.code == .busy)
        }
    }

    // MARK: Refreshes

    @Test("a refresh shows the new members of a fault", arguments: [false, true])
    func refreshOfFault(refreshesAll: Bool) throws {
        let container = try Music.container()
        let writer = container.makeContext()
        let artist: Artist = try writer.insert()
        artist.name = "Joni"
        let first: Album = try writer.insert()
        artist.albums.insert(first)
        try writer.save()
        let context = container.makeContext()
        let fault = try #require(context.object(artist.id))
        #expect(fault.albums.count == 1 && fault.isFault)
        let second: Album = try writer.insert()
        second.year = 1971
        artist.albums.insert(second)
        try writer.save()
        if refreshesAll {
            try context.refreshAllObjects()
        } else {
            try context.refresh(fault, mergingChanges: true)
        }
        #expect(fault.albums.count == 2)
        #expect(Set(fault.albums.map(\.objectID)) == [first.objectID, second.objectID])
    }
}
