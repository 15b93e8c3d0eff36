import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration

/// The model of the lab's stores in three versions, with the migrations between them.
///
/// The model is small, because each written page adds states to check. Some values need pages of
/// their own.
enum CrashVersions {
    private static let entities: [EntityDescription] = [
        EntityDescription(
            "Track", attributes: [.string("title"), .binaryData("cover")],
            relationships: [.toMany("playlists", to: "Playlist", inverse: "tracks")]
        ).with { $0.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")] },
        EntityDescription(
            "Playlist", relationships: [.toMany("tracks", to: "Track", inverse: "playlists", isOrdered: true)]),
        EntityDescription(
            "Node", attributes: [.string("name")],
            relationships: [
                .toMany("friends", to: "Node", inverse: "friends"), .toOne("parent", to: "Node", inverse: "children"),
                .toMany("children", to: "Node", inverse: "parent"),
            ], uniquenessConstraints: [["name"]]),
    ]

    static func first() throws -> ManagedObjectModel { try ManagedObjectModel(entities: entities) }

    /// Returns the model with one more attribute and entity; the migration to it is inferred.
    static func second() throws -> ManagedObjectModel {
        var entities = entities
        entities[0].attributes.append(.string("subtitle", isOptional: true, default: "none"))
        entities.append(EntityDescription("Review", attributes: [.string("text")]))
        return try ManagedObjectModel(entities: entities)
    }

    /// Returns the model in which each track has a heading, which a policy creates.
    static func third() throws -> ManagedObjectModel {
        var entities = try second().entityDescriptions
        guard let track = entities.firstIndex(where: { $0.name == "Track" }) else {
            throw StoreError(.internalInconsistency, "the model has no tracks")
        }
        entities[track].relationships.append(.toOne("heading", to: "Heading", inverse: "track"))
        entities.append(
            EntityDescription(
                "Heading", attributes: [.string("text")],
                relationships: [.toOne("track", to: "Track", inverse: "heading")])
        )
        return try ManagedObjectModel(entities: entities)
    }

    /// Commits transactions whose numbers determine their changes.
    static func commit(_ numbers: ClosedRange<Int64>, to store: any PersistentStore) throws {
        for n in numbers {
            var changes = ChangeSet(model: store.model)
            var random = SeededGenerator(seed: UInt64(n))
            if n == 1 { try changes.insert(ObjectID("Playlist", key: 1), values: [:]) }
            let cover = (0..<(n % 6 == 3 ? 9000 : random.below(600))).map { _ in
                UInt8(truncatingIfNeeded: random.next())
            }
            try changes.insert(
                ObjectID("Track", key: n), values: ["title": .string("track \(n)"), "cover": .data(Data(cover))])
            var node: [String: Value] = ["name": .string("node \(n)")]
            if n > 1 { node["parent"] = .objectID(ObjectID("Node", key: n - 1)) }
            try changes.insert(ObjectID("Node", key: n), values: node)
            try changes.add(Link(1, n, order: -n), to: RelationshipName("Playlist", name: "tracks"))
            if n > 1 {
                try changes.update(
                    ObjectID("Track", key: n - 1), version: 1, values: ["title": .string("updated by \(n)")])
                try changes.add(Link(n, n - 1), to: RelationshipName("Node", name: "friends"))
            }
            if n > 4 { try changes.remove(Link(1, n - 4), from: RelationshipName("Playlist", name: "tracks")) }
            if n > 8 { changes.delete(ObjectID("Track", key: n - 8), version: 2) }
            changes.userMetadata["transaction"] = .some(.int(n))
            _ = try store.commit(changes)
        }
    }

    /// Returns all versions; the first step is inferred, and the second uses two policies.
    static func history() throws -> ModelHistory {
        let (second, third) = (try second(), try third())
        var history = try ModelHistory([
            .init("first", model: try first()), .init("second", model: second), .init("third", model: third),
        ])
        var mapping = try MappingModel.inferred(from: second, to: third)
        for index in mapping.entityMappings.indices {
            switch mapping.entityMappings[index].sourceEntity?.text {
            case "Track": mapping.entityMappings[index].policyName = "headings"
            case "Node": mapping.entityMappings[index].policyName = "numbers"
            default: break
            }
        }
        try history.add(mapping, from: "second", to: "third")
        return history
    }
}

/// An early end of an operation: a cancellation at a progress report, or an error of a policy.
///
/// A question is a point in a policy where the policy can fail.
final class Interruption: Sendable {
    enum Kind: String { case cancel, failure }

    let cancellation = ConversionCancellation()
    private let kind: Kind?
    private let number: Int
    private let counts = Mutex((reports: 0, questions: 0))

    /// Creates an interruption at a report or question, counted from 1.
    ///
    /// If `kind` is nil, reports and questions are only counted.
    init(_ kind: Kind?, at number: Int) { (self.kind, self.number) = (kind, number) }

    var count: (reports: Int, questions: Int) { counts.withLock { $0 } }

    func report() {
        let reached = counts.withLock { counts in
            counts.reports += 1
            return counts.reports
        }
        if kind == .cancel, reached == number { cancellation.cancel() }
    }

    func question() throws {
        let reached = counts.withLock { counts in
            counts.questions += 1
            return counts.questions
        }
        if kind == .failure, reached == number { throw Failure() }
    }

    private struct Failure: Error {}
}

final class HeadingPolicy: EntityMigrationPolicy {
    private let interruption: Interruption

    init(_ interruption: Interruption) { self.interruption = interruption }

    override func createDestinationInstances(
        for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        try interruption.question()
        let track = try session.createStandardInstance(for: source)
        let heading = try session.insert("Heading")
        heading["text"] = source["title"]
        try heading.setObject(track, for: "track")
    }

    override func end(_ mapping: EntityMapping, in session: MigrationSession) throws { try interruption.question() }
}

/// A policy that reverses the keys of nodes, so that no two associations are consecutive.
final class NumberPolicy: EntityMigrationPolicy {
    private let interruption: Interruption
    private var nodes: [SourceObject] = []

    init(_ interruption: Interruption) { self.interruption = interruption }

    override func createDestinationInstances(
        for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        nodes.append(source)
    }

    override func endInstanceCreation(for mapping: EntityMapping, in session: MigrationSession) throws {
        for source in nodes.reversed() {
            try interruption.question()
            let node = try session.insert("Node")
            node["name"] = source["name"]
            try session.associate(source, with: node, for: mapping.name)
        }
        nodes = []
    }

    override func createRelationships(
        for destination: DestinationObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        try interruption.question()
        try super.createRelationships(for: destination, by: mapping, in: session)
    }
}
