import Foundation
import Roost
import RoostCore
import RoostGraph

/// An object with a transient and a transformable attribute, and hooks that a test sets.
final class Note: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Note" }
    static func propertyName(of path: AnyKeyPath) -> String? { nil }
    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [.string("title"), .string("cached").transient(), .transformable("tags")])
        ])
    }
    var title: String? {
        get { optionalText(slot: 0) }
        set { setOptionalText(newValue, slot: 0) }
    }
    var cached: String? {
        get { transient(slot: 1) }
        set { setTransient(newValue, slot: 1) }
    }
    var tags: [String]? {
        get { coded(slot: 2) }
        set { setCoded(newValue, slot: 2) }
    }
    static var shape: ClassShape {
        ClassShape(
            "Note",
            properties: [
                .field("title", as: .string), .transient("cached", as: .string), .field("tags", as: .transformable),
            ])
    }

    var onAwake: (() -> Void)?
    var onDidSave: (() -> Void)?

    override func awake(from events: SnapshotEvents) { onAwake?() }
    override func didSave() { onDidSave?() }
}
