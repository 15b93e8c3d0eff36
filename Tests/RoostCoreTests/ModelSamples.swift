import RoostCore
import Testing

enum ModelSamples {
    /// Returns the example of MODEL-FORMAT.md.
    static func music() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Track",
                attributes: [
                    AttributeDescription("title", type: .string),
                    AttributeDescription(
                        "playCount", type: .integer64, defaultValue: 0
                    ).with { $0.validation = AttributeValidation(minimum: 0) },
                ],
                relationships: [.toOne("album", to: "Album", inverse: "tracks")]
            ).with { $0.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")] },
            EntityDescription(
                "Album",
                attributes: [AttributeDescription("title", type: .string, isOptional: false)],
                relationships: [
                    .toMany("tracks", to: "Track", inverse: "album", isOrdered: true, deleteRule: .cascade)
                ]),
        ])
    }
}
