internal import RoostCore

/// What a mapping says of an attribute, as far as one pass over the source can follow it.
enum AttributeStatement {
    /// The default of new objects.
    case standard
    /// The same value for every object.
    case constant(Value)
    /// What a field of the source object holds.
    case field(RecordLayout.Field)
    /// What an expression about the source object gives.
    case expression(FetchRequest.Expression)

    /// What an expression says; nil where it asks a policy or the migration.
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

/// What a mapping says of a relationship, as far as one pass over the source can follow it.
enum RelationshipStatement {
    /// Nothing: it is empty, but for what its inverse gives it.
    case nothing
    /// What became of the objects that a relationship of the source leads to; of those that one entity mapping took, where it is named.
    case related(ManagedObjectModel.Relationship, by: String?)

    /// What an expression says; nil where one pass cannot follow it.
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
