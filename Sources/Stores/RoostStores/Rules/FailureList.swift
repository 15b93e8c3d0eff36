package import RoostCore

/// The failures of one change, in the order in which they were found.
package struct FailureList {
    static let limit = 100_000

    package private(set) var failures: [ValidationFailure] = []

    package init() {}

    var isEmpty: Bool { failures.isEmpty }
    /// Whether the list is full, so that the change need not be checked further.
    var isFull: Bool { failures.count >= Self.limit }

    mutating func add(
        _ subject: ValidationFailure.Subject, entity: EntityName, property: String, kind: ValidationFailure.Kind
    ) {
        guard !isFull else { return }
        failures.append(ValidationFailure(subject, entity: entity, property: property, kind: kind))
    }

    mutating func add(_ denial: DeleteDenial) {
        switch denial.reason {
        case .mandatory:
            add(
                .object(denial.remaining), entity: denial.remaining.entity, property: denial.relationship.name,
                kind: .missing)
        case .rule, .referenced:
            add(
                .object(denial.deleted), entity: denial.deleted.entity, property: denial.relationship.name,
                kind: .deleteDenied(denial.remaining))
        }
    }

    /// Adds a failure for each rule that a record breaks.
    ///
    /// `subject` returns the object or row that has the failure, or nil to ignore the failure.
    ///
    /// - Throws: `timedOut` if comparing a value with its regular expression takes too long.
    package mutating func check(
        _ record: RecordReader, rules: inout RecordRules,
        subject: (StoreFinding.Rule, RecordLayout.Field) -> ValidationFailure.Subject?
    ) throws(StoreError) {
        guard !rules.isEmpty(forEntity: record.entityNumber) else { return }
        let entity = record.layout.entity
        var found: [(StoreFinding.Rule, RecordLayout.Field, ValidationFailure.Subject)] = []
        let slow = rules.check(record) { rule, field in
            if let subject = subject(rule, field) { found.append((rule, field, subject)) }
        }
        if let slow {
            throw StoreError(
                .timedOut,
                "The value of '\(entity).\(slow.name)' could not be compared with its pattern in time. Simplify the pattern in the model."
            )
        }
        for (rule, field, subject) in found {
            add(subject, entity: entity, property: field.name, kind: rule.failure(of: field))
        }
    }

    /// Throws all failures as one error.
    package func throwIfAny() throws(StoreError) {
        if !failures.isEmpty { throw ValidationFailure.error(failures) }
    }
}

extension StoreFinding.Rule {
    fileprivate func failure(of field: RecordLayout.Field) -> ValidationFailure.Kind {
        switch self {
        case .mandatory, .minimumCount, .maximumCount, .dangling, .destination: .missing
        case .minimum: field.kind == .date ? .tooEarly : .tooSmall
        case .maximum: field.kind == .date ? .tooLate : .tooLarge
        case .minimumLength: .tooShort
        case .maximumLength: .tooLong
        case .pattern: .noMatch
        }
    }
}
