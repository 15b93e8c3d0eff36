internal import Foundation
internal import RoostCore

/// The result of a conversion.
///
/// As JSON: `source` and `destination` (URLs), `objects`, `links`, `digest` (text, see
/// ``StoreDigest``), `verified`, `seconds`, `bytes` (of the destination), `peakPrivateBytes` (null
/// where the system does not report it), `entities` (`[{"name","count"}]`), `relationships`
/// (`[{"relationship","count"}]`), `skipped` (IDs of damaged objects that were left out),
/// `dangling` (`[{"relationship","count"}]`, references and links to those), `warnings` and
/// `remarks` (messages). Later versions may add fields.
///
/// ```swift
/// let report = try store.convert(to: .lmdb("music.lmdb"))
/// print("copied \(report.objects) objects and \(report.links) links in \(report.seconds) s")
/// for warning in report.warnings { print(warning) }
/// ```
public struct ConversionReport: Sendable, Hashable, Codable {
    /// The URL of the source.
    package var source: String
    /// The URL of the destination.
    package var destination: String
    /// The number of objects in the destination.
    public var objects: Int
    /// The number of links in the destination.
    public var links: Int
    /// The content of the destination in one value; equal for every store with the same content.
    public var digest: String
    /// Whether the finished destination was read again and holds exactly what was read from the
    /// source.
    public var verified: Bool
    /// The duration in seconds.
    public var seconds: Double
    /// The bytes of the destination.
    public var bytes: Int
    /// The peak of the process's private memory, in bytes; nil if the system does not report it.
    package var peakPrivateBytes: Int?
    /// The objects of each entity that has some, not counting those of subentities.
    package var entities: [EntityCount]
    /// The links of each relationship that has some.
    package var relationships: [RelationshipCount]
    /// The damaged objects that were left out, as `Entity/p<key>`.
    public var skipped: [String]
    /// For each relationship, the references and links to objects that were left out.
    ///
    /// Those to damaged objects are dangling in the destination; those out of a dump of some
    /// entities were left out too.
    package var dangling: [RelationshipCount]
    /// Warnings about the conversion.
    public var warnings: [String]
    /// The declarations of the new store's model that no store acts on, one line for each kind
    /// (``ModelRemark``).
    package var remarks: [String] = []

    private enum CodingKeys: String, CodingKey {
        case source, destination, objects, links, digest, verified, seconds, bytes, peakPrivateBytes, entities
        case relationships, skipped, dangling, warnings, remarks
    }

    /// Writes every field, `peakPrivateBytes` as null where it is not known.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(source, forKey: .source)
        try container.encode(destination, forKey: .destination)
        try container.encode(objects, forKey: .objects)
        try container.encode(links, forKey: .links)
        try container.encode(digest, forKey: .digest)
        try container.encode(verified, forKey: .verified)
        try container.encode(seconds, forKey: .seconds)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(peakPrivateBytes, forKey: .peakPrivateBytes)
        try container.encode(entities, forKey: .entities)
        try container.encode(relationships, forKey: .relationships)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(dangling, forKey: .dangling)
        try container.encode(warnings, forKey: .warnings)
        try container.encode(remarks, forKey: .remarks)
    }
}

extension ConversionReport: CustomStringConvertible {
    /// The report for people, several lines.
    public var description: String {
        var lines = ["Converted \(source) to \(destination)."]
        lines.append("  objects   \(objects)")
        for entity in entities { lines.append("    \(entity.name)  \(entity.count)") }
        lines.append("  links     \(links)")
        for relationship in relationships { lines.append("    \(relationship.relationship)  \(relationship.count)") }
        lines.append(
            "  digest    \(digest), \(verified ? "verified by reading the destination again" : "not verified")")
        lines.append("  bytes     \(ByteCountText.text(bytes))")
        lines.append("  seconds   \(String(format: "%.2f", seconds))")
        if let peakPrivateBytes { lines.append("  memory    at most \(ByteCountText.text(peakPrivateBytes))") }
        if !skipped.isEmpty {
            lines.append("  left out  \(skipped.count) damaged objects:")
            for id in skipped { lines.append("    \(id)") }
            for entry in dangling {
                lines.append("    \(entry.count) dangling references by '\(entry.relationship)'")
            }
        }
        if skipped.isEmpty {
            for entry in dangling {
                lines.append(
                    "  left out  \(entry.count) references by '\(entry.relationship)' to missing objects")
            }
        }
        for warning in warnings { lines.append("  warning   \(warning)") }
        for remark in remarks { lines.append("  note      \(remark)") }
        return lines.joined(separator: "\n")
    }
}
