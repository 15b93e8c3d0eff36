internal import RoostCore

/// A table as declared in its database.
struct ForeignTable {
    struct Column {
        let name: String
        let declaredType: DeclaredType
        /// Whether the database accepts only values of the declared type.
        var isStrict = false
        /// Whether the column is declared NOT NULL.
        let isMandatory: Bool
        /// The text of the DEFAULT clause.
        let defaultText: String?
        /// The literal of the DEFAULT clause, or nil if the clause has an expression or is missing.
        let defaultLiteral: SchemaLiteral?
        /// The collation, or `BINARY` for the default collation.
        let collation: String
        /// Whether the column treats some different texts as equal, such as `A` and `a`.
        let isFolding: Bool
        let isGenerated: Bool
    }

    /// A foreign key that refers to at most one row of an imported table.
    struct ForeignKey: Equatable {
        /// The positions of the key's columns.
        let columns: [Int]
        /// The position of the referenced table.
        let parent: Int
        /// The positions of the referenced columns, in the order of `columns`.
        let parentColumns: [Int]
        /// The ON DELETE clause, in capital letters.
        let onDelete: String
        /// The operators that compare `parentColumns` with `columns`, or empty to use `=`.
        var operators: [String] = []
    }

    struct Index {
        let name: String
        /// The positions of the columns, with nil for expressions, the rowid and left-out columns.
        let columns: [Int?]
        let isDescending: [Bool]
        let collations: [String]
        let isUnique: Bool
        let isPartial: Bool
        let isPrimaryKey: Bool
        /// Whether the index belongs to a PRIMARY KEY or UNIQUE clause of the table.
        let isConstraint: Bool
        /// The reason why a model cannot have the index, or nil if none is known.
        var problem: String?
    }

    let name: String
    private(set) var columns: [Column] = []
    private var columnNames = SchemaNames()
    /// The position of the integer primary key, which is the rowid in SQLite, or nil.
    var rowIDColumn: Int?
    /// The name of the rowid, or of the integer primary key, in statements.
    ///
    /// Nil if the table has neither, or if columns use all names of the rowid.
    var rowIDName: String?
    /// The positions of the columns of the primary key.
    var primaryKey: [Int] = []
    var isWithoutRowID = false
    var foreignKeys: [ForeignKey] = []
    var indexes: [Index] = []
    var hasCheck = false
    /// Sentences for the user about the table.
    var remarks: [String] = []
    /// For each column, phrases for the user.
    var columnRemarks: [Int: [String]] = [:]

    init(_ name: String) { self.name = name }

    mutating func add(_ column: Column) {
        columnNames.add(column.name, position: columns.count)
        columns.append(column)
    }

    func column(_ name: String) -> Int? { columnNames.position(of: name) }

    /// Returns the names of a key's columns, joined for `userInfo`.
    func source(of key: ForeignKey) -> String { key.columns.map { columns[$0].name }.joined(separator: ", ") }
}

/// The meaning of a declared type.
enum DeclaredType {
    case boolean, uuid, date, decimal, integer, text, blob, real, none, other
    /// Types that only columns with ``ForeignTable/Column/isStrict`` have.
    ///
    /// `time` is a date and time without a zone.
    case integer16, integer32, float, time

    /// Reads a type of SQLite.
    init(_ text: String) {
        let name = text.uppercased()
        func has(_ parts: String...) -> Bool { parts.contains { name.contains($0) } }
        self =
            if name.isEmpty {
                .none
            } else if has("BOOL") {
                .boolean
            } else if has("UUID", "GUID", "UNIQUEIDENTIFIER") {
                .uuid
            } else if has("DATE", "TIMESTAMP") {
                .date
            } else if has("NUMERIC", "DECIMAL") {
                .decimal
            } else if has("INT") {
                .integer
            } else if has("CHAR", "CLOB", "TEXT") {
                .text
            } else if has("BLOB") {
                .blob
            } else if has("REAL", "FLOA", "DOUB") {
                .real
            } else {
                .other
            }
    }
}

struct ForeignSchema {
    var tables: [ForeignTable] = []
    /// Sentences about omitted parts, such as views and triggers.
    var remarks: [String] = []
    private var names = SchemaNames()

    func table(_ name: String) -> Int? { names.position(of: name) }

    mutating func add(_ table: ForeignTable) {
        names.add(table.name, position: tables.count)
        tables.append(table)
    }
}
