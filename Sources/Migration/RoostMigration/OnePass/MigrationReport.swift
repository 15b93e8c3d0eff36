internal import Foundation
internal import RoostCore

/// The result of a migration.
///
/// As JSON: `source` and `destination` (URLs), `path` (see `MigrationPath`), `mappings`
/// (`[{"name","type","source","destination","read","made"}]`), `objects`, `links`, `relationships`
/// (`[{"relationship","count"}]`), `sourceDigest` (null if the source records none),
/// `mappedDigest`, `destinationDigest` (texts, see ``StoreDigest``), `verified`, `seconds`, `bytes`
/// (of the destination), `peakPrivateBytes` (null if the system does not report it), `skipped` (IDs
/// of skipped damaged objects), `losses`, `warnings` and `remarks` (messages), `steps` (reports of
/// this form, whose `source` and `destination` are version names; empty for a single step),
/// `backup` (a path or URL, null without a backup), `lossCounts` (see ``MigrationLoss``), `way` (a
/// text, null if nothing was done). Later versions may add fields.
///
/// ```swift
/// let report = try MigrationManager().migrateInPlace(
///     .sqlite("music.sqlite"), model: model,
///     options: MigrationOptions().with { $0.keepsBackup = true })
/// print("migrated \(report.objects) objects in \(report.seconds) s")
/// if let backup = report.backup { print("the old store is in \(backup)") }
/// ```
public struct MigrationReport: Sendable, Hashable, Codable {
    /// The result for the objects of one entity mapping.
    package struct Mapping: Sendable, Hashable, Codable {
        package var name: String
        /// The type of the mapping, see ``EntityMapping/MappingType``.
        package var type: String
        /// The source entity, or nil, as for type `add`.
        package var source: String?
        /// The destination entity, or nil, as for type `remove`.
        package var destination: String?
        /// The number of source objects, or nil if unknown.
        package var read: Int?
        package var made: Int
    }

    /// The URL of the source.
    package var source: String
    /// The URL of the destination.
    package var destination: String
    package var path: MigrationPath
    /// The results of the entity mappings, in the order of the mapping model.
    package var mappings: [Mapping]
    /// The number of objects in the destination.
    public var objects: Int
    /// The number of links in the destination.
    public var links: Int
    /// The number of links of each destination relationship that owns links.
    package var relationships: [RelationshipCount]
    /// The digest that the source recorded at its last commit, or nil if it records none.
    package var sourceDigest: String?
    /// The digest of the content that the mapping created.
    package var mappedDigest: String
    /// The digest of the finished destination.
    ///
    /// A difference from ``mappedDigest`` makes the migration fail.
    package var destinationDigest: String
    /// Whether `destinationDigest` was computed by reading the finished destination again.
    public var verified: Bool
    /// The duration in seconds.
    public var seconds: Double
    /// The size of the destination, in bytes.
    public var bytes: Int
    /// The peak of the process's private memory, in bytes; nil if the system does not report it.
    package var peakPrivateBytes: Int?
    /// The damaged objects that were skipped, as `Entity/p<key>`.
    public var skipped: [String]
    /// Data of the source that is not in the destination, with counts.
    public var losses: [String]
    /// The losses that were counted before any write, for all steps together.
    package var lossCounts: [MigrationLoss] = []
    /// The way to the new model, see ``MigrationPlan/way``; nil if nothing was done.
    package var way: String?
    /// Warnings about the migration.
    public var warnings: [String]
    /// The declarations without effect in the new store's model, one line for each kind
    /// (``ModelRemark``).
    package var remarks: [String] = []
    /// The reports of the steps through several versions; empty for a single step.
    package var steps: [MigrationReport] = []
    /// The path or URL of the old store that an in-place migration retained, or nil.
    public var backup: String?

    private enum CodingKeys: String, CodingKey {
        case source, destination, path, mappings, objects, links, relationships, sourceDigest, mappedDigest
        case destinationDigest, verified, seconds, bytes, peakPrivateBytes, skipped, losses, warnings
        case remarks, steps, backup, lossCounts, way
    }

    /// Encodes every field, with null for nil.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(source, forKey: .source)
        try container.encode(destination, forKey: .destination)
        try container.encode(path, forKey: .path)
        try container.encode(mappings, forKey: .mappings)
        try container.encode(objects, forKey: .objects)
        try container.encode(links, forKey: .links)
        try container.encode(relationships, forKey: .relationships)
        try container.encode(sourceDigest, forKey: .sourceDigest)
        try container.encode(mappedDigest, forKey: .mappedDigest)
        try container.encode(destinationDigest, forKey: .destinationDigest)
        try container.encode(verified, forKey: .verified)
        try container.encode(seconds, forKey: .seconds)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(peakPrivateBytes, forKey: .peakPrivateBytes)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(losses, forKey: .losses)
        try container.encode(warnings, forKey: .warnings)
        try container.encode(remarks, forKey: .remarks)
        try container.encode(steps, forKey: .steps)
        try container.encode(backup, forKey: .backup)
        try container.encode(lossCounts, forKey: .lossCounts)
        try container.encode(way, forKey: .way)
    }
}

extension MigrationReport: CustomStringConvertible {
    /// The report as text of several lines for users.
    public var description: String {
        if path == .nothing {
            return
                (["\(destination) has the model already; nothing was done."]
                + warnings.map { "  warning   \($0)" }).joined(separator: "\n")
        }
        var lines = ["Migrated \(source)\(source == destination ? " in place" : " to \(destination)")."]
        for loss in losses { lines.append("  lost      \(loss)") }
        if let way { lines.append("  way       \(way)") }
        lines.append("  path      \(path.explanation)")
        for mapping in mappings { lines.append("    \(mapping)") }
        for step in steps {
            lines.append("  step      \(step.source) to \(step.destination), \(step.path.explanation)")
            for mapping in step.mappings { lines.append("    \(mapping)") }
        }
        lines.append("  objects   \(objects)")
        lines.append("  links     \(links)")
        for relationship in relationships { lines.append("    \(relationship.relationship)  \(relationship.count)") }
        lines.append("  digests   source \(sourceDigest ?? "not recorded")")
        lines.append("            mapped \(mappedDigest)")
        lines.append(
            "            destination \(destinationDigest), \(verified ? "verified by reading it again" : "not verified")"
        )
        lines.append("  bytes     \(ByteCountText.text(bytes))")
        lines.append("  seconds   \(String(format: "%.2f", seconds))")
        if let peakPrivateBytes { lines.append("  memory    at most \(ByteCountText.text(peakPrivateBytes))") }
        if !skipped.isEmpty { lines.append("  left out  \(skipped.count) damaged objects:") }
        for id in skipped { lines.append("    \(id)") }
        if let backup { lines.append("  backup    \(backup)") }
        for warning in warnings { lines.append("  warning   \(warning)") }
        for remark in remarks { lines.append("  note      \(remark)") }
        return lines.joined(separator: "\n")
    }
}

extension MigrationReport.Mapping: CustomStringConvertible {
    package var description: String {
        let counts = read.map { $0 == made ? "\(made)" : "\($0) read, \(made) made" } ?? "\(made)"
        switch (source, destination) {
        case (let source?, let destination?): return "\(name) (\(type))  \(source) to \(destination)  \(counts)"
        case (let source?, nil): return "\(name) (\(type))  \(source), dropped\(read.map { "  \($0)" } ?? "")"
        case (nil, let destination?): return "\(name) (\(type))  \(destination), new  \(made)"
        case (nil, nil): return "\(name) (\(type))"
        }
    }
}

extension MigrationPath {
    var explanation: String {
        switch self {
        case .nothing: "nothing to do, the store has the model"
        case .onePass: "one pass"
        case .oneTransaction: "one transaction in the store itself; unchanged content is not written"
        case .threePasses: "three passes"
        }
    }
}
