internal import RoostCore

/// A check that stores of a type are known to fail, and the reason.
///
/// An excluded check is still run:
///
/// - While it fails, it is reported as excluded, with the reason.
/// - Once it passes, it is reported as a failure, so that the exclusion is removed.
public struct ConformanceExclusion: Sendable, Hashable {
    package let check: String
    /// The reason why stores fail the check: a sentence for readers of the report.
    package let reason: String

    /// Excludes the check with this ID.
    ///
    /// A run fails before its first check if the ID is unknown or excluded twice, or the reason is
    /// blank.
    public init(_ check: String, because reason: String) { (self.check, self.reason) = (check, reason) }
}

extension StoreFixture {
    /// Fails unless each exclusion names a check of the suite, only once, and gives a reason.
    package func requireSoundExclusions() throws(ConformanceFailure) {
        var seen: Set<String> = []
        for exclusion in exclusions {
            func failure(_ actual: String) -> ConformanceFailure {
                ConformanceFailure(
                    check: exclusion.check, store: name,
                    expected: "an exclusion names a check of the suite, once, and gives a reason", actual: actual)
            }
            guard ConformanceCheck.named(exclusion.check) != nil else {
                let hint = nearestName(to: exclusion.check, among: ConformanceCheck.all.map(\.id))
                throw failure(
                    "unknown check '\(exclusion.check)'\(hint.map { "; did you mean '\($0)'?" } ?? "")")
            }
            guard exclusion.reason.contains(where: { !$0.isWhitespace }) else {
                throw failure("check '\(exclusion.check)' is excluded without a reason")
            }
            guard seen.insert(exclusion.check).inserted else {
                throw failure("check '\(exclusion.check)' is excluded twice")
            }
        }
    }
}
