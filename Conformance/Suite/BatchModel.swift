internal import Foundation
internal import RoostCore

/// The model of the checks of batch requests.
///
/// Its relationships have every delete rule; some are mandatory, some have no inverse.
enum BatchModel {
    /// Returns the model, without uniqueness constraints if the fixture does not support them.
    static func make(for fixture: StoreFixture) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: fixture.keepsConstraints ? entities : entities.map(ConformanceModel.withoutConstraints))
    }

    /// Returns the model with other defaults and delete rules.
    ///
    /// Version hashes include neither, so the models are compatible.
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
        // Deleting a folder deletes its subfolders and its ordered files.
        EntityDescription(
            "Folder", attributes: [.init("name", type: .string, isOptional: false, defaultValue: "untitled")],
            relationships: [
                .toOne("parent", to: "Folder", inverse: "children"),
                .toMany("children", to: "Folder", inverse: "parent", deleteRule: .cascade),
                .toMany("files", to: "File", inverse: "folder", isOrdered: true, deleteRule: .cascade),
                .toMany("labels", to: "Label", inverse: "folders"),
                .toOne("shortcut", to: "File", deleteRule: .noAction),
            ]),
        EntityDescription(
            "File",
            attributes: [
                .init("title", type: .string, isOptional: false), .init("size", type: .integer64, defaultValue: 1),
                .init("rank", type: .integer16), .init("rating", type: .decimal), .init("score", type: .double),
                .init("flag", type: .boolean),
                .init("made", type: .date), .init("ident", type: .uuid), .init("page", type: .uri),
                .init("content", type: .binaryData),
                .init("cache", type: .string).with { $0.isTransient = true },
                .init("lettering", type: .string).with { $0.derivationExpression = "uppercase:(title)" },
                .init(
                    "place", type: .composite,
                    elements: [.init("street", type: .string), .init("number", type: .integer32, isOptional: false)]),
            ],
            relationships: [
                .toOne("folder", to: "Folder", inverse: "files"), .toOne("author", to: "Person", inverse: "works"),
                .toMany("tags", to: "Label", inverse: "tagged"),
            ]),
        EntityDescription(
            "Image", superentity: "File",
            attributes: [.init("width", type: .integer32)],
            relationships: [.toMany("thumbnails", to: "Thumbnail", inverse: "image", deleteRule: .cascade)]),
        EntityDescription(
            "Thumbnail", relationships: [.toOne("image", to: "Image", inverse: "thumbnails", isOptional: false)]),

        // A person with works cannot be deleted. Deleting a person deletes its passport.
        EntityDescription(
            "Person", attributes: [.init("name", type: .string)],
            relationships: [
                .toMany("works", to: "File", inverse: "author", deleteRule: .deny),
                .toOne("passport", to: "Passport", inverse: "holder", deleteRule: .cascade),
                .toMany("visits", to: "Visit", inverse: "guest", deleteRule: .noAction),
                .toMany("loans", to: "Loan", inverse: "borrower"),
                .toOne("spouse", to: "Person", inverse: "spouse"),
            ],
            uniquenessConstraints: [["name"]]),
        EntityDescription(
            "Passport", attributes: [.init("number", type: .integer64)],
            relationships: [.toOne("holder", to: "Person", inverse: "passport")]),
        EntityDescription("Visit", relationships: [.toOne("guest", to: "Person", inverse: "visits")]),
        EntityDescription(
            "Loan", relationships: [.toOne("borrower", to: "Person", inverse: "loans", isOptional: false)]),

        // The relationships of `Comment` and `Stamp` have no inverse.
        EntityDescription("Comment", relationships: [.toOne("file", to: "File")]),
        EntityDescription("Stamp", relationships: [.toOne("file", to: "File", isOptional: false)]),

        EntityDescription(
            "Label", attributes: [.init("name", type: .string)],
            relationships: [
                .toMany("folders", to: "Folder", inverse: "labels", deleteRule: .noAction),
                .toMany("tagged", to: "File", inverse: "tags"),
            ]),
        EntityDescription("Shape").with { $0.isAbstract = true },
        EntityDescription("Circle", superentity: "Shape"),
    ]
}
