internal import RoostCore
internal import RoostSystem

/// The invalid rows of an import, which are left out or end the import.
package final class FaultyRowList: Sendable {
    private let faultyRows: TextImportOptions.FaultyRows
    private let report: @Sendable (String) -> Void
    private let number = Mutex(0)

    /// Creates an empty list.
    ///
    /// If rows are reported, `report` receives a message with the place of each invalid row.
    package init(_ faultyRows: TextImportOptions.FaultyRows, report: @escaping @Sendable (String) -> Void) {
        (self.faultyRows, self.report) = (faultyRows, report)
    }

    package var count: Int { number.withLock { $0 } }

    /// A sentence about the rows that were left out, or nil.
    var summary: String? { count == 0 ? nil : "\(count) \(count == 1 ? "row was" : "rows were") left out." }

    /// Counts a row, or throws `invalidValue` if the first invalid row ends the import.
    func add(_ problem: String, line: Int, of name: String) throws(StoreError) {
        try look(problem, line: line, of: name)
        number.withLock { $0 += 1 }
        if faultyRows == .report { report(Self.message(problem, line: line, name: name)) }
    }

    /// Throws `invalidValue` for an invalid row in a first pass, if such a row ends the import.
    ///
    /// The row is not counted, because ``add(_:line:of:)`` receives the row in the second pass.
    func look(_ problem: String, line: Int, of name: String) throws(StoreError) {
        guard faultyRows == .stop else { return }
        throw StoreError(.invalidValue, Self.message(problem, line: line, name: name))
    }

    private static func message(_ problem: String, line: Int, name: String) -> String {
        "'\(name)', line \(line): \(problem)"
    }
}
