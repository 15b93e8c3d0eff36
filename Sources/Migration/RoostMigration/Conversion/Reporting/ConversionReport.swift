internal import Foundation
internal import RoostCore

/// The result of a conversion.
///
/// As JSON: `source` (URL or name), `destination` (URL), `objects`, `links`, `digest` (text, see
/// ``StoreDigest``), `verified`, `seconds`, `bytes` (of the destination), `peakPrivateBytes` (null
/// if the system does not report it), `entities` (`[{"name","count"}]`), `relationships`
/// (`[{"relationship","count"}]`), `skipped` (IDs of skipped damaged objects), `dangling`
/// (`[{"relationship","count"}]`, references and links to objects that were left out), `warnings`
/// and `remarks` (messages). Later versions may add fields.
///
/// ```swift
/// let report = try store.convert(to: .lmdb("music.lmdb"))
/// print("copied \(report.objects) objects and \(report.links) links in \(report.seconds) s")
/// for warning in report.warnings { print(warning) }
/// ```
public struct ConversionReport: Sendable, Hashable, Codable {
    package var source: String
    package var destination: String
    /// The number of objects in the destination.
    public var objects: Int
    /// The number of links in the destination.
    public var links: Int
    /// A digest of the destination's content, which is equal for all stores with the same content.
    public var digest: String
    /// Whether the finished destination was read again and had exactly the content read from the
    /// source.
    public var verified: Bool
    /// The duration in seconds.
    public var seconds: Double
    /// The size of the destination, in bytes.
    public var bytes: Int
    package var peakPrivateBytes: Int?
    package var entities: [EntityCount]
    package var relationships: [RelationshipCount]
    /// The damaged objects that were skipped, as `Entity/p<key>`.
    public var skipped: [String]
    /// The number of references and links to left-out objects, by relationship.
    ///
    /// References to damaged objects are dangling in the destination. References to objects outside
    /// a partial dump were removed.
    package var dangling: [RelationshipCount]
    /// Warnings about the conversion.
    public var warnings: [String]
    package var remarks: [String] = []

    private enum CodingKeys: String, CodingKey {
        case source, destination, objects, links, digest, verified, seconds, bytes, peakPrivateBytes, entities
        case relationships, skipped, dangling, warnings, remarks
    }

    /// Encodes every field, with null for nil.
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
    /// The report as text of several lines for users.
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
