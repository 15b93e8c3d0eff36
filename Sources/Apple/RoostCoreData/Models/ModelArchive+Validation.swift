internal import Foundation
internal import RoostCore

extension ModelArchive {
    /// Converts the validation predicates of Xcode's editor to limits.
    ///
    /// The editor writes `SELF >= m`, `SELF <= m`, `length >= n`, `length <= n` and
    /// `SELF MATCHES pattern`. Other predicates cause a warning.
    mutating func readValidation(
        _ object: ArchivedObject, into attribute: inout AttributeDescription, place: String
    ) throws(StoreError) {
        for node in try object.list("NSValidationPredicates") {
            guard let predicate = node.object else { continue }
            if try !read(predicate, into: &attribute) {
                warn(place, message: "a validation predicate is not a limit that a model can have; it is left out")
            }
        }
    }

    private func read(_ predicate: ArchivedObject, into attribute: inout AttributeDescription) throws(StoreError)
        -> Bool
    {
        if try predicate.className == "NSCompoundPredicate", try predicate.integer("NSCompoundPredicateType") == 1 {
            // Convert all parts or none, because some parts alone would be another condition.
            var whole = attribute
            for node in try predicate.list("NSSubpredicates") {
                guard let part = node.object, try part.className == "NSComparisonPredicate",
                    try read(part, into: &whole)
                else { return false }
            }
            attribute = whole
            return true
        }
        guard try predicate.className == "NSComparisonPredicate",
            let left = try predicate.object("NSLeftExpression"), let right = try predicate.object("NSRightExpression"),
            let comparison = try predicate.object("NSPredicateOperator"),
            try right.className == "NSConstantValueExpression"
        else { return false }
        let constant = try right.node("NSConstantValue")
        let type = try comparison.integer("NSOperatorType")
        switch (try PredicateText.expression(left), type) {
        case ("SELF", 6):
            guard let pattern = constant.string, attribute.type == .string else { return false }
            attribute.validation.regularExpression = pattern
        case ("length", 3):
            guard let length = constant.integer.flatMap({ Int(exactly: $0) }) else { return false }
            attribute.validation.minimumLength = length
        case ("length", 1):
            guard let length = constant.integer.flatMap({ Int(exactly: $0) }) else { return false }
            attribute.validation.maximumLength = length
        case ("SELF", 3):
            guard let limit = try limit(constant, type: attribute.type) else { return false }
            attribute.validation.minimum = limit
        case ("SELF", 1):
            guard let limit = try limit(constant, type: attribute.type) else { return false }
            attribute.validation.maximum = limit
        default: return false
        }
        return true
    }

    private func limit(_ node: KeyedArchive.Node, type: AttributeType) throws(StoreError) -> Value? {
        switch type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: try value(node, type: type)
        default: nil
        }
    }
}
