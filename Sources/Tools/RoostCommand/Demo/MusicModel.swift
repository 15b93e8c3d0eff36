internal import Roost
internal import RoostCore

/// The model of the demonstration: a music library with every attribute type and every kind of relationship.
enum MusicModel {
    /// Builds the model.
    static func make() throws(StoreError) -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [artist, band, album, track, playlist, genre], versionIdentifiers: ["Music 1"])
    }

    private static let artist = EntityDescription(
        "Artist",
        attributes: [
            AttributeDescription("name", .string, isOptional: false),
            AttributeDescription("country", .string),
            AttributeDescription("formed", .integer16),
            AttributeDescription("rating", .float),
            AttributeDescription("isActive", .boolean, isOptional: false),
            AttributeDescription("website", .uri),
            AttributeDescription("identifier", .uuid, isOptional: false),
            AttributeDescription("biography", .string),
            AttributeDescription("fingerprint", .transformable),
        ],
        relationships: [
            .toMany("albums", "Album", inverse: "artist", deleteRule: .cascade),
            .toMany("influences", "Artist"),
        ],
        uniquenessConstraints: [["identifier"]], fetchIndexes: [FetchIndexDescription("byName", on: "name")])

    private static let band = EntityDescription(
        "Band", superentity: "Artist",
        attributes: [AttributeDescription("memberCount", .integer32, isOptional: false)])

    private static let album = EntityDescription(
        "Album",
        attributes: [
            AttributeDescription("title", .string, isOptional: false),
            AttributeDescription("released", .date),
            AttributeDescription("price", .decimal),
            AttributeDescription("barcode", .integer64),
            AttributeDescription("cover", .binaryData, allowsExternalBinaryDataStorage: true),
            AttributeDescription(
                "label", .composite,
                elements: [
                    AttributeDescription("name", .string), AttributeDescription("city", .string),
                    AttributeDescription("catalogueNumber", .integer32),
                ]),
        ],
        relationships: [
            .toOne("artist", "Artist", inverse: "albums"),
            .toMany("tracks", "Track", inverse: "album", isOrdered: true, deleteRule: .cascade),
            .toMany("genres", "Genre", inverse: "albums"),
        ],
        fetchIndexes: [FetchIndexDescription("byTitle", on: "title")])

    private static let track = EntityDescription(
        "Track",
        attributes: [
            AttributeDescription("title", .string, isOptional: false),
            AttributeDescription("number", .integer16),
            AttributeDescription("durationSeconds", .double),
            AttributeDescription("gain", .float),
            AttributeDescription("playCount", .integer32),
            AttributeDescription("isExplicit", .boolean),
            AttributeDescription("lastPlayed", .date),
            AttributeDescription("recording", .uuid),
            AttributeDescription("lyrics", .uri),
        ],
        relationships: [
            .toOne("album", "Album", inverse: "tracks"),
            .toMany("playlists", "Playlist", inverse: "tracks"),
        ])

    private static let playlist = EntityDescription(
        "Playlist",
        attributes: [
            AttributeDescription("name", .string, isOptional: false),
            AttributeDescription("created", .date),
            AttributeDescription("pinned", .objectID),
        ],
        relationships: [.toMany("tracks", "Track", inverse: "playlists", isOrdered: true)])

    private static let genre = EntityDescription(
        "Genre", attributes: [AttributeDescription("name", .string, isOptional: false)],
        relationships: [.toMany("albums", "Album", inverse: "genres")], uniquenessConstraints: [["name"]])
}
