internal import Roost
internal import RoostCore

/// The work of a measured migration, in addition to the changes that follow from the two models.
///
/// The models of the tagged and the migrated workload differ in the name of a track's title, in the
/// type of its play count, and in new properties and a new entity.
enum MigrationKind: String, Sendable, CaseIterable {
    /// No additional work: one pass.
    case inferred
    /// A policy written in Swift gives every object of every entity new values: three passes.
    case policies
    /// A policy looks up the performer of each track by name, and creates missing ones.
    case lookups

    var title: String {
        switch self {
        case .inferred: "inferred migration"
        case .policies: "migration, a policy for every entity"
        case .lookups: "migration, find or insert for every track"
        }
    }

    /// Returns the options that migrate objects to the new model.
    func options(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws(StoreError)
        -> MigrationOptions
    {
        var mapping = try MappingModel.inferred(from: source, to: destination)
        for index in mapping.entityMappings.indices {
            switch (self, mapping.entityMappings[index].sourceEntity) {
            case (.inferred, _), (_, nil): break
            case (.policies, _): mapping.entityMappings[index].policyName = "Captions"
            case (.lookups, let entity):
                if entity == TrackSchema.trackEntity { mapping.entityMappings[index].policyName = "Performers" }
            }
        }
        return MigrationOptions(
            mapping: self == .inferred ? nil : mapping,
            policies: ["Captions": { CaptionPolicy() }, "Performers": { PerformerPolicy() }])
    }
}

/// An object of the source or of the migrated store, for computing its caption.
protocol CaptionedObject {
    var entity: EntityName { get }
    func string(_ name: String) -> String?
    func int(_ name: String) -> Int64?
}

extension SourceObject: CaptionedObject {}

/// A policy that adds captions to objects, and durations in minutes to tracks.
final class CaptionPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        guard let made = try session.createStandardInstance(for: source) else { return }
        made["caption"] = .string(Self.caption(source, title: "title"))
        if let seconds = source.entity == TrackSchema.trackEntity ? source.double("duration") : nil {
            made["minutes"] = .double(seconds / 60)
        }
    }

    /// Returns the caption of an object; `title` is the name of the attribute with its title.
    static func caption(_ object: some CaptionedObject, title: String) -> String {
        let text = object.string(title) ?? ""
        switch object.entity {
        case TrackSchema.trackEntity: return object.string("artist").map { "\(text) – \($0)" } ?? text
        case TrackSchema.albumEntity: return "\(text) (\(object.int("year") ?? 0))"
        default: return "#" + text
        }
    }
}

/// A policy that creates one object for each artist of the tracks.
final class PerformerPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        guard let track = try session.createStandardInstance(for: source), let name = source.string("artist") else {
            return
        }
        let request = FetchRequest(TrackSchema.performerEntity, where: .path("name") == name, limit: 1)
        if let known = try session.destinationObjects(request).first {
            try track.setObject(known, for: "performer")
        } else {
            let performer = try session.insert(TrackSchema.performerEntity)
            performer["name"] = .string(name)
            try track.setObject(performer, for: "performer")
        }
    }
}
