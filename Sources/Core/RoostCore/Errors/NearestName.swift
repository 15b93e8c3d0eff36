/// Returns the candidate most similar to a mistyped name; nil if none is similar.
package func nearestName(to name: String, among candidates: [String]) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars)
    // The cost is quadratic, and a hostile file can contain very long names.
    guard wanted.count <= 100 else { return nil }
    var best: (name: String, distance: Int)?
    for candidate in candidates where candidate.unicodeScalars.count <= 100 {
        let distance = editDistance(wanted, Array(candidate.lowercased().unicodeScalars))
        guard distance <= max(1, wanted.count / 3) else { continue }
        if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
    }
    return best?.name
}

/// Returns a list for a message: all names, or the first 20 and the number of the rest.
package func listed(_ names: [String]) -> String {
    let limit = 20
    guard names.count > limit + 1 else { return names.joined(separator: ", ") }
    return "\(names.prefix(limit).joined(separator: ", ")) and \(names.count - limit) more"
}

/// Returns the smallest number of edits that turn one text into the other.
///
/// An edit inserts, deletes or replaces a character, or exchanges two adjacent characters.
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var (before, row) = ([Int](), Array(0...right.count))
    for (i, a) in left.enumerated() {
        var next = [i + 1]
        next.reserveCapacity(row.count)
        for (j, b) in right.enumerated() {
            var distance = min(row[j] + (a == b ? 0 : 1), row[j + 1] + 1, next[j] + 1)
            if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { distance = min(distance, before[j - 1] + 1) }
            next.append(distance)
        }
        (before, row) = (row, next)
    }
    return row[right.count]
}
