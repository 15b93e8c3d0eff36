import Foundation
import Roost
import RoostGraph
import Testing

/// The code of `docs/objects.md`.
extension ArticleTests {
    @Test("objects without classes take and return values by property name")
    func namesOfProperties() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let artist = try context.insert("Artist")
            artist["name"] = "Joni Mitchell"
            let album = try context.insert("Album")
            album.dynamic.title = "Blue"
            try album.setObject(artist, for: "artist")
            try context.save()
            for album in try context.fetch(FetchRequest("Album", where: "artist.name == 'Joni Mitchell'")) {
                print(album["title"], try album.object("artist")?["name"] ?? .null)
            }
            #expect(try artist.objects("albums").count == 1)
        }
    }

    @Test("validation hooks of a class trim its title and refuse negative plays")
    func hooks() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Song", attributes: [.string("title"), .integer32("plays", isOptional: false, default: 0)])
        ])
        let container = try PersistentContainer(.memory, model: model, types: [Song.self])
        let context = container.makeContext()
        let song: Song = try context.insert()
        song.title = " Carey "
        song.plays = -1
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.failures.map(\.code) == [1550])
        song.plays = 1
        try context.save()
        #expect(song.title == "Carey")
    }

    @Test("a subscript with an unknown property name fails the next save, and setValue throws at once")
    func pendingErrors() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let album: Album = try context.insert()
            album["titel"] = "Blue"
            #expect(context.pendingError?.code == .unknownProperty)
            #expect(throws: StoreError.self) { try context.save() }
            #expect(throws: StoreError.self) { try album.setValue("Blue", for: "titel") }
        }
    }
}

/// A class with hooks, written by hand.
final class Song: ManagedObject, ManagedObjectClass {
    static let entityName: EntityName = "Song"
    static let shape = ClassShape(
        "Song", properties: [.field("title", as: .string), .field("plays", as: .integer32)])

    static func propertyName(of path: AnyKeyPath) -> String? {
        path == \Song.title ? "title" : path == \Song.plays ? "plays" : nil
    }

    var title: String? {
        get { optionalText(slot: 0) }
        set { setOptionalText(newValue, slot: 0) }
    }
    var plays: Int32 {
        get { int32(slot: 1) }
        set { setInt32(newValue, slot: 1) }
    }

    override class var validatedProperties: [String] { ["title"] }

    override func validate(_ value: inout Value, for property: String) throws(ValidationFailure) {
        if case .string(let title) = value { value = .string(title.trimmingCharacters(in: .whitespaces)) }
    }

    override func validateForUpdate() -> [ValidationFailure] {
        plays < 0 ? [validationFailure("Plays cannot be negative.", for: "plays")] : []
    }

    override func validateForInsert() -> [ValidationFailure] { validateForUpdate() }
}
