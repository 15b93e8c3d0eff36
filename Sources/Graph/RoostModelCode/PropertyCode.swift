internal import RoostCore

/// The generated code of one property of a class.
struct PropertyCode {
    /// The Swift type of an attribute, and the parts of its accessors' names.
    private struct Access {
        var type: String
        /// The name of the getter of a mandatory or always optional attribute.
        var name: String
        /// The last part of the names `set…`, `optional…` and `setOptional…`.
        var suffix: String
        /// Whether the accessors also have a form with constant offsets, for flat entities.
        var hasConstantForm = true
        /// Whether even the getter of a mandatory attribute needs the field's index.
        var needsIndex = false
        var isAlwaysOptional = false
    }

    let name: String
    let type: String
    let documentation: String
    let getter: String
    let setter: String?
    let shape: String

    var usesFoundation: Bool {
        ["Date", "Data", "UUID", "Decimal"].contains { type == $0 || type == "\($0)?" }
    }

    /// Creates the code of an attribute.
    ///
    /// `field` is nil for a transient attribute. `slot` is the attribute's position in the shape.
    init(_ attribute: AttributeDescription, field: RecordLayout.Field?, isFlat: Bool, slot: Int) {
        name = attribute.name
        let access = Self.access(to: attribute)
        guard let field else {
            type = "\(access.type)?"
            documentation = "The transient attribute `\(name)`."
            getter = "transient(slot: \(slot))"
            setter = "setTransient(newValue, slot: \(slot))"
            shape = ".transient(\(SwiftText.literal(name)), as: .\(attribute.type.name))"
            return
        }
        let isDerived = attribute.derivationExpression != nil
        let isOptional = attribute.isOptional || isDerived || access.isAlwaysOptional
        let prefixed = isOptional && !access.isAlwaysOptional
        type = access.type + (isOptional ? "?" : "")
        documentation =
            isDerived
            ? "The derived attribute `\(name)`."
            : "The attribute `\(name)`, \(attribute.isOptional ? "optional" : "mandatory")."
        let get = prefixed ? "optional\(access.suffix)" : access.name
        let set = prefixed ? "setOptional\(access.suffix)" : "set\(access.suffix)"
        if isFlat, access.hasConstantForm {
            let place = "at: \(field.byteOffset), field: \(field.index)"
            getter = "\(get)(\(isOptional || access.needsIndex ? place : "at: \(field.byteOffset)"))"
            setter = isDerived ? nil : "\(set)(newValue, \(place))"
        } else {
            getter = "\(get)(slot: \(slot))"
            setter = isDerived ? nil : "\(set)(newValue, slot: \(slot))"
        }
        shape = Self.shape(field, isFlat: isFlat)
    }

    /// Creates the code of a stored relationship.
    ///
    /// `field` is nil for a to-many relationship. `destination` is a class name as written in code.
    init(
        _ relationship: RelationshipDescription, field: RecordLayout.Field?, destination: String, isFlat: Bool,
        slot: Int
    ) {
        name = relationship.name
        if let field {
            type = "\(destination)?"
            let kind = relationship.isOptional ? "optional" : "mandatory"
            documentation = "The to-one relationship `\(name)`, \(kind)."
            let place = isFlat ? "at: \(field.byteOffset), field: \(field.index)" : "slot: \(slot)"
            getter = "toOne(\(place))"
            setter = "setToOne(newValue, \(place))"
            shape = Self.shape(field, isFlat: isFlat)
        } else {
            let ordered = relationship.isOrdered ? "Ordered" : ""
            type = "\(ordered)ToMany<\(destination)>"
            documentation = "The \(relationship.isOrdered ? "ordered " : "")to-many relationship `\(name)`."
            getter = "\(relationship.isOrdered ? "orderedToMany" : "toMany")(slot: \(slot))"
            setter = "set\(ordered)ToMany(newValue, slot: \(slot))"
            shape = ".toMany(\(SwiftText.literal(name)), isOrdered: \(relationship.isOrdered))"
        }
    }

    private static func shape(_ field: RecordLayout.Field, isFlat: Bool) -> String {
        let place = isFlat ? ", at: \(field.byteOffset), field: \(field.index)" : ""
        return ".field(\(SwiftText.literal(field.name)), as: .\(field.kind)\(place))"
    }

    private static func access(to attribute: AttributeDescription) -> Access {
        switch attribute.type {
        case .integer16: return Access(type: "Int16", name: "int16", suffix: "Int16")
        case .integer32: return Access(type: "Int32", name: "int32", suffix: "Int32")
        case .integer64: return Access(type: "Int64", name: "int64", suffix: "Int64")
        case .double: return Access(type: "Double", name: "double", suffix: "Double")
        case .float: return Access(type: "Float", name: "float", suffix: "Float")
        case .boolean: return Access(type: "Bool", name: "bool", suffix: "Bool")
        case .date: return Access(type: "Date", name: "date", suffix: "Date")
        case .string, .uri: return Access(type: "String", name: "text", suffix: "Text", needsIndex: true)
        case .binaryData: return Access(type: "Data", name: "data", suffix: "Data", needsIndex: true)
        case .uuid: return Access(type: "UUID", name: "uuid", suffix: "UUID", hasConstantForm: false)
        case .decimal: return Access(type: "Decimal", name: "decimal", suffix: "Decimal", hasConstantForm: false)
        case .objectID:
            return Access(
                type: "ObjectID", name: "reference", suffix: "Reference", hasConstantForm: false, isAlwaysOptional: true
            )
        case .composite:
            return Access(
                type: "[String: Value]", name: "composite", suffix: "Composite", hasConstantForm: false,
                isAlwaysOptional: true)
        case .transformable:
            // Without a class name, the type is unknown. Archived Foundation classes are not Codable. In both cases,
            // the property contains the encoded bytes.
            guard let type = attribute.attributeValueClassName, !type.hasPrefix("NS") else {
                return Access(type: "Data", name: "data", suffix: "Data", hasConstantForm: false)
            }
            return Access(type: type, name: "coded", suffix: "Coded", hasConstantForm: false, isAlwaysOptional: true)
        case .undefined: return Access(type: "Value", name: "transient", suffix: "Transient", isAlwaysOptional: true)
        }
    }
}
