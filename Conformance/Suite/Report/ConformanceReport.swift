/// A report of the results of a run in one of several formats.
///
/// Call ``beginning(checkCount:)``, then ``add(_:)`` for each result, then ``ending()``, and write
/// the returned texts. JUnit and Markdown need all results, so they are written at the end.
package struct ConformanceReport: Sendable {
    package enum Format: String, CaseIterable, Sendable {
        /// Text for people: a line for each check, more for a failure, and the counts of each
        /// store.
        case text
        /// Version 13 of the Test Anything Protocol.
        case tap
        /// XML that continuous-integration servers read, with a test suite for each store.
        case junit
        /// A table of the groups of checks, or of all checks, with a column for each store.
        case markdown
    }

    package enum Detail: Sendable {
        /// Only failures in text; the other formats require every result.
        case failures
        case usual
        /// All details: in text the behavior and duration of each check, in Markdown a row for each
        /// check instead of each group.
        case everything
    }

    package let format: Format
    package let detail: Detail
    package private(set) var results: [ConformanceResult] = []

    package init(_ format: Format, detail: Detail = .usual) { (self.format, self.detail) = (format, detail) }

    /// Returns the complete lines that precede `checkCount` results, if any.
    package func beginning(checkCount: Int) -> String {
        format == .tap ? "TAP version 13\n1..\(checkCount)\n" : ""
    }

    /// Adds a result and returns the complete lines that can be written now, if any.
    package mutating func add(_ result: ConformanceResult) -> String {
        results.append(result)
        return switch format {
        case .text: text(result)
        case .tap: tap(result, number: results.count)
        case .junit, .markdown: ""
        }
    }

    /// Returns the complete lines that follow the results, if any.
    ///
    /// After an interruption, TAP bails out, JUnit has a suite with an error, Markdown has a note,
    /// and text has the counts of the checks that ran.
    package func ending(isInterrupted: Bool = false) -> String {
        switch format {
        case .text: textSummary()
        case .tap: isInterrupted ? tapBailOut() : ""
        case .junit: junit(isInterrupted: isInterrupted)
        case .markdown:
            (detail == .everything ? checkTables() : groupTable())
                + (isInterrupted ? "\n**\(Self.interruption)**\n" : "")
        }
    }

    static let interruption = "Interrupted: not all checks were made."

    /// The results of each store, in order.
    var resultsByStore: [(store: String, results: [ConformanceResult])] {
        var stores: [(store: String, results: [ConformanceResult])] = []
        for result in results {
            if let index = stores.lastIndex(where: { $0.store == result.store }) {
                stores[index].results.append(result)
            } else {
                stores.append((result.store, [result]))
            }
        }
        return stores
    }
}
