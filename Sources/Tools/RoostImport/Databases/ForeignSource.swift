internal import RoostCore

/// A database of another program, in one transaction with unchanging content.
///
/// An implementation reads the declarations when it is created. Use a source from one thread at a
/// time.
protocol ForeignSource: AnyObject {
    /// The rows of a statement.
    associatedtype Rows: ForeignRows

    /// The name of the database in messages, without a password.
    var name: String { get }
    var schema: ForeignSchema { get }
    /// The maximum number of values in one row of a statement.
    var maximumColumnCount: Int { get }

    /// Chooses the keys of the objects.
    ///
    /// Called once, before ``pairs(from:to:of:)`` and before any ``ForeignValue/reference(_:)`` is
    /// read.
    ///
    /// - Parameter isNumbered: For each table, whether the keys are row numbers, counted from 1.
    ///   Otherwise the keys are the values of ``ForeignTable/rowIDName``.
    /// - Throws: Errors of the database.
    func chooseKeys(_ isNumbered: [Bool]) throws(StoreError)

    /// Returns the rows of a table, in the same order each time.
    ///
    /// The rows are sorted by ``ForeignTable/rowIDName``. If it is nil, they are in the order of
    /// the primary key or of the storage. Each row has at most ``maximumColumnCount`` values.
    ///
    /// - Throws: Errors of the database.
    func rows(_ values: [ForeignValue], of table: Int) throws(StoreError) -> Rows

    /// Returns the pairs of objects in a join table, in ascending order of keys.
    ///
    /// Each row has the two keys, and the number of times that the table has this pair.
    func pairs(
        from source: ForeignTable.ForeignKey, to destination: ForeignTable.ForeignKey, of table: Int
    ) throws(StoreError) -> Rows

    /// Throws `busy` if another program has changed the content.
    ///
    /// Does nothing for a database whose transactions do not see such changes.
    func verify() throws(StoreError)

    /// Ends the transaction, after which nothing can be read.
    func close()
}

/// A value that is read for each row of a table.
enum ForeignValue {
    /// The value of ``ForeignTable/rowIDName``, or any number if that name is nil.
    case rowID
    case column(Int)
    /// The key of the referenced object, or null.
    case reference(ForeignTable.ForeignKey)
    /// 1 if any column of the foreign key has a value but no row matches, otherwise 0.
    case isDangling(ForeignTable.ForeignKey)
}

/// The rows of a statement.
///
/// A row's values are valid until the next step.
protocol ForeignRows: AnyObject {
    /// Moves to the next row, or returns false at the end.
    func step() throws(StoreError) -> Bool

    func cell(_ column: Int32) throws(StoreError) -> ForeignCell

    /// Runs `body` with the bytes of a blob, or with the bytes of any other value as text.
    ///
    /// The value must not be a ``ForeignCell/integer(_:)`` or ``ForeignCell/real(_:)``.
    func withBytes<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result
}

enum ForeignCell {
    case null
    case integer(Int64)
    case real(Double)
    /// A decimal of a database that has a type for decimals.
    case decimal(DecimalNumber)
    /// A date of a database that has a type for dates.
    ///
    /// `isExact` is false if digits of the date do not fit into the seconds.
    case date(Double, isExact: Bool)
    case text
    case blob
}

extension ForeignRows {
    /// Returns a whole number, or 0 for a value of another kind.
    func integer(_ column: Int32) throws(StoreError) -> Int64 {
        guard case .integer(let value) = try cell(column) else { return 0 }
        return value
    }

    /// Returns a text, or nil for bytes that are not valid UTF-8.
    func text(_ column: Int32) throws(StoreError) -> String? {
        try withBytes(column) { (bytes) throws(StoreError) in
            bytes.isValidUTF8 ? String(decoding: bytes, as: UTF8.self) : nil
        }
    }
}
