internal import RoostCore

/// The names of the generated types of a model.
struct ModelNames {
    let modelEnum: String
    /// The names of the classes, by entity number.
    let classes: [String]
    /// The names of the generated classes, by entity number.
    ///
    /// Differs from ``classes`` only where a handwritten class inherits from the generated class.
    let generatedClasses: [String]

    /// The key in an entity's user information that marks a handwritten class.
    static let classKey = "roostClass"
    static let handwritten = "handwritten"

    /// The members of `ManagedObject` whose names a property cannot have.
    ///
    /// Methods are missing here, because a property may have their names. A property called `id` is
    /// allowed, and hides the `id` of `ManagedObjectClass`.
    static let managedObjectMembers: Set<String> = [
        "objectID", "entity", "context", "isFault", "isInserted", "isUpdated", "isDeleted", "hasChanges",
        "hasPersistentChangedValues", "version", "dynamic", "hashValue", "description",
    ]

    /// The types that generated code uses without module names.
    static let usedTypes: Set<String> = [
        "Any", "AnyKeyPath", "Bool", "ClassShape", "Data", "Date", "Decimal", "Double", "EntityName", "Float", "Int16",
        "Int32", "Int64", "ManagedObject", "ManagedObjectClass", "ManagedObjectModel", "ObjectID", "OrderedToMany",
        "Result", "Self", "Sendable", "StoreError", "String", "ToMany", "UUID", "Value",
        // In static members, `self` always means the enclosing type, even in backticks.
        "self",
    ]

    /// Determines the names of the types, and checks the names of properties.
    ///
    /// - Throws: `invalidModel`, with a line for each problem.
    init(_ model: ManagedObjectModel, source: String) throws(StoreError) {
        var problems: [ModelProblem] = []
        func add(_ message: String, to entity: EntityDescription) {
            problems.append(ModelProblem(entity: entity.name, message: message))
        }
        let remedy = "class name (managedObjectClassName, in Xcode 'Class')."
        let name = SwiftText.typeName(ModelCode.stem(of: source))
        modelEnum = name.hasSuffix("Model") ? name : "\(name)Model"
        classes = model.entities.map { Self.className(of: $0.declaration) }
        generatedClasses = model.entities.map { entity in
            let name = Self.className(of: entity.declaration)
            return entity.declaration.userInfo[Self.classKey] == nil ? name : "_\(name)"
        }
        var owners: [String: String] = [:]
        for (entity, name) in zip(model.entities.map(\.declaration), classes) {
            if !SwiftText.isIdentifier(name) {
                add("'\(name)' is not a name for a Swift class. Give the entity a \(remedy)", to: entity)
            } else if Self.usedTypes.contains(name) || name == modelEnum {
                add("generated code uses a type named '\(name)'. Give the entity another \(remedy)", to: entity)
            }
            if let other = owners.updateValue(entity.name, forKey: name) {
                add(
                    "its class '\(name)' is also the class of entity '\(other)'. Give each a class of its own.",
                    to: entity)
            }
            if let value = entity.userInfo[Self.classKey], value != Self.handwritten {
                add(
                    "its user information has '\(Self.classKey)' with the value '\(value)'. Use '\(Self.handwritten)', or remove it.",
                    to: entity)
            }
            problems += Self.propertyProblems(entity)
        }
        // Each class also has a generated enum for its constants. No class may have the enum's name.
        let classOwners = owners
        for (entity, name) in zip(model.entities.map(\.declaration), classes) {
            let constants = "_\(name)Class"
            if let user = classOwners[constants] {
                add(
                    "generated code for its class '\(name)' uses the name '\(constants)' of the class of entity '\(user)'. Rename one of them.",
                    to: entity)
            }
            owners[constants] = entity.name
        }
        for (entity, name) in zip(model.entities.map(\.declaration), generatedClasses) {
            guard entity.userInfo[Self.classKey] != nil, let other = owners[name] else { continue }
            add("its generated class '\(name)' is also the class of entity '\(other)'. Rename one of them.", to: entity)
        }
        guard problems.isEmpty else {
            throw StoreError(
                .invalidModel, StoreError.list("No classes can be generated from '\(source)':", problems: problems))
        }
    }

    /// Returns the name of an entity's class, without its module.
    ///
    /// Returns the entity's name if the class name is missing or unusable.
    private static func className(of entity: EntityDescription) -> String {
        guard let text = entity.managedObjectClassName else { return entity.name }
        let name = text.split(separator: ".", omittingEmptySubsequences: false).last.map(String.init) ?? text
        // `NSManagedObject` and `ManagedObject` mean that the entity has no class of its own.
        guard SwiftText.isIdentifier(name), name != "NSManagedObject", name != "ManagedObject" else {
            return entity.name
        }
        return name
    }

    private static func propertyProblems(_ entity: EntityDescription) -> [ModelProblem] {
        var problems: [ModelProblem] = []
        func add(_ property: String, message: String) {
            problems.append(ModelProblem(entity: entity.name, property: property, message: message))
        }
        let relationships = entity.relationships.filter { !$0.isTransient }
        for name in entity.attributes.map(\.name) + relationships.map(\.name) {
            let remedy = "Rename the property, and set its renamingIdentifier to '\(name)' so that stores can migrate."
            if managedObjectMembers.contains(name) {
                add(name, message: "property '\(name)' has the name of a member of ManagedObject. \(remedy)")
            } else if !SwiftText.isIdentifier(name) {
                add(name, message: "the name of property '\(name)' is not a Swift identifier. \(remedy)")
            }
        }
        for attribute in entity.attributes where attribute.type == .transformable {
            guard let type = attribute.attributeValueClassName, !SwiftTypeName.isType(type) else { continue }
            add(
                attribute.name,
                message:
                    "'\(type)' is not a Swift type. Change or remove the attribute's attributeValueClassName (in Xcode 'Custom Class')."
            )
        }
        return problems
    }
}
