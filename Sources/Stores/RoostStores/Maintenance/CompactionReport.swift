internal import Foundation
internal import RoostCore

/// The result of a compaction.
///
/// As JSON: `store` (URL), `bytesBefore`, `bytesAfter`, `objects`, `links`, `digest` (text),
/// `inPlace` (whether others had the store open), `seconds`, `warnings` (messages). Later versions
/// may add fields.
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
    /// The number of objects in the store.
    package var objects: Int
    /// The number of links in the store.
    package var links: Int
    /// The content of the store in one value, which was compared.
    package var digest: String
    /// Whether the store was compacted in place, because it was open elsewhere.
    public var inPlace: Bool
    /// The duration of the compaction.
    package var seconds: Double
    /// Messages about problems that did not stop the compaction.
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
