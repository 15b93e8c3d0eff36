internal import Foundation
internal import RoostCore

/// What a compaction did.
///
/// As JSON: `store` (URL), `bytesBefore`, `bytesAfter`, `objects`, `links`, `digest` (text), `inPlace` (whether others had the store
/// open), `seconds`, `warnings` (messages). Later versions may add fields.
///
/// ```swift
/// let report = try store.compact()
/// print("\(report.bytesBefore - report.bytesAfter) bytes saved")
/// for warning in report.warnings { print(warning) }
/// ```
public struct CompactionReport: Sendable, Hashable, Codable {
    /// The URL of the store.
    package var store: String
    /// The bytes of the store and its log before.
    public var bytesBefore: Int
    /// The bytes of the store and its log now.
    public var bytesAfter: Int
    /// How many objects the store has.
    package var objects: Int
    /// How many links the store has.
    package var links: Int
    /// The content of the store in one value, which was compared.
    package var digest: String
    /// Whether the store was compacted in place, because somebody else had it open.
    public var inPlace: Bool
    /// How long it took.
    package var seconds: Double
    /// What should be known.
    public var warnings: [String]
}

extension CompactionReport: CustomStringConvertible {
    /// The report for people, several lines.
    public var description: String {
        let share = bytesBefore > 0 ? ", \(Int((Double(bytesAfter) / Double(bytesBefore) * 100).rounded())) %" : ""
        var lines = ["Compacted \(store)\(inPlace ? ", while others had it open" : "")."]
        lines.append("  before    \(ByteCountText.text(bytesBefore))")
        lines.append("  after     \(ByteCountText.text(bytesAfter))\(share)")
        lines.append("  objects   \(objects)")
        lines.append("  links     \(links)")
        lines.append("  digest    \(digest), verified")
        lines.append("  seconds   \(String(format: "%.2f", seconds))")
        for warning in warnings { lines.append("  warning   \(warning)") }
        return lines.joined(separator: "\n")
    }
}
