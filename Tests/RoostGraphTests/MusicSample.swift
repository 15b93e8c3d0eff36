import Foundation
import Roost
import RoostCore
import RoostGraph
import RoostStores
import Testing

/// A small model with every kind of relationship, and classes for it.
enum Music {
    static let types: [any ManagedObjectClass.Type] = [
        Artist.self, Album.self, Track.self, Playlist.self, Passport.self,
    ]

    static func model() throws -> ManagedObjectModel {
        func toOne(_ name: String, to destination: String, inverse: String?, rule: DeleteRule = .nullify)
            -> RelationshipDescription
        {
            .toOne(name, to: destination, inverse: inverse, deleteRule: rule)
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Artist",
                attributes: [
                    .string("name", isOptional: false, maximumLength: 40), .integer64("rank"),
                    .derived("upperName", type: .string, from: "uppercase:(name)"),
                    .derived("albumCount", type: .integer64, from: "albums.@count"),
                ],
                relationships: [
                    .toMany("albums", to: "Album", inverse: "artist", deleteRule: .cascade),
                    toOne("passport", to: "Passport", inverse: "holder"),
                    .toMany("friends", to: "Artist", inverse: "friends"),
                    toOne("favorite", to: "Album", inverse: nil),
                ]),
            EntityDescription(
                "Album",
                attributes: [
                    .string("title"), .integer16("year", isOptional: false, default: 1970), .double("rating"),
                    .date("released"), .boolean("isLive", isOptional: false, default: false),
                    .binaryData("cover"),
                ],
                relationships: [
                    toOne("artist", to: "Artist", inverse: "albums"),
                    .toMany("tracks", to: "Track", inverse: "album", isOrdered: true, deleteRule: .cascade),
                ],
                uniquenessConstraints: [["title", "year"]]),
            EntityDescription(
                "Track",
                attributes: [.string("title"), .integer32("seconds", minimum: 1)],
                relationships: [
                    toOne("album", to: "Album", inverse: "tracks"),
                    .toMany("playlists", to: "Playlist", inverse: "tracks"),
                ]),
            EntityDescription(
                "Playlist", attributes: [.string("name")],
                relationships: [
                    .toMany("tracks", to: "Track", inverse: "playlists", isOrdered: true, deleteRule: .deny)
                ]),
            EntityDescription(
                "Passport", attributes: [.string("number")],
                relationships: [toOne("holder", to: "Artist", inverse: "passport")]),
        ])
    }

    static func container() throws -> PersistentContainer {
        try PersistentContainer(.memory, model: try model(), types: types)
    }

    static func onEachBackend(
        _ body: (PersistentContainer) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "graph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let locations: [StoreLocation] = [
            .memory, .sqlite(directory.appending(path: "m.sqlite").path),
            .lmdb(directory.appending(path: "m.lmdb").path),
            .json(directory.appending(path: "m.json").path),
        ]
        for location in locations {
            let container = try PersistentContainer(location, model: try model(), types: types)
            do { try body(container) } catch {
                Issue.record("\(location): \(error)", sourceLocation: sourceLocation)
            }
            try container.close()
        }
    }
}

final class Artist: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Artist" }
    static func propertyName(of path: AnyKeyPath) -> String? {
        [\Artist.name: "name", \Artist.rank: "rank", \Artist.albums: "albums"][path]
    }
    var name: String {
        get { text(slot: 0) }
        set { setText(newValue, slot: 0) }
    }
    var rank: Int64? {
        get { optionalInt64(slot: 1) }
        set { setOptionalInt64(newValue, slot: 1) }
    }
    var albums: ToMany<Album> {
        get { toMany(slot: 2) }
        set { setToMany(newValue, slot: 2) }
    }
    var passport: Passport? {
        get { toOne(slot: 3) }
        set { setToOne(newValue, slot: 3) }
    }
    var friends: ToMany<Artist> {
        get { toMany(slot: 4) }
        set { setToMany(newValue, slot: 4) }
    }
    var favorite: Album? {
        get { toOne(slot: 5) }
        set { setToOne(newValue, slot: 5) }
    }
    var upperName: String? { optionalText(slot: 6) }
    var albumCount: Int64? { optionalInt64(slot: 7) }
    static var shape: ClassShape {
        ClassShape(
            "Artist",
            properties: [
                .field("name", as: .string), .field("rank", as: .integer64), .toMany("albums"),
                .field("passport", as: .reference),
                .toMany("friends"), .field("favorite", as: .reference), .field("upperName", as: .string),
                .field("albumCount", as: .integer64),
            ])
    }
}

final class Album: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Album" }
    static func propertyName(of path: AnyKeyPath) -> String? {
        [\Album.title: "title", \Album.year: "year", \Album.artist: "artist", \Album.tracks: "tracks"][path]
    }
    var title: String? {
        get { optionalText(slot: 0) }
        set { setOptionalText(newValue, slot: 0) }
    }
    var year: Int16 {
        get { int16(slot: 1) }
        set { setInt16(newValue, slot: 1) }
    }
    var rating: Double? {
        get { optionalDouble(slot: 2) }
        set { setOptionalDouble(newValue, slot: 2) }
    }
    var released: Date? {
        get { optionalDate(slot: 3) }
        set { setOptionalDate(newValue, slot: 3) }
    }
    var isLive: Bool {
        get { bool(slot: 4) }
        set { setBool(newValue, slot: 4) }
    }
    var cover: Data? {
        get { optionalData(slot: 5) }
        set { setOptionalData(newValue, slot: 5) }
    }
    var artist: Artist? {
        get { toOne(slot: 6) }
        set { setToOne(newValue, slot: 6) }
    }
    var tracks: OrderedToMany<Track> {
        get { orderedToMany(slot: 7) }
        set { setOrderedToMany(newValue, slot: 7) }
    }
    static var shape: ClassShape {
        ClassShape(
            "Album",
            properties: [
                .field("title", as: .string), .field("year", as: .integer16), .field("rating", as: .double),
                .field("released", as: .date), .field("isLive", as: .boolean), .field("cover", as: .data),
                .field("artist", as: .reference), .toMany("tracks", isOrdered: true),
            ])
    }
}

final class Track: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Track" }
    static func propertyName(of path: AnyKeyPath) -> String? { [\Track.title: "title"][path] }
    var title: String? {
        get { optionalText(slot: 0) }
        set { setOptionalText(newValue, slot: 0) }
    }
    var seconds: Int32? {
        get { optionalInt32(slot: 1) }
        set { setOptionalInt32(newValue, slot: 1) }
    }
    var album: Album? {
        get { toOne(slot: 2) }
        set { setToOne(newValue, slot: 2) }
    }
    var playlists: ToMany<Playlist> {
        get { toMany(slot: 3) }
        set { setToMany(newValue, slot: 3) }
    }
    static var shape: ClassShape {
        ClassShape(
            "Track",
            properties: [
                .field("title", as: .string), .field("seconds", as: .integer32), .field("album", as: .reference),
                .toMany("playlists"),
            ])
    }
}

final class Playlist: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Playlist" }
    static func propertyName(of path: AnyKeyPath) -> String? { [\Playlist.name: "name"][path] }
    var name: String? {
        get { optionalText(slot: 0) }
        set { setOptionalText(newValue, slot: 0) }
    }
    var tracks: OrderedToMany<Track> {
        get { orderedToMany(slot: 1) }
        set { setOrderedToMany(newValue, slot: 1) }
    }
    static var shape: ClassShape {
        ClassShape("Playlist", properties: [.field("name", as: .string), .toMany("tracks", isOrdered: true)])
    }
}

final class Passport: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Passport" }
    static func propertyName(of path: AnyKeyPath) -> String? { [\Passport.number: "number"][path] }
    var number: String? {
        get { optionalText(slot: 0) }
        set { setOptionalText(newValue, slot: 0) }
    }
    var holder: Artist? {
        get { toOne(slot: 1) }
        set { setToOne(newValue, slot: 1) }
    }
    static var shape: ClassShape {
        ClassShape("Passport", properties: [.field("number", as: .string), .field("holder", as: .reference)])
    }
}
