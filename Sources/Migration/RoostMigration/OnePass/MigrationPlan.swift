internal import Foundation
internal import RoostCore

/// A forecast of a migration, made without writing anything.
///
/// As JSON: `source` and `destination` (URLs), `path` (see `MigrationPath`), `mappings`
/// (`[{"name","type","source","destination","objects","steps"}]`), `objects` (of the destination;
/// null for three passes or several steps), `links` (of the source; null for several steps, or if
/// the source records no count), `losses` (messages), `bytesNeeded` and `secondsNeeded`
/// (estimates), `bytesAvailable` (null if unknown, or if no file is created), `refusals`,
/// `warnings` and `remarks` (messages), `steps`
/// (`[{"source","destination","label","isInferred","mappings","losses"}]`, empty for a single
/// step), `lossCounts` (see ``MigrationLoss``), `way` (a text, null if no migration is needed).
/// Later versions may add fields.
///
/// ```swift
/// let plan = try MigrationManager().planMigrationInPlace(.sqlite("music.sqlite"), model: model)
/// for loss in plan.losses { print("would lose: \(loss)") }
/// for refusal in plan.refusals { print("cannot migrate: \(refusal)") }
/// if plan.refusals.isEmpty { print("takes about \(Int(plan.secondsNeeded)) s") }
/// ```
public struct MigrationPlan: Sendable, Hashable, Codable {
    /// The forecast for the objects of one entity mapping.
    package struct Mapping: Sendable, Hashable, Codable {
        package var name: String
        /// The type of the mapping, see ``EntityMapping/MappingType``.
        package var type: String
        /// The source entity, or nil, as for type `add`.
        package var source: String?
        /// The destination entity, or nil, as for type `remove`.
        package var destination: String?
        /// The number of source objects.
        package var objects: Int
        /// The changes to properties, one sentence each; empty if objects are copied unchanged.
        package var steps: [String]
    }

    /// One step of a migration through several versions.
    package struct Step: Sendable, Hashable, Codable {
        /// The name of the version before the step.
        package var source: String
        /// The name of the version after the step.
        package var destination: String
        /// The name of the stage, or nil outside a staged migration.
        package var label: String?
        package var isInferred: Bool
        /// The entity mappings, one line each.
        package var mappings: [String]
        package var losses: [String]
    }

    /// The URL of the source.
    package var source: String
    /// The URL of the destination.
    package var destination: String
    package var path: MigrationPath
    /// The forecasts for the entity mappings, in the order of the mapping model.
    package var mappings: [Mapping]
    /// The number of objects in the destination; nil for three passes or several steps, because
    /// only the migration can count them.
    public var objects: Int?
    /// The number of links in the source; nil for several steps, or if the source records no count.
    package var links: Int?
    /// The data of the source that the migration would drop.
    ///
    /// Each message contains a count of existing data, or says that the loss is not yet counted.
    public var losses: [String]
    /// The counted losses, without losses that ``losses`` marks as not yet counted.
    package var lossCounts: [MigrationLoss] = []
    /// The way to the new model, as text for users; nil if no migration is needed.
    package var way: String?
    /// The free disk space that the destination and temporary files require, in bytes.
    public var bytesNeeded: Int
    /// The free disk space for the destination, in bytes; nil if unknown, or if no file is created.
    package var bytesAvailable: Int?
    /// The expected duration in seconds.
    ///
    /// The estimate is accurate within a small factor. The time of policies and stages is not
    /// included.
    public var secondsNeeded: Double
    /// The reasons why the migration would certainly be refused or fail.
    ///
    /// Converted or computed values, new uniqueness constraints and numbers of destinations are
    /// checked for all objects. An empty list does not guarantee success: policies and stage code
    /// are not executed, and only the first step is checked.
    public var refusals: [String]
    /// Warnings to read before migrating.
    public var warnings: [String]
    /// The declarations without effect in the new store's model, one line for each kind
    /// (``ModelRemark``).
    package var remarks: [String] = []
    /// The steps through several versions; empty for a single step.
    ///
    /// With several steps, ``mappings`` describes only the first step, because only its objects can
    /// be counted.
    package var steps: [Step] = []

    private enum CodingKeys: String, CodingKey {
        case source, destination, path, mappings, objects, links, losses, bytesNeeded, bytesAvailable, secondsNeeded
        case refusals, warnings, remarks, steps, lossCounts, way
    }
}

extension MigrationPlan {
    /// Encodes every field, with null for nil.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(source, forKey: .source)
        try container.encode(destination, forKey: .destination)
        try container.encode(path, forKey: .path)
        try container.encode(mappings, forKey: .mappings)
        try container.encode(objects, forKey: .objects)
        try container.encode(links, forKey: .links)
        try container.encode(losses, forKey: .losses)
        try container.encode(bytesNeeded, forKey: .bytesNeeded)
        try container.encode(bytesAvailable, forKey: .bytesAvailable)
        try container.encode(secondsNeeded, forKey: .secondsNeeded)
        try container.encode(refusals, forKey: .refusals)
        try container.encode(warnings, forKey: .warnings)
        try container.encode(remarks, forKey: .remarks)
        try container.encode(steps, forKey: .steps)
        try container.encode(lossCounts, forKey: .lossCounts)
        try container.encode(way, forKey: .way)
    }
}

extension MigrationPlan {
    /// Multiplies the required space by 2 and by `part`, a fraction from 0 to 1.
    mutating func needsTwice(_ part: Double) {
        bytesNeeded = Int(exactly: (2 * Double(bytesNeeded) * part).rounded(.up)) ?? .max
    }
}

extension MigrationPlan: CustomStringConvertible {
    /// The plan as text of several lines for users.
    public var description: String {
        if path == .nothing {
            return
                (["\(destination) has the model already; there is nothing to do."]
                + warnings.map { "  warning   \($0)" }).joined(separator: "\n")
        }
        var lines = ["Would migrate \(source)\(source == destination ? " in place" : " to \(destination)")."]
        for loss in losses { lines.append("  loses     \(loss)") }
        if let way { lines.append("  way       \(way)") }
        for step in steps { lines += step.lines }
        lines.append("  path      \(path.explanation)")
        for mapping in mappings {
            lines.append("    \(mapping)")
            for step in mapping.steps { lines.append("      \(step)") }
        }
        lines.append("  objects   \(objects.map(String.init) ?? "unknown until the migration runs")")
        lines.append("  links     \(links.map { "\($0) in the source" } ?? "not counted")")
        let available = bytesAvailable.map { ", \(ByteCountText.text($0)) are free" } ?? ""
        lines.append("  bytes     about \(ByteCountText.text(bytesNeeded))\(available)")
        lines.append("  seconds   roughly \(String(format: secondsNeeded < 10 ? "%.1f" : "%.0f", secondsNeeded))")
        for refusal in refusals { lines.append("  refused   \(refusal)") }
        for warning in warnings { lines.append("  warning   \(warning)") }
        for remark in remarks { lines.append("  note      \(remark)") }
        return lines.joined(separator: "\n")
    }
}

extension MigrationPlan.Step {
    fileprivate var lines: [String] {
        let what = [label, isInferred ? "inferred" : "by a mapping model"].compactMap { $0 }.joined(separator: ", ")
        return ["  step      \(source) to \(destination) (\(what))"]
            + mappings.map { "    \($0)" }
    }
}

extension MigrationPlan.Mapping: CustomStringConvertible {
    package var description: String {
        switch (source, destination) {
        case (let source?, let destination?): "\(name) (\(type))  \(source) to \(destination)  \(objects)"
        case (let source?, nil): "\(name) (\(type))  \(source), dropped  \(objects)"
        case (nil, let destination?): "\(name) (\(type))  \(destination), new"
        case (nil, nil): "\(name) (\(type))"
        }
    }
}
