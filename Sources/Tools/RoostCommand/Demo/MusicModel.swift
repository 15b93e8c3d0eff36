internal import Roost
internal import RoostCore

/// The demonstration's model, with every stored attribute type and most kinds of relationships.
enum MusicModel {
    static func make() throws(StoreError) -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [artist, band, album, track, playlist, genre], versionIdentifiers: ["Music 1"])
    }

    private static let artist = EntityDescription(
        "Artist",
        attributes: [
            AttributeDescription("name", type: .string, isOptional: false),
            AttributeDescription("country", type: .string),
            AttributeDescription("formed", type: .integer16),
            AttributeDescription("rating", type: .float),
            AttributeDescription("isActive", type: .boolean, isOptional: false),
            AttributeDescription("website", type: .uri),
            AttributeDescription("identifier", type: .uuid, isOptional: false),
            AttributeDescription("biography", type: .string),
            AttributeDescription("fingerprint", type: .transformable),
        ],
        relationships: [
            .toMany("albums", to: "Album", inverse: "artist", deleteRule: .cascade),
            .toMany("influences", to: "Artist"),
        ],
        uniquenessConstraints: [["identifier"]]
    ).with { $0.fetchIndexes = [FetchIndexDescription("byName", on: "name")] }

    private static let band = EntityDescription(
        "Band", superentity: "Artist",
        attributes: [AttributeDescription("memberCount", type: .integer32, isOptional: false)])

    private static let album = EntityDescription(
        "Album",
        attributes: [
            AttributeDescription("title", type: .string, isOptional: false),
            AttributeDescription("released", type: .date),
            AttributeDescription("price", type: .decimal),
            AttributeDescription("barcode", type: .integer64),
            AttributeDescription("cover", type: .binaryData).with { $0.allowsExternalBinaryDataStorage = true },
            AttributeDescription(
                "label", type: .composite,
                elements: [
                    AttributeDescription("name", type: .string), AttributeDescription("city", type: .string),
                    AttributeDescription("catalogueNumber", type: .integer32),
                ]),
        ],
        relationships: [
            .toOne("artist", to: "Artist", inverse: "albums"),
            .toMany("tracks", to: "Track", inverse: "album", isOrdered: true, deleteRule: .cascade),
            .toMany("genres", to: "Genre", inverse: "albums"),
        ]
    ).with { $0.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")] }

    private static let track = EntityDescription(
        "Track",
        attributes: [
            AttributeDescription("title", type: .string, isOptional: false),
            AttributeDescription("number", type: .integer16),
            AttributeDescription("durationSeconds", type: .double),
            AttributeDescription("gain", type: .float),
            AttributeDescription("playCount", type: .integer32),
            AttributeDescription("isExplicit", type: .boolean),
            AttributeDescription("lastPlayed", type: .date),
            AttributeDescription("recording", type: .uuid),
            AttributeDescription("lyrics", type: .uri),
        ],
        relationships: [
            .toOne("album", to: "Album", inverse: "tracks"),
            .toMany("playlists", to: "Playlist", inverse: "tracks"),
        ])

    private static let playlist = EntityDescription(
        "Playlist",
        attributes: [
            AttributeDescription("name", type: .string, isOptional: false),
            AttributeDescription("created", type: .date),
            AttributeDescription("pinned", type: .objectID),
        ],
        relationships: [.toMany("tracks", to: "Track", inverse: "playlists", isOrdered: true)])

    private static let genre = EntityDescription(
        "Genre", attributes: [AttributeDescription("name", type: .string, isOptional: false)],
        relationships: [.toMany("albums", to: "Album", inverse: "genres")], uniquenessConstraints: [["name"]])
}
