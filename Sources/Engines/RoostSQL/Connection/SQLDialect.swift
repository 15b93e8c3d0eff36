public import RoostCore

/// The SQL of one database.
///
/// All members below are required; other differences between databases are in
/// ``SQLDialectAbilities``, with defaults in standard SQL. If a dialect cannot express something in
/// SQL, the engine computes it from records, with the same result.
public protocol SQLDialect: SQLDialectAbilities {
    /// The most bytes an identifier may have.
    var maximumIdentifierByteCount: Int { get }
    /// The most columns a table may have.
    ///
    /// No more than a statement may have parameters.
    var maximumColumnCount: Int { get }
    /// The most parameters a statement may have.
    var maximumParameterCount: Int { get }

    /// The identifier, quoted so that any text is a name.
    func quote(_ identifier: String) -> String
    /// The parameter with this position, from 1.
    ///
    /// It may occur several times in a statement.
    func parameter(_ position: Int) -> String

    /// The type of a column of integers, keys, orders, booleans and markers.
    var integerType: String { get }
    /// The type of a column of text; texts compare by code point.
    var textType: String { get }
    /// The type of a column of bytes, which compare one by one.
    var blobType: String { get }
    /// The type of a column of floating-point numbers that keeps every bit.
    ///
    /// NaN in any form is neither equal to a number nor less than one. −0.0 equals 0.0.
    var floatingType: String { get }
}

/// The optional abilities of a dialect; each member has a default.
public protocol SQLDialectAbilities: Sendable {
    // MARK: Tables

    /// Whether a table or index may not have this name.
    func isReserved(_ name: String) -> Bool
    /// The type of a column that holds a text or an integer; nil where a column has one type.
    var anyType: String? { get }
    /// CREATE TABLE.
    ///
    /// If the catalog is compared, the database must show the same text there later.
    ///
    /// - Parameters:
    ///   - name: The name, not yet quoted.
    ///   - columns: The columns with their definitions, names quoted already.
    ///   - primaryKey: The columns of a compound key by which the table is organized; empty if the
    ///     definition of a column says it.
    /// - Returns: The statement.
    func createTable(_ name: String, columns: [String], primaryKey: [String]) -> String
    /// The definition of an integer column that is the table's key.
    func keyColumn(_ quotedName: String) -> String
    /// CREATE INDEX of an index that ``order(_:ascending:)`` can use.
    ///
    /// - Parameters:
    ///   - name: The name, not yet quoted.
    ///   - table: The table, quoted already.
    ///   - columns: The columns, in their order.
    ///   - isUnique: Whether no two rows may have the same values, null being none.
    ///   - condition: What holds of the rows that the index has; nil for all. Never given to a
    ///     dialect without ``hasPartialIndexes``.
    /// - Returns: The statement.
    func createIndex(
        _ name: String, on table: String, columns: [SQLIndexColumn], isUnique: Bool, condition: String?
    ) -> String
    /// DROP INDEX of the index with a name, not yet quoted.
    func dropIndex(_ name: String) -> String
    /// Whether an index can have a part of the rows of its table.
    ///
    /// Without, a load looks for values that are there twice; the default.
    var hasPartialIndexes: Bool { get }
    /// Whether dropping an index keeps readers of its table waiting until the transaction ends.
    ///
    /// If so, a load makes indexes last only in a store that has no name yet. The default is false.
    var locksReadersToDropIndexes: Bool { get }
    /// Whether setting a column to the value that it has writes the entries of its indexes again.
    ///
    /// If so, an update that changes no indexed column sets the others only. The default is false.
    var rewritesIndexesOfSetColumns: Bool { get }

    // MARK: Writing

    /// INSERT INTO a table, up to the columns, for many rows a statement.
    ///
    /// An error in one row may leave the rows before it: the transaction is rolled back then, so it
    /// need not be possible to undo them alone.
    func insertMany(into table: String) -> String
    /// INSERT that replaces the other columns of a row whose key exists.
    ///
    /// Nil makes the engine run an UPDATE, then an INSERT if no row had the key.
    func upsert(into table: String, key: [String], columns: [String]) -> String?

    // MARK: Conditions

    /// Whether both differ, nulls being equal to each other and to nothing else.
    func isDistinct(_ left: String, from right: String) -> String
    /// Whether integers compare with floating-point numbers as their exact values do, without
    /// rounding.
    var comparesNumbersExactly: Bool { get }
    /// Whether a column of floating-point numbers is greater than a number; false for NaN.
    func floating(_ column: String, greaterThan parameter: String, orEqual: Bool) -> String?
    /// Whether a column of floating-point numbers holds no NaN; true for null.
    func isNoNaN(_ column: String) -> String?
    /// The sum of integers, as an integer; nil where the database makes something else of it.
    func sum(_ column: String) -> String?
    /// One value that stands for a list of them, to be bound as a parameter, and SELECT of its
    /// elements; nil for values that no list can hold.
    func list(_ values: [SQLValue], parameter: String) -> (value: SQLValue, elements: String)?
    /// Whether a text meets the matcher that is bound as a parameter; null for null.
    ///
    /// Nil where the database cannot call the program: such conditions are then checked on records.
    func matches(_ text: String, with parameter: String) -> String?
    /// A column's value, in a form that keeps the database from choosing an index for it.
    func withoutIndex(_ column: String) -> String

    // MARK: Order

    /// ORDER BY terms with nulls first, descending last.
    func order(_ column: String, ascending: Bool) -> [String]
    /// ORDER BY terms in which all NaN come after all numbers and are equal to each other.
    ///
    /// Nulls come first, descending last.
    func floatingOrder(_ column: String, ascending: Bool) -> [String]?
    /// SELECT of a NaN for which ``order(_:ascending:)`` and ``floatingOrder(_:ascending:)``
    /// differ.
    ///
    /// Nil where they always differ.
    func findIrregularNaN(_ column: String, in table: String) -> String?
    /// The bytes by which a text is sorted with options; nil as in ``matches(_:with:)``.
    func sortKey(_ text: String, options: FetchRequest.Comparison.Options) -> String?
    /// The clause that limits the rows of a SELECT; both texts are numbers or parameters.
    func limit(_ count: String, offset: String?) -> String

    // MARK: Plans

    /// Returns the plan of a statement, without running it: the objects of the catalog that it
    /// names.
    ///
    /// - Parameters:
    ///   - sql: A SELECT.
    ///   - connection: The connection that would run it.
    /// - Returns: The indexes, by their names in the database, and whether a table's own key is
    ///   searched.
    /// - Throws: What preparing a statement throws.
    func plan(of sql: String, on connection: any SQLConnection) throws(StoreError) -> SQLPlan
}

/// A column of an index.
public struct SQLIndexColumn: Sendable, Hashable {
    /// The name, quoted.
    public let quotedName: String
    /// Whether the index ascends.
    public let isAscending: Bool
}

/// The part of a database's plan that matters: the indexes it uses.
public struct SQLPlan: Sendable, Hashable {
    /// The indexes that are searched or walked, by their names in the database, each once.
    public var indexes: [String]
    /// Whether rows are found by the keys of a table.
    public var usesKeys: Bool
    /// Whether rows are sorted afterwards.
    public var sorts: Bool

    /// Makes a plan.
    public init(indexes: [String] = [], usesKeys: Bool = false, sorts: Bool = false) {
        self.indexes = indexes
        self.usesKeys = usesKeys
        self.sorts = sorts
    }
}
