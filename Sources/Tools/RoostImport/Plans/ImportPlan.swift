/// The plan of an import: the use of each table and column.
package struct ImportPlan: Sendable, Hashable, Encodable {
    /// A column.
    package struct Column: Sendable, Hashable, Encodable {
        /// The column's name.
        package var name: String
        /// The property for the column's values.
        ///
        /// Nil for a column that is left out, or that only gives the objects their keys.
        package var property: String?
        /// The type of the property: an attribute type as in model documents, or a relationship
        /// such as `to Artist`.
        package var type: String?
        /// A remark for the user.
        package var remark: String?

        package init(_ name: String, property: String?, type: String?, remark: String? = nil) {
            (self.name, self.property, self.type, self.remark) = (name, property, type, remark)
        }
    }

    /// A table, or a text file.
    package struct Table: Sendable, Hashable, Encodable {
        /// The table's name.
        package var name: String
        /// The entity for the table's rows, or nil for a join table or a table that is left out.
        package var entity: String?
        /// The number of rows that were read.
        package var rows: Int
        /// The columns, in the table's order.
        package var columns: [Column] = []
        /// Remarks for the user.
        package var remarks: [String] = []

        package init(_ name: String, entity: String?, rows: Int) {
            (self.name, self.entity, self.rows) = (name, entity, rows)
        }
    }

    /// The tables.
    package var tables: [Table] = []
    /// Sentences about other parts that the import leaves out, such as views and triggers.
    package var remarks: [String] = []

    package init() {}
}
