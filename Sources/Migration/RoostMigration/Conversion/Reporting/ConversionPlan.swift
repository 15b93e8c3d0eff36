package import RoostCore

/// A forecast of a conversion, made without writing anything.
///
/// As JSON: `source` and `destination` (URLs), `objects`, `links` (absent if the source does not
/// record the count), `entities` (`[{"name","count"}]`), `relationships`
/// (`[{"relationship","count"}]`), `bytesNeeded` (an estimate), `bytesAvailable` (absent if it is
/// unknown or no file is created), `refusals`, `warnings` and `remarks` (messages).
///
/// ```swift
/// let plan = try MigrationManager().plan(
///     from: .location(.coreData("Old.sqlite")), to: .location(.sqlite("music.sqlite")))
/// print("\(plan.objects) objects, about \(plan.bytesNeeded) bytes")
/// for refusal in plan.refusals { print("cannot convert: \(refusal)") }
/// ```
public struct ConversionPlan: Sendable, Hashable, Codable {
    package var source: String
    package var destination: String
    /// The number of objects to copy.
    public var objects: Int
    package var links: Int?
    /// The entities that have objects.
    package var entities: [EntityCount]
    /// The relationships that have links; empty if the source records no counts.
    package var relationships: [RelationshipCount]
    /// The expected size of the destination, in bytes.
    public var bytesNeeded: Int
    package var bytesAvailable: Int?
    /// The reasons to refuse the conversion; empty if none was found.
    public var refusals: [String]
    /// Warnings to read before converting.
    public var warnings: [String]
    /// Messages about declarations in the new store's model that have no effect, one for each kind
    /// of ``ModelRemark``.
    package var remarks: [String] = []
}

package struct EntityCount: Sendable, Hashable, Codable {
    package var name: String
    /// The number of objects, excluding subentities.
    package var count: Int

    package init(name: String, count: Int) {
        self.name = name
        self.count = count
    }
}

package struct RelationshipCount: Sendable, Hashable, Codable {
    /// The relationship that owns the links, as `Entity.name`.
    package var relationship: String
    package var count: Int

    package init(relationship: String, count: Int) {
        self.relationship = relationship
        self.count = count
    }
}

extension StoreTally {
    package func entityCounts(_ model: ManagedObjectModel) -> [EntityCount] {
        zip(model.entities, entities).filter { $1.count != 0 }
            .map { EntityCount(name: $0.name.text, count: $1.count) }
    }

    package func relationshipCounts(_ model: ManagedObjectModel) -> [RelationshipCount] {
        zip(model.relationships, relationships).filter { $1.count != 0 }
            .map { RelationshipCount(relationship: $0.name.description, count: $1.count) }
    }
}

extension ConversionPlan: CustomStringConvertible {
    /// The plan as text of several lines for users.
    public var description: String {
        var lines = ["Would convert \(source) to \(destination)."]
        lines.append("  objects   \(objects)")
        for entity in entities { lines.append("    \(entity.name)  \(entity.count)") }
        lines.append("  links     \(links.map(String.init) ?? "not counted")")
        for relationship in relationships { lines.append("    \(relationship.relationship)  \(relationship.count)") }
        let available = bytesAvailable.map { ", \(ByteCountText.text($0)) are free" } ?? ""
        lines.append("  bytes     about \(ByteCountText.text(bytesNeeded))\(available)")
        for refusal in refusals { lines.append("  refused   \(refusal)") }
        for warning in warnings { lines.append("  warning   \(warning)") }
        for remark in remarks { lines.append("  note      \(remark)") }
        return lines.joined(separator: "\n")
    }
}
