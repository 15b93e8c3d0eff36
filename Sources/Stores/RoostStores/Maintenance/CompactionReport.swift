internal import Foundation
internal import RoostCore

/// The result of a compaction.
///
/// The JSON form has `store` (URL), `bytesBefore`, `bytesAfter`, `objects`, `links`, `digest`
/// (text), `inPlace` (whether the file was not replaced), `seconds`, `warnings` (messages). Later
/// versions may add fields.
///
/// ```swift
/// let report = try store.compact()
/// print("\(report.bytesBefore - report.bytesAfter) bytes saved")
/// for warning in report.warnings { print(warning) }
/// ```
public struct CompactionReport: Sendable, Hashable, Codable {
    package var store: String
    /// The size of the store and its log before the compaction, in bytes.
    public var bytesBefore: Int
    /// The size of the store and its log after the compaction, in bytes.
    public var bytesAfter: Int
    package var objects: Int
    package var links: Int
    /// The verified digest of the store's content.
    package var digest: String
    /// Whether the store was compacted in place, because it was open elsewhere or its file has
    /// tables or indexes of other programs.
    public var inPlace: Bool
    package var seconds: Double
    /// Messages about problems that did not stop the compaction.
    public var warnings: [String]
}

extension CompactionReport: CustomStringConvertible {
    /// The report for people, in several lines.
    public var description: String {
        let share = bytesBefore > 0 ? ", \(Int((Double(bytesAfter) / Double(bytesBefore) * 100).rounded())) %" : ""
        var lines = ["Compacted \(store)\(inPlace ? " in place" : "")."]
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
