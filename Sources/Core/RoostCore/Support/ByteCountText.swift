package enum ByteCountText {
    private static let units = ["kB", "MB", "GB", "TB", "PB", "EB"]

    /// Returns the exact number and, from 1000 on, a rounded one: `1318912 (1.3 MB)`.
    package static func text(_ count: Int) -> String {
        guard abs(count) >= 1000 else { return "\(count)" }
        var value = Double(count) / 1000
        var unit = 0
        // Values that round to 1000 use the next unit.
        while abs(value) >= 999.95, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return "\(count) (\(tenths / 10).\(abs(tenths % 10)) \(units[unit]))"
    }
}
