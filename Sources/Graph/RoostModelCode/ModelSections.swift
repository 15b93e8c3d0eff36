internal import RoostCore

/// The generated declarations of a model, before they are divided into files.
struct ModelSections {
    /// A type and its accompanying declarations.
    struct Section {
        let name: String
        let text: String
        let usesFoundation: Bool
    }

    /// The generated classes, by entity number.
    private(set) var classes: [Section] = []
    private(set) var modelEnum = Section(name: "", text: "", usesFoundation: false)

    init(_ code: ModelCode, names: ModelNames) throws(StoreError) {
        let model = code.model
        var properties: [Int: [PropertyCode]] = [:]
        // Superentities come first, because a class lists the properties of its superclass before
        // its own.
        for entity in Self.superentitiesFirst(model) {
            let inherited = entity.superentity.flatMap { properties[$0] } ?? []
            let own = try Self.ownProperties(of: entity, model: model, names: names, inheritedCount: inherited.count)
            properties[entity.number] = inherited + own
        }
        classes = model.entities.map { entity in
            let all = properties[entity.number] ?? []
            let inheritedCount = entity.superentity.flatMap { properties[$0]?.count } ?? 0
            let own = Array(all.dropFirst(inheritedCount))
            return Section(
                name: names.classes[entity.number],
                text: Self.text(of: entity, access: code.access, names: names, all: all, own: own),
                usesFoundation: own.contains(where: \.usesFoundation))
        }
        modelEnum = Section(
            name: names.modelEnum, text: Self.modelEnum(code, names: names), usesFoundation: false)
    }

    private static func superentitiesFirst(_ model: ManagedObjectModel) -> [ManagedObjectModel.Entity] {
        func depth(_ entity: ManagedObjectModel.Entity) -> Int {
            var (depth, next) = (0, entity.superentity)
            while let number = next { (depth, next) = (depth + 1, model.entities[number].superentity) }
            return depth
        }
        return model.entities.map { ($0, depth($0)) }.sorted { ($0.1, $0.0.number) < ($1.1, $1.0.number) }.map(\.0)
    }

    /// Returns whether the fields in an entity's records have constant offsets.
    private static func isFlat(_ entity: ManagedObjectModel.Entity) -> Bool {
        entity.superentity == nil && !entity.hasSubentities
    }

    private static func ownProperties(
        of entity: ManagedObjectModel.Entity, model: ManagedObjectModel, names: ModelNames, inheritedCount: Int
    ) throws(StoreError) -> [PropertyCode] {
        let attributes = Dictionary(
            entity.declaration.attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let relationships = Dictionary(
            entity.declaration.relationships.filter { !$0.isTransient }.map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
        let sorted = (Array(attributes.keys) + Array(relationships.keys))
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let isFlat = isFlat(entity)
        var properties: [PropertyCode] = []
        for (position, name) in sorted.enumerated() {
            let slot = inheritedCount + position
            if let attribute = attributes[name] {
                let field = attribute.isStored ? try entity.layout.requireField(name) : nil
                properties.append(PropertyCode(attribute, field: field, isFlat: isFlat, slot: slot))
            } else if let relationship = relationships[name] {
                let field = relationship.isToMany ? nil : try entity.layout.requireField(name)
                let destination = try model.requireEntity(EntityName(relationship.destinationEntityName))
                properties.append(
                    PropertyCode(
                        relationship, field: field, destination: SwiftText.quoted(names.classes[destination.number]),
                        isFlat: isFlat, slot: slot))
            }
        }
        return properties
    }

    // MARK: A class

    private static func text(
        of entity: ManagedObjectModel.Entity, access: ModelCode.AccessLevel, names: ModelNames,
        all: [PropertyCode], own: [PropertyCode]
    ) -> String {
        let (ownClass, generatedClass) = (names.classes[entity.number], names.generatedClasses[entity.number])
        let name = SwiftText.quoted(generatedClass)
        let constants = "_\(ownClass)Class"
        let isFinal = !entity.hasSubentities && ownClass == generatedClass
        let modifier = access == .internal ? "" : "\(access.rawValue) "
        let classModifier = access == .public && !isFinal ? "open " : modifier
        let superclass =
            entity.superentity.map { SwiftText.quoted(names.classes[$0]) } ?? "ManagedObject, ManagedObjectClass"
        // A subclass inherits the conformance to `ManagedObjectClass`, and overrides the protocol's members.
        let kind =
            switch (entity.superentity == nil, isFinal) {
            case (true, true): "\(modifier)static"
            case (true, false): "\(classModifier)class"
            case (false, _): "\(classModifier)override class"
            }
        // In a class that is not final, the accessors are final, so that calls are direct.
        let member = modifier + (isFinal ? "" : "final ")
        let title = "\(entity.isAbstract ? "abstract " : "")entity `\(SwiftText.commentText(entity.declaration.name))`"
        let summary =
            ownClass == generatedClass
            ? "/// The \(title)."
            : """
            /// The properties of the \(title).
            ///
            /// Its class is written by hand: `class \(ownClass): \(generatedClass)`.
            """
        var text = """
            \(summary)
            nonisolated \(classModifier)\(isFinal ? "final " : "")class \(name): \(superclass) {
                \(kind) var entityName: EntityName { \(constants).entityName }
                \(kind) var shape: ClassShape { \(constants).shape }
                \(kind) func propertyName(of keyPath: AnyKeyPath) -> String? {
                    \(constants).paths.firstIndex { $0 == keyPath }.map { \(constants).names[$0] }
                }

            """
        for property in own {
            text += """

                    /// \(property.documentation)
                    \(member)var \(SwiftText.quoted(property.name)): \(property.type) {
                        get { \(property.getter) }

                """
            if let setter = property.setter { text += "        set { \(setter) }\n" }
            text += "    }\n"
        }
        let leftOut =
            entity.declaration.relationships.filter(\.isTransient).map { ("transient relationship", $0.name) }
            + entity.declaration.fetchedProperties.map { ("fetched property", $0.name) }
        if !leftOut.isEmpty { text += "\n" }
        for (what, name) in leftOut { text += "    // The \(what) '\(SwiftText.commentText(name))' is left out.\n" }
        return text + "}\n\n"
            + constantsText(constants, entity: entity, className: SwiftText.quoted(ownClass), all: all)
    }

    /// Returns the constants of a class, which are declared outside of it so as not to be its
    /// members.
    private static func constantsText(
        _ name: String, entity: ManagedObjectModel.Entity, className: String, all: [PropertyCode]
    ) -> String {
        func list(_ items: [String]) -> String {
            items.isEmpty ? "[]" : "[\n" + items.map { "        \($0),\n" }.joined() + "    ]"
        }
        let shape = list(all.map(\.shape))
        let paths = list(all.map { "\\\(className).\(SwiftText.quoted($0.name))" })
        let names = list(all.map { SwiftText.literal($0.name) })
        // Paths and names are separate lists, because the type checker takes longer for one list of pairs.
        return """
            nonisolated private enum \(name) {
                static let entityName = EntityName(\(SwiftText.literal(entity.declaration.name)))
                static let shape = ClassShape(entityName, properties: \(shape))
                static let paths: [any AnyKeyPath & Sendable] = \(paths)
                static let names: [String] = \(names)
            }

            """
    }

    // MARK: The model

    private static func modelEnum(_ code: ModelCode, names: ModelNames) -> String {
        let modifier = code.access == .internal ? "" : "\(code.access.rawValue) "
        let types = superentitiesFirst(code.model).map { "\(SwiftText.quoted(names.classes[$0.number])).self" }
        let list = types.isEmpty ? "[]" : "[\n" + types.map { "            \($0),\n" }.joined() + "        ]"
        var document = String(decoding: code.model.document(), as: UTF8.self)
        if document.hasSuffix("\n") { document.removeLast() }
        let literal = SwiftText.rawLiteral(
            document.split(separator: "\n", omittingEmptySubsequences: false), indentation: "        ")
        // The generated code throws instead of trapping, because an older version of Roost may
        // refuse the document.
        return """
            /// The model and the classes of its entities.
            nonisolated \(modifier)enum \(names.modelEnum) {
                /// The model. It is built once, on first use.
                ///
                /// Throws an error if this version of Roost is older than the generated code and cannot read
                /// its model.
                \(modifier)static var model: ManagedObjectModel {
                    get throws(StoreError) { try loaded.get() }
                }

                /// The classes of the entities, superclasses first.
                \(modifier)static var types: [any ManagedObjectClass.Type] {
                    \(list)
                }

                /// The model document.
                \(modifier)static var document: String {
                    \(literal)
                }

                private static let loaded = Result { () throws(StoreError) in
                    try ManagedObjectModel(document: Array(document.utf8))
                }
            }

            """
    }
}
