internal import Foundation

/// The results of a run, as stored in a file.
struct Results: Codable {
    var machine: Machine
    /// The commit that was measured, with `+` if tracked files had changes.
    var commit: String
    /// The number of measured rounds.
    var rounds: Int
    var operations: [OperationResult]
    /// The operations that could not be measured, with the reasons.
    var failures: [String]

    /// Returns the results as JSON with sorted keys, so that two runs can be compared as text.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}

extension Results {
    /// The maximum size of a store, as a multiple of the baseline's.
    static let diskTarget = 1.3

    /// The operations as tables, one for each baseline.
    var tables: [ResultTable] {
        operations.map(\.baselineTitle).uniqued().map { title in
            ResultTable(operations.filter { $0.baselineTitle == title }, comparedWith: title)
        }
    }

    /// The number of met targets, and a line for each kind of missed target.
    var summary: [String] {
        let withTarget = operations.filter { $0.target != nil }
        let over = withTarget.filter { $0.meetsTarget == false }.map {
            "\($0.name) \(String(format: "%.2f", $0.ratio))"
        }
        var lines = ["time within its target: \(withTarget.count - over.count) of \(withTarget.count)"]
        if !over.isEmpty { lines.append("  over: " + over.joined(separator: ", ")) }
        // Migrations are left out, because they add values and objects that the baseline lacks.
        let stores = operations.filter { $0.unit == .object && $0.baselineTitle == Operation.Baseline.c("").title }
        let large = stores.filter { ($0.diskRatio ?? 0) > Self.diskTarget }
            .map { "\($0.name) \(String(format: "%.2f", $0.diskRatio ?? 0))" }
        if !large.isEmpty {
            lines.append("more than \(Self.diskTarget) times C's bytes: " + large.joined(separator: ", "))
        }
        let hungry = operations.compactMap { operation -> String? in
            guard let peak = operation.roost.peakPrivateBytes, let target = operation.memoryTarget, peak > target else {
                return nil
            }
            return "\(operation.name) \(peak >> 20) of \(target >> 20) MiB"
        }
        if !hungry.isEmpty { lines.append("more private memory than the target: " + hungry.joined(separator: ", ")) }
        return lines
    }
}

/// One operation on both sides.
struct OperationResult: Codable {
    var name: String
    var title: String
    var unit: Operation.Unit
    var trackCount: Int
    var unitCount: Int
    /// The title of the baseline, see ``Operation/Baseline``.
    var baselineTitle: String
    var roost: SideResult
    var baseline: SideResult
    /// The maximum of ``ratio``; null without a target.
    var target: Double?
    /// The maximum private memory of Roost; null without a target.
    var memoryTarget: Int?

    /// Roost's median time relative to the baseline's.
    var ratio: Double { baseline.medianSeconds > 0 ? roost.medianSeconds / baseline.medianSeconds : 0 }
    /// The ratio of processor times, which other programs on the machine disturb less.
    var cpuRatio: Double { baseline.medianCPUSeconds > 0 ? roost.medianCPUSeconds / baseline.medianCPUSeconds : 0 }
    /// Roost's bytes on disk relative to the baseline's; nil without files.
    var diskRatio: Double? {
        guard let mine = roost.diskBytes, let other = baseline.diskBytes, other > 0 else { return nil }
        return Double(mine) / Double(other)
    }
    func nanosecondsPerUnit(_ side: Side) -> Double {
        let seconds = side == .roost ? roost.medianSeconds : baseline.medianSeconds
        return unitCount > 0 ? seconds / Double(unitCount) * 1e9 : 0
    }

    func medianCPUSeconds(_ side: Side) -> Double {
        side == .roost ? roost.medianCPUSeconds : baseline.medianCPUSeconds
    }

    var meetsTarget: Bool? { target.map { ratio <= $0 } }

    private enum CodingKeys: String, CodingKey {
        case name, title, unit, trackCount, unitCount, baselineTitle, roost, baseline, target, memoryTarget, ratio
        case cpuRatio, diskRatio
    }

    init(
        name: String, title: String, unit: Operation.Unit, trackCount: Int, unitCount: Int, baselineTitle: String,
        roost: SideResult, baseline: SideResult, target: Double?, memoryTarget: Int?
    ) {
        self.name = name
        self.title = title
        self.unit = unit
        self.trackCount = trackCount
        self.unitCount = unitCount
        self.baselineTitle = baselineTitle
        self.roost = roost
        self.baseline = baseline
        self.target = target
        self.memoryTarget = memoryTarget
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            name: values.decode(String.self, forKey: .name), title: values.decode(String.self, forKey: .title),
            unit: values.decode(Operation.Unit.self, forKey: .unit),
            trackCount: values.decode(Int.self, forKey: .trackCount),
            unitCount: values.decode(Int.self, forKey: .unitCount),
            baselineTitle: values.decode(String.self, forKey: .baselineTitle),
            roost: values.decode(SideResult.self, forKey: .roost),
            baseline: values.decode(SideResult.self, forKey: .baseline),
            target: values.decodeIfPresent(Double.self, forKey: .target),
            memoryTarget: values.decodeIfPresent(Int.self, forKey: .memoryTarget))
    }

    /// Writes the ratios too, for readers of the file.
    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encode(title, forKey: .title)
        try values.encode(unit, forKey: .unit)
        try values.encode(trackCount, forKey: .trackCount)
        try values.encode(unitCount, forKey: .unitCount)
        try values.encode(baselineTitle, forKey: .baselineTitle)
        try values.encode(roost, forKey: .roost)
        try values.encode(baseline, forKey: .baseline)
        try values.encode(target, forKey: .target)
        try values.encode(memoryTarget, forKey: .memoryTarget)
        try values.encode(ratio.rounded(toPlaces: 3), forKey: .ratio)
        try values.encode(cpuRatio.rounded(toPlaces: 3), forKey: .cpuRatio)
        try values.encode(diskRatio?.rounded(toPlaces: 3), forKey: .diskRatio)
    }
}

/// One side of an operation.
struct SideResult: Codable {
    /// The time of each round.
    var seconds: [Double]
    var cpuSeconds: [Double]
    /// The private memory that the first round added; null if the system does not report it.
    var peakPrivateBytes: Int?
    /// The size of the operation's files; null without files.
    var diskBytes: Int?

    var medianSeconds: Double { seconds.median }
    var medianCPUSeconds: Double { cpuSeconds.median }
}

extension [Double] {
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}

extension Double {
    func rounded(toPlaces places: Int) -> Double {
        let factor = (0..<places).reduce(1.0) { factor, _ in factor * 10 }
        return (self * factor).rounded() / factor
    }
}
