/// The candidate that a mistyped name most likely meant; nil when none is near.
///
/// Near means an edit distance of at most a third of the name's length, or equality without regard to case.
public func nearestName(to name: String, among candidates: [String]) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars)
    // A hostile name of a megabyte must not cost a megabyte squared.
    guard wanted.count <= 100 else { return nil }
    var best: (name: String, distance: Int)?
    for candidate in candidates where candidate.unicodeScalars.count <= 100 {
        let distance = editDistance(wanted, Array(candidate.lowercased().unicodeScalars))
        guard distance <= max(1, wanted.count / 3) else { continue }
        if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
    }
    return best?.name
}

/// The number of insertions, deletions, replacements and exchanges of neighbours that turn `left` into `right`.
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (i, a) in left.enumerated() {
        var row = [i + 1]
        row.reserveCapacity(last.count)
        for (j, b) in right.enumerated() {
            var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a == b ? 0 : 1))
            if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { best = min(best, beforeLast[j - 1] + 1) }
            row.append(best)
        }
        (beforeLast, last) = (last, row)
    }
    return last[right.count]
}
