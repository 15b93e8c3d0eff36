internal import Foundation
internal import RoostCore

/// The models of the graph checks.
enum GraphModel {
    /// A model with attributes of every type, and relationships and rules of every kind, except
    /// delete rule noAction and uniqueness constraints.
    static let standard = Result { try ManagedObjectModel(entities: people + music + assets + rules + values) }

    /// A model with a relationship with delete rule noAction.
    static let noAction = Result {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Host", attributes: [.string("name")],
                relationships: [.toMany("guests", to: "Guest", inverse: "host", deleteRule: .noAction)]),
            EntityDescription(
                "Guest", attributes: [.string("name")],
                relationships: [.toOne("host", to: "Host", inverse: "guests")]),
        ])
    }

    /// A model with two hierarchies for two stores.
    static let twoStores = Result {
        try ManagedObjectModel(
            entities: [
                EntityDescription("Left", attributes: [.string("name", maximumLength: 10)]),
                EntityDescription("Right", attributes: [.string("name", maximumLength: 10)]),
            ],
            configurations: ["left": ["Left"], "right": ["Right"]])
    }

    private static let people = [
        EntityDescription(
            "Person",
            attributes: [.string("name"), .integer64("salary"), .string("nick", maximumLength: 5).transient()],
            relationships: [
                .toOne("passport", to: "Passport", inverse: "holder"), .toOne("team", to: "Team", inverse: "members"),
                .toMany("friends", to: "Person", inverse: "friends"),
                .toOne("partner", to: "Person", inverse: "partner"),
                .toOne("manager", to: "Person", inverse: "reports"),
                .toMany("reports", to: "Person", inverse: "manager"), .toOne("favorite", to: "Album"),
            ]),
        EntityDescription(
            "Passport", attributes: [.string("number")],
            relationships: [.toOne("holder", to: "Person", inverse: "passport")]),
        EntityDescription(
            "Team", attributes: [.string("name")], relationships: [.toMany("members", to: "Person", inverse: "team")]),
    ]

    private static let music = [
        EntityDescription(
            "Artist",
            attributes: [
                .string("name"), .derived("upperName", type: .string, from: "uppercase:(name)"),
                .derived("albumCount", type: .integer64, from: "albums.@count"),
                .derived("stamp", type: .date, from: "now()"),
            ], relationships: [.toMany("albums", to: "Album", inverse: "artist")]),
        EntityDescription(
            "Album",
            attributes: [
                .string("title"), .integer16("year", isOptional: false, default: 1970), .double("rating"),
                .integer64("plays", isOptional: false, default: 0),
            ],
            relationships: [
                .toOne("artist", to: "Artist", inverse: "albums"),
                .toMany("tracks", to: "Track", inverse: "album", isOrdered: true, deleteRule: .cascade),
            ]),
        EntityDescription(
            "Track", attributes: [.string("title")],
            relationships: [
                .toOne("album", to: "Album", inverse: "tracks"), .toOne("genre", to: "Genre", inverse: "tracks"),
                .toMany("playlists", to: "Playlist", inverse: "tracks"), .toMany("tags", to: "Tag", inverse: "tagged"),
            ]),
        EntityDescription(
            "Genre", attributes: [.string("name")],
            relationships: [.toMany("tracks", to: "Track", inverse: "genre")]),
        EntityDescription(
            "Playlist", attributes: [.string("name")],
            relationships: [.toMany("tracks", to: "Track", inverse: "playlists", isOrdered: true)]),
        EntityDescription(
            "Tag", attributes: [.string("name")], relationships: [.toMany("tagged", to: "Track", inverse: "tags")]),
    ]

    private static let assets = [
        EntityDescription(
            "Asset", attributes: [.string("name"), .integer64("size")],
            relationships: [.toOne("shelf", to: "Shelf", inverse: "assets")]
        ).with { $0.isAbstract = true },
        EntityDescription("Image", superentity: "Asset", attributes: [.integer32("width")]),
        EntityDescription("Video", superentity: "Asset", attributes: [.integer32("seconds")]),
        EntityDescription("Clip", superentity: "Video", attributes: [.string("source")]),
        EntityDescription(
            "Shelf", attributes: [.string("label")],
            relationships: [
                .toMany("assets", to: "Asset", inverse: "shelf"), .toOne("cover", to: "Asset"),
                .toMany("extras", to: "Track"),
            ]),
    ]

    private static let rules = [
        EntityDescription(
            "Rule",
            attributes: [
                .string("required", isOptional: false), .integer64("number", minimum: 1, maximum: 10),
                .double("amount", minimum: 0.5),
                .date(
                    "day", minimum: Date(timeIntervalSinceReferenceDate: 0),
                    maximum: Date(timeIntervalSinceReferenceDate: 1000)),
                .string("text", minimumLength: 2, maximumLength: 5),
                AttributeDescription("code", type: .string).with {
                    $0.validation = AttributeValidation(regularExpression: "[A-Z]+")
                },
            ]),
        EntityDescription(
            "Club", attributes: [.string("name")],
            relationships: [
                .toMany("members", to: "ClubMember", inverse: "club").with { ($0.minCount, $0.maxCount) = (2, 3) }
            ]),
        EntityDescription(
            "ClubMember", attributes: [.string("name")],
            relationships: [.toOne("club", to: "Club", inverse: "members")]),
        EntityDescription(
            "Owner", attributes: [.string("name")],
            relationships: [
                .toMany("parts", to: "Part", inverse: "owner", deleteRule: .nullify),
                .toMany("musts", to: "Must", inverse: "owner", deleteRule: .nullify),
                .toMany("leaves", to: "Leaf", inverse: "owner", deleteRule: .cascade),
                .toMany("guards", to: "Guard", inverse: "owner", deleteRule: .deny),
            ]),
        EntityDescription(
            "Part", attributes: [.string("name")],
            relationships: [.toOne("owner", to: "Owner", inverse: "parts")]),
        EntityDescription(
            "Must", attributes: [.string("name")],
            relationships: [.toOne("owner", to: "Owner", inverse: "musts", isOptional: false)]),
        EntityDescription(
            "Leaf", attributes: [.string("name")],
            relationships: [.toOne("owner", to: "Owner", inverse: "leaves")]),
        EntityDescription(
            "Guard", attributes: [.string("name")],
            relationships: [.toOne("owner", to: "Owner", inverse: "guards")]),
        EntityDescription(
            "Ring", attributes: [.string("name")],
            relationships: [
                .toOne("next", to: "Ring", inverse: "previous", deleteRule: .cascade),
                .toOne("previous", to: "Ring", inverse: "next"),
            ]),
        EntityDescription(
            "Parent", attributes: [.string("name")],
            relationships: [.toMany("children", to: "Child", inverse: "parent", deleteRule: .cascade)]),
        EntityDescription(
            "Child", attributes: [.string("name")],
            relationships: [.toOne("parent", to: "Parent", inverse: "children", deleteRule: .deny)]),
        EntityDescription(
            "Draft",
            attributes: [
                .string("title", maximumLength: 20), .integer64("count", isOptional: false, default: 7), .date("stamp"),
                .string("cached").transient(),
            ],
            relationships: [
                .toOne("next", to: "Draft", inverse: "before"), .toOne("before", to: "Draft", inverse: "next"),
            ]),
    ]

    /// A model with uniqueness constraints, which some stores do not support.
    static let accounts = Result {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Account", attributes: [.string("email"), .string("note"), .integer64("count")],
                relationships: [.toMany("entries", to: "Entry", inverse: "account")],
                uniquenessConstraints: [["email"]]),
            EntityDescription(
                "Entry", attributes: [.string("text")],
                relationships: [.toOne("account", to: "Account", inverse: "entries"), .toOne("seenBy", to: "Account")]),
        ])
    }

    private static let values = [
        EntityDescription(
            "Everything",
            attributes: [
                .integer16("i16"), .integer32("i32"), .integer64("i64"), .decimal("dec"), .double("dbl"),
                .float("flt"), .string("str"), .boolean("flag"), .date("day"), .binaryData("blob"), .uuid("ident"),
                .uri("link"), .transformable("coded"), .init("oid", type: .objectID),
                .composite("place", elements: [.string("street"), .integer32("number")]),
            ])
    ]
}
