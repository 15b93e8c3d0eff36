/// The plan of an import: the use of each table and column.
package struct ImportPlan: Sendable, Hashable, Encodable {
    package struct Column: Sendable, Hashable, Encodable {
        package var name: String
        /// The property, or nil for a column that is left out or only gives the objects their keys.
        package var property: String?
        /// The type as in model documents, or text such as `to Artist` for a relationship.
        package var type: String?
        package var remark: String?

        package init(_ name: String, property: String?, type: String?, remark: String? = nil) {
            (self.name, self.property, self.type, self.remark) = (name, property, type, remark)
        }
    }

    /// A table, or a text file.
    package struct Table: Sendable, Hashable, Encodable {
        package var name: String
        /// The entity of the rows, or nil for a join table or a table that is left out.
        package var entity: String?
        /// The number of rows that were read.
        package var rows: Int
        package var columns: [Column] = []
        package var remarks: [String] = []

        package init(_ name: String, entity: String?, rows: Int) {
            (self.name, self.entity, self.rows) = (name, entity, rows)
        }
    }

    package var tables: [Table] = []
    /// Remarks about the whole database, such as views and triggers that are left out.
    package var remarks: [String] = []

    package init() {}
}
