/// The rule for an inserted row that has the same unique values as an existing object.
///
/// Rules other than ``fail`` have the effect of a separate request for each row, in order. So a row
/// can match an object that an earlier row inserted. But the model's validation rules are checked
/// after all rows.
///
/// If several constraints match, the first one in the model's order is used. A constraint matches
/// no object if it has a derived attribute, or if the row or a default provides a null for it.
/// Lists of to-many relationships are applied after all values. If two rows have a list for one
/// relationship of an object, the last list is used.
///
/// ```swift
/// try store.insert("Album", rows: [["title": "Blue", "year": 1971]], onConflict: .update)
/// ```
public enum ConflictRule: Sendable, Hashable, CaseIterable {
    /// The whole request fails with code `constraintViolation`.
    case fail
    /// The existing object gets the values of the row, and keeps its other values.
    ///
    /// An object that already has these values is not written.
    case update
    /// The existing object is unchanged.
    case skip
}
