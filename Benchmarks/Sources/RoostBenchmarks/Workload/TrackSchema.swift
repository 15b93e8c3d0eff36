internal import Roost
import RoostCore

/// The part of the workload that a store has, and its model.
enum TrackForm: String, Sendable, Hashable {
    /// Tracks and albums.
    case plain
    /// Tracks and albums, with an index over the titles of tracks.
    case indexed
    /// Tracks and albums, with five tags for each track: the source of migrations.
    case tagged
    /// The result of migrations of ``tagged``: a model with one renamed attribute, a wider one, new
    /// ones and a new entity.
    case migrated
}

/// The model of the workload, with its record layouts and fields.
struct TrackSchema {
    static let trackEntity: EntityName = "Track"
    static let albumEntity: EntityName = "Album"
    static let tagEntity: EntityName = "Tag"
    static let performerEntity: EntityName = "Performer"
    static let tagsOfTrack = RelationshipName("Track", name: "tags")
    static let tracksOfAlbum = RelationshipName("Album", name: "tracks")

    let form: TrackForm
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

    /// Creates the model.
    ///
    /// Stores keep an index over every to-one relationship, so the index over the album is not
    /// declared.
    ///
    /// - Throws: `invalidModel`, which would be a mistake of the benchmark.
    init(_ form: TrackForm = .plain) throws {
        self.form = form
        model = try Self.model(form)
        let track = try model.requireEntity(Self.trackEntity).layout
        let album = try model.requireEntity(Self.albumEntity).layout
        trackLayout = track
        albumLayout = album
        trackFields = try TrackFields(
            title: track.requireField(form == .migrated ? "name" : "title"), artist: track.requireField("artist"),
            duration: track.requireField("duration"), playCount: track.requireField("playCount"),
            loved: track.requireField("loved"), date: track.requireField("date"), uuid: track.requireField("uuid"),
            thumb: track.requireField("thumb"), album: track.requireField("album"))
        albumFields = try AlbumFields(title: album.requireField("title"), year: album.requireField("year"))
    }
    private static func model(_ form: TrackForm) throws -> ManagedObjectModel {
        var album = EntityDescription(
            "Album", attributes: [.string("title", isOptional: false), .integer64("year", isOptional: false)],
            relationships: [.toMany("tracks", to: "Track", inverse: "album")])
        var title = AttributeDescription.string("title", isOptional: false)
        if form == .migrated {
            title.name = "name"
            title.renamingIdentifier = "title"
        }
        var playCount = AttributeDescription.integer64("playCount", isOptional: false)
        if form == .tagged { playCount = .integer32("playCount", isOptional: false) }
        var track = EntityDescription(
            "Track",
            attributes: [
                title, .string("artist"), .double("duration", isOptional: false), playCount,
                .boolean("loved", isOptional: false), .date("date", isOptional: false),
                .uuid("uuid", isOptional: false), .binaryData("thumb"),
            ],
            relationships: [.toOne("album", to: "Album", inverse: "tracks", isOptional: false)]
        ).with { $0.fetchIndexes = form == .indexed ? [FetchIndexDescription("byTitle", on: "title")] : [] }
        guard form == .tagged || form == .migrated else { return try ManagedObjectModel(entities: [album, track]) }
        var tag = EntityDescription(
            "Tag", attributes: [.string("title", isOptional: false)],
            relationships: [.toMany("tracks", to: "Track", inverse: "tags")])
        track.relationships.append(.toMany("tags", to: "Tag", inverse: "tracks"))
        guard form == .migrated else { return try ManagedObjectModel(entities: [album, tag, track]) }
        album.attributes.append(.string("caption"))
        tag.attributes.append(.string("caption"))
        track.attributes += [.string("caption"), .double("minutes")]
        track.relationships.append(.toOne("performer", to: "Performer", inverse: "tracks"))
        let performer = EntityDescription(
            "Performer", attributes: [.string("name", isOptional: false)],
            relationships: [.toMany("tracks", to: "Track", inverse: "performer")]
        ).with { $0.fetchIndexes = [FetchIndexDescription("byName", on: "name")] }
        return try ManagedObjectModel(entities: [album, performer, tag, track])
    }
}
