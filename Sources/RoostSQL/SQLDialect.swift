public import RoostCore

/// What differs between SQL databases.
///
/// Whatever the engine writes that is not the same everywhere comes from here.
public protocol SQLDialect: Sendable {
    /// The most bytes an identifier may have.
    var maximumIdentifierByteCount: Int { get }
    /// The most columns a table may have.
    var maximumColumnCount: Int { get }
    /// The most parameters a statement may have.
    var maximumParameterCount: Int { get }

    /// Whether a table or index may not have this name.
    func isReserved(_ name: String) -> Bool
    /// The identifier, quoted so that any text is a name.
    func quote(_ identifier: String) -> String
    /// The parameter with this position, from 1.
    func parameter(_ position: Int) -> String

    /// The type of a column of integers, keys, orders, booleans and markers.
    var integerType: String { get }
    /// The type of a column of text; texts compare by code point.
    var textType: String { get }
    /// The type of a column of bytes.
    var blobType: String { get }
    /// The type of a column of floating-point numbers that keeps every bit of everything but NaN, and NaN in some form.
    var floatingType: String { get }
    /// The type of the column of a metadata value, text or integer.
    var anyType: String { get }

    /// CREATE TABLE.
    ///
    /// The text is also what the database's catalogue must show later.
    ///
    /// - Parameters:
    ///   - name: The name, not yet quoted.
    ///   - columns: The columns with their definitions, names quoted already.
    ///   - primaryKey: The columns of a compound key by which the table is organised; empty when a column says it itself.
    /// - Returns: The statement.
    func createTable(_ name: String, columns: [String], primaryKey: [String]) -> String
    /// The definition of an integer column that is the table's key.
    func keyColumn(_ quotedName: String) -> String

    /// Whether both differ, nulls being equal to each other and to nothing else.
    func isDistinct(_ left: String, _ right: String) -> String
    /// Whether a column of floating-point numbers is greater than a number, NaN being greater than none.
    func floating(_ column: String, greaterThan parameter: String, orEqual: Bool) -> String
    /// Whether a column of floating-point numbers holds no NaN; true for null.
    func isNoNaN(_ column: String) -> String
    /// An ORDER BY term in which all NaN come after all numbers and are equal to each other.
    ///
    /// Nulls come first, descending last.
    func floatingOrder(_ column: String, ascending: Bool) -> [String]
    /// Finds a NaN that would make `ORDER BY column` differ from ``floatingOrder(_:ascending:)``; no rows where none is there.
    func findIrregularNaN(_ column: String, in table: String) -> String
    /// An ORDER BY term with nulls first, descending last.
    func order(_ column: String, ascending: Bool) -> String
    /// INSERT INTO a table, up to the columns, for many rows a statement.
    ///
    /// An error in one row may leave those before it: the transaction is rolled back then, so undoing them alone need not be possible.
    func insertMany(into table: String) -> String
    /// INSERT that replaces the other columns where the key is there already.
    func upsert(into table: String, key: [String], columns: [String]) -> String

    /// One value that stands for a list of them, to be bound as a parameter; nil for values that no list can hold.
    func list(_ values: [SQLValue]) -> SQLValue?
    /// SELECT of the elements of a list that is bound as a parameter.
    func elements(ofList parameter: String) -> String
    /// Whether a text meets the matcher that is bound as a parameter; null for null.
    ///
    /// Nil where the database cannot call the program: such conditions are then checked on records.
    func matches(_ text: String, _ parameter: String) -> String?
    /// A column's value, in a form that keeps the database from choosing an index for it.
    func withoutIndex(_ column: String) -> String
    /// What a text sorts by, compared as bytes, when it is compared with options; nil as in ``matches(_:_:)``.
    func sortKey(_ text: String, _ options: FetchRequest.Comparison.Options) -> String?

    /// How the database would carry out a statement: the objects of the catalogue that its plan names, without running it.
    ///
    /// - Parameters:
    ///   - sql: A SELECT.
    ///   - connection: The connection that would run it.
    /// - Returns: The indexes, by their names in the database, and whether a table's own key is searched.
    /// - Throws: What preparing a statement throws.
    func plan(of sql: String, on connection: any SQLConnection) throws(StoreError) -> SQLPlan
}

/// What of a database's plan matters: which indexes it uses.
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
