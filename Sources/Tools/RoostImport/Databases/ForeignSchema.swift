internal import RoostCore

#if SQLite
    /// A table whose rows can be imported, as its database declares it.
    struct ForeignTable {
        /// A column.
        struct Column {
            let name: String
            let declaredType: DeclaredType
            /// Whether the column is declared NOT NULL.
            let isMandatory: Bool
            /// The text of the DEFAULT clause.
            let defaultText: String?
            /// The collation, in capital letters.
            let collation: String
            let isGenerated: Bool
        }

        /// A foreign key whose values find at most one row of a table that is imported.
        struct ForeignKey {
            /// The positions of the key's columns.
            let columns: [Int]
            /// The position of the table that the key refers to.
            let parent: Int
            /// The positions of the columns that the key refers to, in the order of `columns`.
            let parentColumns: [Int]
            /// The ON DELETE clause, in capital letters.
            let onDelete: String
        }

        /// An index over columns.
        struct Index {
            let name: String
            /// The positions of the columns; nil for expressions and the rowid.
            let columns: [Int?]
            let isDescending: [Bool]
            let collations: [String]
            let isUnique: Bool
            let isPartial: Bool
            let isPrimaryKey: Bool
            /// Whether it belongs to a PRIMARY KEY or UNIQUE clause of the table.
            let isConstraint: Bool
        }

        let name: String
        var columns: [Column] = []
        /// The position of the INTEGER PRIMARY KEY, which is the rowid.
        var rowIDColumn: Int?
        /// The name of the rowid in statements; nil for a table without one, or with columns of all its names.
        var rowIDName: String?
        /// The positions of the columns of the primary key.
        var primaryKey: [Int] = []
        var isWithoutRowID = false
        var foreignKeys: [ForeignKey] = []
        var indexes: [Index] = []
        var hasCheck = false
        /// What else the user should know about the table, and about single columns.
        var remarks: [String] = []
        var columnRemarks: [Int: [String]] = [:]

        init(_ name: String) { self.name = name }

        func column(_ name: String) -> Int? {
            let wanted = SchemaName(name)
            return columns.firstIndex { SchemaName($0.name) == wanted }
        }

        /// The names of a foreign key's columns, as models remember them.
        func source(of key: ForeignKey) -> String { key.columns.map { columns[$0].name }.joined(separator: ", ") }
    }

    /// The meaning of a declared type, as far as a type of a model follows from it.
    enum DeclaredType {
        case boolean, uuid, date, decimal, integer, text, blob, real, none, other

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

    /// Everything that a database declares.
    struct ForeignSchema {
        var tables: [ForeignTable] = []
        /// What an import leaves out: views, triggers, virtual tables.
        var remarks: [String] = []
    }
#endif
