internal import Foundation
internal import RoostCore

/// The model of the checks of batch requests: every delete rule, mandatory and optional ends, relationships without inverse.
enum BatchModel {
    /// The model, without uniqueness constraints where the fixture cannot keep them.
    static func make(for fixture: StoreFixture) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: fixture.keepsConstraints ? entities : entities.map(ConformanceModel.withoutConstraints))
    }

    /// The same model as a later program has it, with other defaults and delete rules: compatible,
    /// because neither is in a version hash.
    static func laterProgram(for fixture: StoreFixture) throws -> ManagedObjectModel {
        var entities = fixture.keepsConstraints ? entities : entities.map(ConformanceModel.withoutConstraints)
        for (index, entity) in entities.enumerated() {
            for (position, attribute) in entity.attributes.enumerated() where attribute.name == "size" {
                entities[index].attributes[position].defaultValue = 5
            }
            for (position, relationship) in entity.relationships.enumerated() {
                switch (entity.name, relationship.name) {
                case ("Folder", "files"): entities[index].relationships[position].deleteRule = .nullify
                case ("Person", "works"): entities[index].relationships[position].deleteRule = .cascade
                default: break
                }
            }
        }
        return try ManagedObjectModel(entities: entities)
    }

    private static let entities: [EntityDescription] = [
        // A tree that goes as a whole, whose files are in order.
        EntityDescription(
            "Folder", attributes: [.init("name", .string, isOptional: false, defaultValue: "untitled")],
            relationships: [
                .toOne("parent", "Folder", inverse: "children"),
                .toMany("children", "Folder", inverse: "parent", deleteRule: .cascade),
                .toMany("files", "File", inverse: "folder", isOrdered: true, deleteRule: .cascade),
                .toMany("labels", "Label", inverse: "folders"),
                .toOne("shortcut", "File", deleteRule: .noAction),
            ]),
        EntityDescription(
            "File",
            attributes: [
                .init("title", .string, isOptional: false), .init("size", .integer64, defaultValue: 1),
                .init("rank", .integer16), .init("rating", .decimal), .init("score", .double), .init("flag", .boolean),
                .init("made", .date), .init("ident", .uuid), .init("page", .uri), .init("content", .binaryData),
                .init("cache", .string, isTransient: true),
                .init("lettering", .string, derivationExpression: "uppercase:(title)"),
                .init(
                    "place", .composite,
                    elements: [.init("street", .string), .init("number", .integer32, isOptional: false)]),
            ],
            relationships: [
                .toOne("folder", "Folder", inverse: "files"), .toOne("author", "Person", inverse: "works"),
                .toMany("tags", "Label", inverse: "tagged"),
            ]),
        EntityDescription(
            "Image", superentity: "File",
            attributes: [.init("width", .integer32)],
            relationships: [.toMany("thumbnails", "Thumbnail", inverse: "image", deleteRule: .cascade)]),
        EntityDescription(
            "Thumbnail", relationships: [.toOne("image", "Image", inverse: "thumbnails", isOptional: false)]),

        // Refuses to go while there are works; takes its passport along.
        EntityDescription(
            "Person", attributes: [.init("name", .string)],
            relationships: [
                .toMany("works", "File", inverse: "author", deleteRule: .deny),
                .toOne("passport", "Passport", inverse: "holder", deleteRule: .cascade),
                .toMany("visits", "Visit", inverse: "guest", deleteRule: .noAction),
                .toMany("loans", "Loan", inverse: "borrower"),
                .toOne("spouse", "Person", inverse: "spouse"),
            ],
            uniquenessConstraints: [["name"]]),
        EntityDescription(
            "Passport", attributes: [.init("number", .integer64)],
            relationships: [.toOne("holder", "Person", inverse: "passport")]),
        EntityDescription("Visit", relationships: [.toOne("guest", "Person", inverse: "visits")]),
        EntityDescription("Loan", relationships: [.toOne("borrower", "Person", inverse: "loans", isOptional: false)]),

        // Nobody leads back to these.
        EntityDescription("Comment", relationships: [.toOne("file", "File")]),
        EntityDescription("Stamp", relationships: [.toOne("file", "File", isOptional: false)]),

        EntityDescription(
            "Label", attributes: [.init("name", .string)],
            relationships: [
                .toMany("folders", "Folder", inverse: "labels", deleteRule: .noAction),
                .toMany("tagged", "File", inverse: "tags"),
            ]),
        EntityDescription("Shape", isAbstract: true),
        EntityDescription("Circle", superentity: "Shape"),
    ]
}
