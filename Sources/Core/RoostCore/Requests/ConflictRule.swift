/// The rule for a new object that has the unique values of an existing object.
///
/// Rules other than ``fail`` have the effect of a separate request for each row, in order. So a row
/// can match an object that an earlier row inserted. A value that an earlier row replaced no longer
/// matches. If several constraints match, the first one is used. A constraint that has a derived
/// attribute, or for which the row has a null, matches no object. Rows that match the same object
/// are combined before the rules of the model are checked. Lists of to-many relationships are
/// applied after all values. If two rows have a list for the same relationship of an object, the
/// last list is used.
///
/// ```swift
/// try store.insert("Album", rows: [["title": "Blue", "year": 1971]], onConflict: .update)
/// ```
public enum ConflictRule: Sendable, Hashable, CaseIterable {
    /// The whole request fails with code `constraintViolation`.
    case fail
    /// The existing object gets the values of the row; its other values are unchanged.
    ///
    /// An object that already has these values is not written, so repeating an import changes
    /// nothing.
    case update
    /// The existing object is unchanged.
    case skip
}
