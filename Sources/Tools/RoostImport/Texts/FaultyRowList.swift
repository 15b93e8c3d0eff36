internal import RoostCore
internal import RoostSystem

/// The invalid rows of an import.
///
/// Either the first invalid row ends the import, or all invalid rows are left out and counted.
package final class FaultyRowList: Sendable {
    private let faultyRows: TextImportOptions.FaultyRows
    private let report: @Sendable (String) -> Void
    private let number = Mutex(0)

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - faultyRows: The treatment of invalid rows.
    ///   - report: Receives a message with the place of each invalid row, if rows are reported.
    package init(_ faultyRows: TextImportOptions.FaultyRows, report: @escaping @Sendable (String) -> Void) {
        (self.faultyRows, self.report) = (faultyRows, report)
    }

    /// The number of invalid rows.
    package var count: Int { number.withLock { $0 } }

    /// A sentence about the rows that were left out, or nil.
    var summary: String? { count == 0 ? nil : "\(count) \(count == 1 ? "row was" : "rows were") left out." }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - problem: The reason.
    ///   - line: The line of the row.
    ///   - name: The name of the text.
    /// - Throws: `invalidValue` if the first invalid row ends the import.
    func add(_ problem: String, line: Int, of name: String) throws(StoreError) {
        try look(problem, line: line, of: name)
        number.withLock { $0 += 1 }
        if faultyRows == .report { report(Self.message(problem, line: line, name: name)) }
    }

    /// Throws for an invalid row in a first pass, if such a row ends the import.
    ///
    /// The row is not counted, because ``add(_:line:of:)`` receives it when the text is read again.
    ///
    /// - Parameters:
    ///   - problem: The reason.
    ///   - line: The line of the row.
    ///   - name: The name of the text.
    /// - Throws: `invalidValue` if the first invalid row ends the import.
    func look(_ problem: String, line: Int, of name: String) throws(StoreError) {
        guard faultyRows == .stop else { return }
        throw StoreError(.invalidValue, Self.message(problem, line: line, name: name))
    }

    private static func message(_ problem: String, line: Int, name: String) -> String {
        "'\(name)', line \(line): \(problem)"
    }
}
