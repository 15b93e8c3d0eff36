public import RoostCore

/// A reusable buffer of rows with the same columns.
///
/// ```swift
/// let request = RowRequest(FetchRequest("Track"), propertiesToFetch: ["title", "album.title"])
/// let cursor = try snapshot.rows(request)
/// var batch = RowBatch()
/// while try cursor.next(into: &batch) {
///     for row in 0..<batch.count { print(batch[row, 0], batch[row, 1]) }
/// }
/// ```
public struct RowBatch: Sendable {
    /// The names of the columns.
    public internal(set) var columns: [String] = []
    /// The values, row by row.
    package internal(set) var values: [Value] = []
    /// The number of rows.
    public internal(set) var count = 0

    /// Creates an empty batch for a ``RowCursor`` to fill.
    public init() {}

    package var isEmpty: Bool { count == 0 }

    /// The value in the given row and column.
    public subscript(row: Int, column: Int) -> Value {
        precondition(row >= 0 && row < count && column >= 0 && column < columns.count, "no row or column at this index")
        return values[row * columns.count + column]
    }

    /// Returns the value of a row in the column with the given name.
    ///
    /// Throws `unknownProperty` for an unknown name.
    public func value(_ column: String, at row: Int) throws(StoreError) -> Value {
        guard let index = columns.firstIndex(of: column) else {
            let hint = nearestName(to: column, among: columns).map { "; did you mean '\($0)'?" } ?? "."
            throw StoreError(.unknownProperty, "The rows have no column '\(column)'\(hint)")
        }
        return self[row, index]
    }

    /// Returns the non-null values of a row, by column name.
    public func values(at row: Int) -> [String: Value] {
        var values: [String: Value] = [:]
        for (index, name) in columns.enumerated() where !self[row, index].isNull { values[name] = self[row, index] }
        return values
    }

    /// Removes all rows, but keeps the memory and the columns.
    mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        count = 0
    }

    /// Appends the first values of another batch's row, one for each column of this batch.
    mutating func append(_ batch: RowBatch, at row: Int) {
        let start = row * batch.columns.count
        values.append(contentsOf: batch.values[start..<start + columns.count])
        count += 1
    }
}

/// A single pass over rows.
public protocol RowCursor: AnyObject {
    /// The names of the columns.
    var columns: [String] { get }
    /// The types of the columns' values; nil if the type depends on the values.
    var types: [AttributeType?] { get }

    /// Replaces the contents of `batch` with the next rows.
    ///
    /// Returns false, with an empty batch, at the end and on every later call.
    ///
    /// - Throws: The errors of reading the objects. If the error has a
    ///   ``StoreError/damagedObject``, only that object is skipped, and the next call continues.
    ///   Any other error ends the cursor.
    func next(into batch: inout RowBatch) throws(StoreError) -> Bool
}
