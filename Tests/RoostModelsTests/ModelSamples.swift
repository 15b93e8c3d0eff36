#if Macros
    import Foundation
    import RoostModels

    @Unique("title", "year")
    @Model final class Album: ManagedObject {
        @Attribute(maximumLength: 40) var title: String
        @Attribute(minimum: 1900, maximum: 2100) var year: Int16 = 1970
        var rating: Double?
        var plays: Int = 0
        var released: Date?
        var isLive = false
        var cover: Cover?
        var kind: Kind = .studio
        @Relationship(inverse: \Artist.albums) var artist: Artist?
        @Relationship(inverse: "album", deleteRule: .cascade) var tracks: OrderedToMany<Track>
    }

    @Model class Artist: ManagedObject {
        @Index var name: String
        @Relationship(deleteRule: .cascade) var albums: ToMany<Album>
        @Transient var nick: String?
        @Attribute(derivation: "albums.@count") var albumCount: Int64?
    }

    @Model final class Band: Artist {
        var size: Int32?
        var home: [String]?
    }

    @Model final class Track: ManagedObject {
        var title: String?
        var album: Album?
    }

    struct Cover: Codable, Sendable, Equatable { var colors: [String] }
    enum Kind: String { case studio, live }
#endif
