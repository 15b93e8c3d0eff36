/// An object's breach of a rule that the model or the program defines.
///
/// ``StoreError/failures`` lists the failures of a change.
///
/// ```swift
/// do {
///     try save()
/// } catch let error as StoreError where error.code == .validationFailed {
///     for failure in error.failures { print(failure.code, failure) }
/// }
/// ```
public struct ValidationFailure: Error, Sendable, Hashable {
    /// The object that breaks the rule.
    public enum Subject: Sendable, Hashable {
        /// An object that has an ID.
        case object(ObjectID)
        /// A row of a batch or of an import, counted from 1; the row has no ID yet.
        case row(Int)
    }

    /// The rule that is broken.
    public enum Kind: Sendable, Hashable {
        /// A mandatory property has no value.
        case missing
        /// A relationship has fewer objects than its minimum count.
        case tooFew(minimum: Int)
        /// A relationship has more objects than its maximum count.
        case tooMany(maximum: Int)
        /// A number is less than its minimum.
        case tooSmall
        /// A number is greater than its maximum.
        case tooLarge
        /// A date is before its minimum.
        case tooEarly
        /// A date is after its maximum.
        case tooLate
        /// A string is shorter than its minimum length.
        case tooShort
        /// A string is longer than its maximum length.
        case tooLong
        /// A string does not match its regular expression.
        case noMatch
        /// The object cannot be deleted because of this remaining object.
        case deleteDenied(ObjectID)
        /// A rule of the program is broken.
        ///
        /// The text describes the rule, and does not contain the value.
        case unsuitable(String)
    }

    /// The object that breaks the rule.
    public let subject: Subject
    /// The object's own entity.
    public let entity: EntityName
    /// The property, or nil if the rule is about the object as a whole.
    public let property: String?
    /// The rule that is broken.
    public let kind: Kind

    package init(_ subject: Subject, entity: EntityName, property: String?, kind: Kind) {
        (self.subject, self.entity, self.property, self.kind) = (subject, entity, property, kind)
    }

    /// Core Data's code for this error, such as 1570 for a missing value.
    public var code: Int {
        switch kind {
        case .unsuitable: 1550
        case .missing: 1570
        case .tooFew: 1580
        case .tooMany: 1590
        case .deleteDenied: 1600
        case .tooLarge: 1610
        case .tooSmall: 1620
        case .tooLate: 1630
        case .tooEarly: 1640
        case .tooLong: 1660
        case .tooShort: 1670
        case .noMatch: 1680
        }
    }

    /// The failure as one sentence, without the value.
    public var message: String {
        let object =
            switch subject {
            case .object(let id): "\(id)"
            case .row(let number): "row \(number) (\(entity))"
            }
        let place = property.map { "'\($0)' of \(object)" } ?? object
        return switch kind {
        case .missing: "\(place) is mandatory and has no value."
        case .tooFew(let minimum): "\(place) has fewer objects than its minimum, \(minimum)."
        case .tooMany(let maximum): "\(place) has more objects than its maximum, \(maximum)."
        case .tooSmall: "\(place) is less than its minimum."
        case .tooLarge: "\(place) is greater than its maximum."
        case .tooEarly: "\(place) is before its minimum."
        case .tooLate: "\(place) is after its maximum."
        case .tooShort: "\(place) is shorter than its minimum length."
        case .tooLong: "\(place) is longer than its maximum length."
        case .noMatch: "\(place) does not match its pattern."
        case .deleteDenied(let other): "\(object) cannot be deleted while \(other) stays."
        case .unsuitable(let reason): "\(place): \(reason)"
        }
    }

    /// Returns the `validationFailed` error; `failures` must not be empty.
    package static func error(_ failures: [ValidationFailure]) -> StoreError {
        guard let first = failures.first else {
            return StoreError(.internalInconsistency, "A validation failed without a reason.")
        }
        let others = failures.count == 1 ? "" : " There are \(failures.count - 1) more failures."
        return StoreError(.validationFailed, "\(first.message) Nothing was written.\(others)").with {
            $0.failures = failures
        }
    }
}

extension ValidationFailure: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
