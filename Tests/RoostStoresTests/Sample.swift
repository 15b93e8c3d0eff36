import Foundation
import Roost
import RoostCore

/// The model of the tests: folders that hold notes, notes with rules, and tags.
enum Sample {
    /// The built-in types that can be written, as Roost registers them.
    static let types = StoreRegistry.standard.all.filter { $0.capabilities.contains(.writing) }.map(\.name).sorted()

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
}

/// A temporary directory that is removed with the test.
final class Folder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("roost-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The location of a new store of a type.
    func location(_ type: String, _ name: String = "store") -> StoreLocation {
        StoreLocation(type: type, path: "\(path)/\(name)")
    }
}
