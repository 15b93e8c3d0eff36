import RoostCore
import Testing

/// Models that several tests use.
enum ModelSamples {
    /// The example of MODEL-FORMAT.md.
    static func music() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Track",
                attributes: [
                    AttributeDescription("title", .string),
                    AttributeDescription(
                        "playCount", .integer64, defaultValue: 0, validation: AttributeValidation(minimum: 0)),
                ],
                relationships: [.toOne("album", "Album", inverse: "tracks")],
                fetchIndexes: [FetchIndexDescription("byTitle", on: "title")]),
            EntityDescription(
                "Album",
                attributes: [AttributeDescription("title", .string, isOptional: false)],
                relationships: [
                    .toMany("tracks", "Track", inverse: "album", isOrdered: true, deleteRule: .cascade)
                ]),
        ])
    }
}
