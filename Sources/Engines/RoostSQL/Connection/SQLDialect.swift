public import RoostCore

/// The SQL of one database.
///
/// All members below are required. Members of ``SQLDialectAbilities`` have defaults in standard
/// SQL. If a dialect cannot express something in SQL, the engine computes it from records, with the
/// same result.
public protocol SQLDialect: SQLDialectAbilities {
    /// The maximum length of an identifier in bytes.
    var maximumIdentifierByteCount: Int { get }
    /// The maximum number of columns of a table; at most ``maximumParameterCount``.
    var maximumColumnCount: Int { get }
    /// The maximum number of parameters of a statement.
    var maximumParameterCount: Int { get }

    /// Returns the quoted identifier.
    ///
    /// Quoting must make any text a valid name.
    func quote(_ identifier: String) -> String
    /// Returns the parameter at a position, counted from 1; a statement may repeat it.
    func parameter(_ position: Int) -> String

    /// The type of an integer column.
    ///
    /// Such columns also contain keys, positions in ordered relationships, and Booleans (0 or 1).
    var integerType: String { get }
    /// The type of a text column, whose texts must be compared by code point.
    var textType: String { get }
    /// The type of a column of bytes, which must be compared byte by byte.
    var blobType: String { get }
    /// The type of a column of floating-point numbers that preserves all bits.
    ///
    /// NaN in any form neither equals a number nor is less than a number. −0.0 equals 0.0.
    var floatingType: String { get }
}

/// The optional abilities of a dialect; each member has a default.
public protocol SQLDialectAbilities: Sendable {
    // MARK: Tables

    /// Returns whether a table or index must not have the given name.
    func isReserved(_ name: String) -> Bool
    /// The type of a column for both texts and integers; nil if a column can have only one type.
    var anyType: String? { get }
    /// Returns CREATE TABLE.
    ///
    /// If the database compares its catalog with the schema, the catalog must contain this text
    /// unchanged.
    ///
    /// - Parameters:
    ///   - name: The name, not quoted.
    ///   - columns: The definitions of the columns, with quoted names.
    ///   - primaryKey: The columns of a compound key that organizes the table; empty if a column's
    ///     definition declares the key.
    /// - Returns: The statement.
    func createTable(_ name: String, columns: [String], primaryKey: [String]) -> String
    /// Returns the definition of an integer column that is the table's key.
    func keyColumn(_ quotedName: String) -> String
    /// Returns CREATE INDEX for an index that can sort rows by ``order(_:ascending:)``.
    ///
    /// - Parameters:
    ///   - name: The name, not quoted.
    ///   - table: The table, quoted.
    ///   - columns: The columns, in their order.
    ///   - isUnique: Whether the index forbids two rows with the same values. Null differs from
    ///     null.
    ///   - condition: The condition of the rows in the index; nil for all rows. Always nil without
    ///     ``hasPartialIndexes``.
    /// - Returns: The statement.
    func createIndex(
        _ name: String, on table: String, columns: [SQLIndexColumn], isUnique: Bool, condition: String?
    ) -> String
    /// Returns DROP INDEX for the index with the given name, not quoted.
    func dropIndex(_ name: String) -> String
    /// Whether an index can contain only some rows of its table (default: false).
    ///
    /// If false, no index enforces the unique constraints of subentities, and loads search for
    /// duplicate values.
    var hasPartialIndexes: Bool { get }
    /// Whether DROP INDEX blocks readers of the table until the transaction ends (default: false).
    ///
    /// If true, a load into an empty store drops and recreates indexes only if the store is
    /// unpublished.
    var locksReadersToDropIndexes: Bool { get }
    /// Whether setting a column to its current value rewrites its index entries (default: false).
    ///
    /// If true, an update that changes no indexed column sets only the other columns.
    var rewritesIndexesOfSetColumns: Bool { get }

    // MARK: Writing

    /// Returns the start of an INSERT of many rows, up to the table's name.
    ///
    /// After an error, the statement may leave some rows inserted: the engine rolls back the
    /// transaction.
    func insertMany(into table: String) -> String
    /// Returns an INSERT that, if a row has the key, replaces the values of `columns` in this row.
    ///
    /// If nil, the engine runs an UPDATE, then an INSERT if no row had the key.
    func upsert(into table: String, key: [String], columns: [String]) -> String?

    // MARK: Conditions

    /// Returns the condition that two values differ; null equals only null.
    func isDistinct(_ left: String, from right: String) -> String
    /// Whether integers are compared with floating-point numbers exactly, without rounding.
    var comparesNumbersExactly: Bool { get }
    /// Returns the condition that a floating-point column is greater than a number or, if
    /// `orEqual`, equal to it; false for NaN.
    func floating(_ column: String, greaterThan parameter: String, orEqual: Bool) -> String?
    /// Returns the condition that a floating-point column is not NaN; true for null.
    func isNoNaN(_ column: String) -> String?
    /// Returns the sum of integers as an integer; nil if the database cannot compute this.
    func sum(_ column: String) -> String?
    /// Returns a value that represents a list in one parameter, and a SELECT of its elements; nil
    /// if no list can contain the values.
    func list(_ values: [SQLValue], parameter: String) -> (value: SQLValue, elements: String)?
    /// Returns the condition that a text matches the matcher in a parameter; null for a null text.
    ///
    /// Returns nil if the database cannot call functions of the program. The engine then checks
    /// records.
    func matches(_ text: String, with parameter: String) -> String?
    /// Returns a column's value in a form that uses no index.
    func withoutIndex(_ column: String) -> String

    // MARK: Order

    /// Returns ORDER BY terms with nulls first, or last in descending order.
    func order(_ column: String, ascending: Bool) -> [String]
    /// Returns ORDER BY terms in which all NaN are equal, and greater than all numbers.
    ///
    /// Nulls come first, or last in descending order.
    func floatingOrder(_ column: String, ascending: Bool) -> [String]?
    /// Returns a SELECT that finds an irregular NaN in a column.
    ///
    /// A NaN is irregular if ``order(_:ascending:)`` and ``floatingOrder(_:ascending:)`` give it
    /// different positions. If the result is nil, the engine uses only
    /// ``floatingOrder(_:ascending:)``.
    func findIrregularNaN(_ column: String, in table: String) -> String?
    /// Returns the bytes by which a text is sorted with options; nil if the database cannot call
    /// functions of the program.
    func sortKey(_ text: String, options: FetchRequest.Comparison.Options) -> String?
    /// Returns the clause that limits the rows of a SELECT; both texts are numbers or parameters.
    func limit(_ count: String, offset: String?) -> String

    // MARK: Plans

    /// Returns the plan of a SELECT, without running the statement.
    ///
    /// - Parameters:
    ///   - sql: A SELECT.
    ///   - connection: The connection that would run the statement.
    /// - Returns: The plan.
    /// - Throws: Errors of preparing a statement.
    func plan(of sql: String, on connection: any SQLConnection) throws(StoreError) -> SQLPlan
}

/// A column of an index.
public struct SQLIndexColumn: Sendable, Hashable {
    /// The name, quoted.
    public let quotedName: String
    /// Whether the column ascends in the index.
    public let isAscending: Bool
}

/// The indexes and sorts in a database's plan.
public struct SQLPlan: Sendable, Hashable {
    /// The indexes that are searched or scanned, by their names in the database, each once.
    public var indexes: [String]
    /// Whether rows are found by the keys of a table.
    public var usesKeys: Bool
    /// Whether the database sorts the rows that it has found.
    public var sorts: Bool

    /// Creates a plan.
    public init(indexes: [String] = [], usesKeys: Bool = false, sorts: Bool = false) {
        self.indexes = indexes
        self.usesKeys = usesKeys
        self.sorts = sorts
    }
}
