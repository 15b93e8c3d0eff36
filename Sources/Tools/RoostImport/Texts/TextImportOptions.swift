package import Foundation
internal import RoostCore

/// The format of a text with rows, and the use of its columns.
package struct TextImportOptions: Sendable {
    package enum Format: String, Sendable, CaseIterable {
        /// Values separated by commas or another character.
        case csv
        /// Values separated by tabs.
        case tsv
        /// A JSON array of objects.
        case json
        /// JSON Lines: an object on each line.
        case jsonl
    }

    package enum FaultyRows: String, Sendable, CaseIterable {
        /// The import ends, and its current transaction is rolled back.
        case stop
        /// The row is left out and counted.
        case skip
        /// The row is left out, counted and reported.
        case report
    }

    /// A column whose cells refer to objects by the value of an attribute.
    package struct Relation: Sendable, Hashable {
        package var column: String
        /// The entity of the related objects.
        package var entity: String
        /// The attribute whose value identifies a related object.
        package var attribute: String

        package init(column: String, entity: String, attribute: String) {
            (self.column, self.entity, self.attribute) = (column, entity, attribute)
        }
    }

    package var entity: String
    package var format: Format
    /// The character between cells, or nil for a tab in `tsv` and the first line's most frequent
    /// separator in `csv`.
    package var delimiter: UInt8?
    /// Whether the first row has the names of the columns.
    package var hasHeader = true
    /// The encoding, or nil to use the byte order mark or, without a mark, UTF-8.
    package var encoding: TextEncoding?
    package var hasDecimalComma = false
    /// The form of dates, as in `dd.MM.yyyy HH:mm`, or nil for ISO 8601.
    package var datePattern: String?
    /// The time zone of times without a zone, or nil for UTC.
    package var timeZone: TimeZone?
    /// The columns that identify an object, so that an existing object is updated.
    package var key: [String] = []
    package var relations: [Relation] = []
    package var leftOut: Set<String> = []
    package var faultyRows = FaultyRows.stop

    package init(entity: String, format: Format) { (self.entity, self.format) = (entity, format) }

    /// Returns the rules for cells, or throws `invalidRequest` for an invalid date pattern.
    func cellFormat() throws(StoreError) -> CellFormat {
        var cells = CellFormat()
        if hasDecimalComma { cells.decimalSeparator = UInt8(ascii: ",") }
        cells.timeZone = timeZone
        if let datePattern {
            guard let pattern = DatePattern(datePattern) else {
                throw StoreError(
                    .invalidRequest,
                    "The date format '\(datePattern)' cannot be read. Use yyyy or yy, MM or MMM, dd, HH, mm, ss and SSS, as in dd.MM.yyyy HH:mm."
                )
            }
            cells.datePattern = pattern
        }
        return cells
    }
}
