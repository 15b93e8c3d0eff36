#if Macros
    import Foundation
    import RoostModels

    // The classes of docs/models-in-swift.md.

    enum Records {
        @Unique("title", "year")
        @Index("year", "title", name: "byYear")
        @Model final class Record: ManagedObject {
            @Attribute(minimumLength: 1, maximumLength: 80) var title: String
            @Attribute(minimum: 1900, maximum: 2100) var year: Int16 = 1970
            @Attribute(regularExpression: "[A-Z]{2}[0-9]+") @Unique var catalogNumber: String?
            @Attribute(type: .uri) var homepage: String?
            @Attribute(derivation: "songs.@count") var songCount: Int64?
            @Attribute(elements: [.double("latitude"), .double("longitude")]) var studio: [String: Value]?
            var kind: Kind = .studio
            var cover: Cover?
            @Transient var isSelected = false
            @Relationship(deleteRule: .cascade, maxCount: 40) var songs: OrderedToMany<Song>

            /// Methods, computed properties and hooks are in the class too.
            var isOld: Bool { year < 1980 }
            override func awakeFromInsert() { title = "Untitled" }

            enum Kind: String { case studio, live }
        }

        struct Cover: Codable, Sendable { var colors: [String] }

        @Model final class Song: ManagedObject {
            var title: String?
            @Relationship(inverse: "songs", isOptional: false) var record: Record?
        }
    }

    enum Parties {
        @Model(isAbstract: true) class Party: ManagedObject {
            var name: String
        }

        @Model final class Band: Party {
            var members: [String] = []
        }
    }

    enum MusicV1 {
        @Model final class Album: ManagedObject {
            var name: String
            var year: Int16 = 1970
        }
        static let types: [any ManagedObjectClass.Type] = [Album.self]
    }

    enum MusicV2 {
        @Model final class Album: ManagedObject {
            @Attribute(renamingIdentifier: "name") var title: String
            var year: Int16 = 1970
            var rating: Double?
            var label: Label?
        }
        @Model final class Label: ManagedObject {
            var name: String?
            @Relationship(inverse: \Album.label) var albums: ToMany<Album>
        }
        static let types: [any ManagedObjectClass.Type] = [Album.self, Label.self]
    }
#endif
