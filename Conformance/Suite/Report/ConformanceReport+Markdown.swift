extension ConformanceReport {
    /// Returns a table with a column for each store, a row for each group of checks, and a row of
    /// totals.
    func groupTable() -> String {
        let stores = resultsByStore
        var rows: [[String]] = []
        for group in groups {
            rows.append(
                ["`\(group)`"] + stores.map { Self.cell($0.results.filter { $0.check.group == group }) })
        }
        rows.append(["all"] + stores.map { Self.cell($0.results) })
        return Self.table(["checks"] + stores.map(\.store), rows: rows)
    }

    /// Returns a table for each group with a row for each check: its behavior, and its result on
    /// each store.
    func checkTables() -> String {
        let stores = resultsByStore
        return groups.map { group in
            var rows: [[String]] = []
            var seen: Set<String> = []
            for result in results where result.check.group == group && seen.insert(result.check.id).inserted {
                let outcomes = stores.map { store in
                    store.results.first { $0.check.id == result.check.id }.map(Self.cell) ?? ""
                }
                rows.append(["`\(result.check.id)`", result.check.behavior] + outcomes)
            }
            return "## \(group)\n\n" + Self.table(["check", "behavior"] + stores.map(\.store), rows: rows)
        }.joined(separator: "\n")
    }

    private var groups: [String] {
        var groups: [String] = []
        for result in results where !groups.contains(result.check.group) { groups.append(result.check.group) }
        return groups
    }

    /// Returns a cell such as `28`, `25 + 3 opposite` or `3 opposite, 1 excluded, **2 failed**`.
    private static func cell(_ results: [ConformanceResult]) -> String {
        let counts = ConformanceCounts(results)
        var parts: [String] = []
        if counts.opposites == 0 {
            if counts.passed > 0 { parts.append("\(counts.passed)") }
        } else {
            parts.append("\(counts.passed > 0 ? "\(counts.passed) + " : "")\(counts.opposites) opposite")
        }
        if counts.excluded > 0 { parts.append("\(counts.excluded) excluded") }
        if counts.failed > 0 { parts.append("**\(counts.failed) failed**") }
        return parts.joined(separator: ", ")
    }

    private static func cell(_ result: ConformanceResult) -> String {
        switch result.outcome {
        case .passed: "✓"
        case .passedAsOpposite(let capability): "no \(capability)"
        case .excluded(let exclusion, _): "excluded: \(exclusion.reason)"
        case .failed: "**failed**"
        }
    }

    private static func table(_ names: [String], rows: [[String]]) -> String {
        func line(_ cells: [String]) -> String { "| \(cells.map(escaped).joined(separator: " | ")) |\n" }
        return line(names) + line(names.map { _ in "---" }) + rows.map(line).joined()
    }

    /// Returns a text on one line, with `|` escaped.
    private static func escaped(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ").replacing("|", with: "\\|")
    }
}
