/// The rule for a new object with the values of an existing object in a uniqueness constraint.
///
/// Except for ``fail``, rows have the same effect as one request for each row, in their order. A
/// row can match an object that an earlier row inserts. A value that an earlier row replaced
/// matches no object. If several constraints match, the first one decides. A constraint with a null
/// or a derived attribute matches no object. Rows of one object are put together before rules are
/// examined. Lists of to-many relationships are applied after all values; of two lists of one
/// relationship of an object the last one holds.
///
/// ```swift
/// try store.insert("Album", rows: [["title": "Blue", "year": 1971]], onConflict: .update)
/// ```
public enum ConflictRule: Sendable, Hashable, CaseIterable {
    /// The whole request fails with code `constraintViolation`.
    case fail
    /// The existing object gets the values that the row names; its other values stay.
    ///
    /// So an import that runs twice is harmless: an object that has these values already is not
    /// written again.
    case update
    /// The existing object stays as it is.
    case skip
}
