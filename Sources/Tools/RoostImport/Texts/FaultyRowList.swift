internal import RoostCore
internal import RoostSystem

/// The rows that cannot be taken: the first one ends an import, or all are left out and counted.
package final class FaultyRowList: Sendable {
    private let faultyRows: TextImportOptions.FaultyRows
    private let report: @Sendable (String) -> Void
    private let number = Mutex(0)

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - faultyRows: The treatment of a row.
    ///   - report: Takes a message for each row, with its place, where rows are reported.
    package init(_ faultyRows: TextImportOptions.FaultyRows, report: @escaping @Sendable (String) -> Void) {
        (self.faultyRows, self.report) = (faultyRows, report)
    }

    /// The number of rows.
    package var count: Int { number.withLock { $0 } }

    /// A sentence about the rows that were left out, or nil without any.
    var summary: String? { count == 0 ? nil : "\(count) \(count == 1 ? "row was" : "rows were") left out." }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - problem: The reason.
    ///   - line: The line of the row.
    ///   - name: The name of the text.
    /// - Throws: `invalidValue` if the first row ends the import.
    func add(_ problem: String, line: Int, of name: String) throws(StoreError) {
        try look(problem, line: line, of: name)
        number.withLock { $0 += 1 }
        if faultyRows == .report { report(Self.message(problem, line: line, name: name)) }
    }

    /// Looks at a row that ``add(_:line:of:)`` gets when the text is read once more.
    ///
    /// - Parameters:
    ///   - problem: The reason.
    ///   - line: The line of the row.
    ///   - name: The name of the text.
    /// - Throws: `invalidValue` if the first row ends the import.
    func look(_ problem: String, line: Int, of name: String) throws(StoreError) {
        guard faultyRows == .stop else { return }
        throw StoreError(.invalidValue, Self.message(problem, line: line, name: name))
    }

    private static func message(_ problem: String, line: Int, name: String) -> String {
        "'\(name)', line \(line): \(problem)"
    }
}
