import Foundation
import Roost
import RoostCore
import Testing

/// The model of the tests: folders that hold notes, notes with rules, and tags.
enum Sample {
    /// The sorted names of the writable types that Roost registers and that need no server.
    static let types = StoreRegistry.standard.withoutServers.filter { $0.capabilities.contains(.writing) }.map(\.name)
        .sorted()

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Folder", attributes: [.string("name", isOptional: false)],
                relationships: [.toMany("notes", to: "Note", inverse: "folder", deleteRule: .deny)],
                uniquenessConstraints: [["name"]]),
            EntityDescription(
                "Note",
                attributes: [
                    .string("title", isOptional: false, minimumLength: 1, maximumLength: 40),
                    .integer16("stars", default: 1, minimum: 0, maximum: 5),
                    .date("changed"),
                    .string("text"),
                ],
                relationships: [
                    .toOne("folder", to: "Folder", inverse: "notes", isOptional: false),
                    .toMany("tags", to: "Tag", inverse: "notes"),
                ]),
            EntityDescription(
                "Tag", attributes: [.string("name", isOptional: false)],
                relationships: [.toMany("notes", to: "Note", inverse: "tags")],
                uniquenessConstraints: [["name"]]),
        ])
    }

    /// Animals of two subentities; a code, or a name and an owner, identifies an animal.
    static let animals = [
        EntityDescription(
            "Animal", attributes: [.string("code"), .string("name")],
            relationships: [.toOne("owner", to: "Owner", inverse: "pets")],
            uniquenessConstraints: [["code"], ["name", "owner"]]),
        EntityDescription(
            "Dog", superentity: "Animal",
            attributes: [
                .string("bark"), .integer32("age"), .derived("ownerName", type: .string, from: "owner.name"),
            ]),
        EntityDescription("Cat", superentity: "Animal", attributes: [.string("aMew")]),
        EntityDescription(
            "Owner",
            attributes: [.string("name"), .derived("petCount", type: .integer32, from: "pets.@count")],
            relationships: [.toMany("pets", to: "Animal", inverse: "owner")]),
    ]
}

extension Store {
    /// Inserts new objects and returns their IDs, in the order of the rows.
    func ids(_ entity: EntityName, rows: [[String: Value]]) throws -> [ObjectID] {
        try #require(try insert(entity, rows: rows, result: .objectIDs).objectIDs)
    }

    func members(_ name: String, of id: ObjectID) throws -> [ObjectID] {
        try read { view in try view.objectIDs(name, of: id) }
    }
}

/// A temporary directory that is removed on deallocation.
final class Folder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("roost-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the location of a new store of a type.
    func location(_ type: String, name: String = "store") -> StoreLocation {
        StoreLocation(type: type, path: "\(path)/\(name)")
    }

    func store(_ type: String, entities: [EntityDescription]) throws -> Store {
        try Store.open(location(type), model: try ManagedObjectModel(entities: entities))
    }
}
