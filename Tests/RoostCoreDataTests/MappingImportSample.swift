import Foundation
import Roost
import RoostAppleModels
import RoostCore
import RoostCoreData
import RoostMigration

/// A sample model, and functions that import a mapping model that a test writes.
enum MappingImportSample {
    /// Returns a model of notes with attachments, which can be pictures.
    ///
    /// With `hasLength`, notes have one more attribute.
    static func model(hasLength: Bool = false) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Note",
                attributes: [.string("title"), .string("body", isOptional: true)]
                    + (hasLength ? [.integer32("length")] : []),
                relationships: [.toMany("attachments", to: "Attachment", inverse: "note")]),
            EntityDescription(
                "Attachment", attributes: [.string("name")],
                relationships: [.toOne("note", to: "Note", inverse: "attachments")]),
            EntityDescription("Picture", superentity: "Attachment"),
        ])
    }

    static func read(
        _ file: MappingFileText, from source: ManagedObjectModel? = nil, to destination: ManagedObjectModel? = nil
    ) throws -> CoreDataMappingModel {
        try CoreDataMappingReader.read(
            xml: file.bytes, file: "X/xcmapping.xml", source: source, destination: destination)
    }

    /// Imports an archived expression as the value of a note's title.
    static func expression(_ make: (inout ExpressionArchive) -> TestPlist) throws -> FetchRequest.Expression? {
        var file = MappingFileText()
        let title = file.attribute("title", attributes: [("valueexpressiondata", ExpressionArchive.data(make))])
        file.entity(from: "Note", to: "Note", number: 1, attributeMappings: [title])
        return try read(file, from: model(), to: model()).mapping.entityMappings[0].attributeMappings[0]
            .valueExpression
    }
}
