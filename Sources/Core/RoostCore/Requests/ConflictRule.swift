/// The rule for a new object with the values of an existing object in a uniqueness constraint.
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
