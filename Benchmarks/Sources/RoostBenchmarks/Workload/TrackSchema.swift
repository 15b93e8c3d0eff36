internal import Roost

/// The model of the workload, with every field resolved once.
struct TrackSchema {
    static let trackEntity: EntityName = "Track"
    static let albumEntity: EntityName = "Album"
    static let tracksOfAlbum = RelationshipName("Album", "tracks")

    let model: ManagedObjectModel
    let trackLayout: RecordLayout
    let albumLayout: RecordLayout
    let trackFields: TrackFields
    let albumFields: AlbumFields

    struct TrackFields {
        let title, artist, duration, playCount, loved, date, uuid, thumb, album: RecordLayout.Field
    }

    struct AlbumFields {
        let title, year: RecordLayout.Field
    }

    /// Builds the model; stores keep an index over every to-one relationship, so the one over the album needs no mention.
    ///
    /// - Parameter indexesTitle: Whether the titles of tracks have an index too.
    /// - Throws: Code `invalidModel`, which would be a mistake here.
    init(indexesTitle: Bool = false) throws {
        model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Album", attributes: [.string("title", isOptional: false), .integer64("year", isOptional: false)],
                relationships: [.toMany("tracks", "Track", inverse: "album")]),
            EntityDescription(
                "Track",
                attributes: [
                    .string("title", isOptional: false), .string("artist"), .double("duration", isOptional: false),
                    .integer64("playCount", isOptional: false), .boolean("loved", isOptional: false),
                    .date("date", isOptional: false), .uuid("uuid", isOptional: false), .binaryData("thumb"),
                ],
                relationships: [.toOne("album", "Album", inverse: "tracks", isOptional: false)],
                fetchIndexes: indexesTitle ? [FetchIndexDescription("byTitle", on: "title")] : []),
        ])
        let track = try model.requireEntity(Self.trackEntity).layout
        let album = try model.requireEntity(Self.albumEntity).layout
        trackLayout = track
        albumLayout = album
        trackFields = try TrackFields(
            title: track.requireField("title"), artist: track.requireField("artist"),
            duration: track.requireField("duration"), playCount: track.requireField("playCount"),
            loved: track.requireField("loved"), date: track.requireField("date"), uuid: track.requireField("uuid"),
            thumb: track.requireField("thumb"), album: track.requireField("album"))
        albumFields = try AlbumFields(title: album.requireField("title"), year: album.requireField("year"))
    }
}
