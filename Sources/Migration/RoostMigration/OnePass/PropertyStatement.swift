internal import RoostCore

/// A mapping's statement about an attribute, which one pass over the source can execute.
enum AttributeStatement {
    /// The default value of new objects.
    case standard
    case constant(Value)
    case field(RecordLayout.Field)
    case expression(FetchRequest.Expression)

    /// Interprets an expression, or returns nil if it needs more than the source object.
    init?(_ expression: FetchRequest.Expression?, source: ManagedObjectModel.Entity) {
        guard let expression else {
            self = .standard
            return
        }
        guard let expression = expression.ofSourceObject() else { return nil }
        switch expression {
        case .constant(let value): self = .constant(value)
        case .keyPath(let names), .path(of: .evaluatedObject, let names):
            if let field = source.layout.field(names.joined(separator: ".")), field.relationship == nil {
                self = .field(field)
            } else {
                self = .expression(expression)
            }
        default: self = .expression(expression)
        }
    }
}

/// A mapping's statement about a relationship, which one pass can execute.
enum RelationshipStatement {
    /// No destinations, except for pairs that the inverse adds.
    case nothing
    /// The new objects for the destinations of a source relationship.
    ///
    /// If `by` names an entity mapping, only objects that it created are used.
    case related(ManagedObjectModel.Relationship, by: String?)

    /// Interprets an expression, or returns nil if one pass cannot execute it.
    init?(_ expression: FetchRequest.Expression?, source: ManagedObjectModel.Entity) {
        guard let expression, expression != .constant(.null) else {
            self = .nothing
            return
        }
        guard case .registered(let name, let arguments) = expression, arguments.count == 3,
            arguments[0] == .variable(MappingVariable.manager.rawValue),
            case .constant(.string(let text)) = arguments[1], let path = arguments[2].ofSourceObject()
        else { return nil }
        let names: [String]
        switch path {
        case .keyPath(let keys), .path(of: .evaluatedObject, let keys): names = keys
        default: return nil
        }
        guard names.count == 1, let relationship = source.relationship(names[0]) else { return nil }
        switch MappingFunction(rawValue: name) {
        case .relatedInstances where text == names[0]: self = .related(relationship, by: nil)
        case .destinationInstances: self = .related(relationship, by: text)
        default: return nil
        }
    }
}
