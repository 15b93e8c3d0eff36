#if Macros
    internal import RoostCore
    internal import RoostGraph

    /// The entity of a `@Model` class, as the macro describes it.
    public struct ModelDescription: Sendable {
        /// The parts of the description, in one object, because each insertion into a context
        /// copies the description.
        private final class Parts: Sendable {
            let name: EntityName
            let entity: EntityDescription
            let superclass: (any ModelClass.Type)?
            let properties: [ModelProperty]
            let paths: [any AnyKeyPath & Sendable]

            init(
                _ entity: EntityDescription, superclass: (any ModelClass.Type)?, properties: [ModelProperty],
                paths: [any AnyKeyPath & Sendable]
            ) {
                name = EntityName(entity.name)
                self.entity = entity
                self.superclass = superclass
                self.properties = properties
                self.paths = paths
            }
        }

        private let parts: Parts

        var entityName: EntityName { parts.name }
        /// The entity without its properties.
        var entity: EntityDescription { parts.entity }
        var superclass: (any ModelClass.Type)? { parts.superclass }
        /// The class's own properties, in source order.
        var properties: [ModelProperty] { parts.properties }

        /// Creates a description.
        ///
        /// - Parameters:
        ///   - entity: The name of the entity.
        ///   - superclass: The superclass, if it has an entity.
        ///   - properties: The class's own properties.
        ///   - paths: The key paths of the properties if the class is final and has no superclass
        ///     with an entity; otherwise empty.
        public init(
            _ entity: String, superclass: (any ModelClass.Type)? = nil, properties: [ModelProperty],
            paths: [any AnyKeyPath & Sendable] = []
        ) {
            var entity = EntityDescription(entity)
            for property in properties where property.isUnique {
                entity.uniquenessConstraints.append([property.name])
            }
            for property in properties {
                guard let index = property.indexName else { continue }
                entity.fetchIndexes.append(FetchIndexDescription(index, on: property.name))
            }
            parts = Parts(entity, superclass: superclass, properties: properties, paths: paths)
        }

        private init(_ parts: Parts) { self.parts = parts }

        /// The number of properties, including inherited properties.
        public var propertyCount: Int { (superclass?.modelDescription.propertyCount ?? 0) + properties.count }

        var allProperties: [ModelProperty] { (superclass?.modelDescription.allProperties ?? []) + properties }

        func propertyName(of keyPath: AnyKeyPath) -> String? {
            parts.paths.firstIndex { $0 == keyPath }.map { properties[$0].name }
        }

        private func with(_ change: (inout EntityDescription) -> Void) -> Self {
            var entity = parts.entity
            change(&entity)
            return Self(Parts(entity, superclass: parts.superclass, properties: parts.properties, paths: parts.paths))
        }

        /// Returns a copy whose entity is abstract if `isAbstract` is true.
        public func abstract(_ isAbstract: Bool) -> Self { with { $0.isAbstract = isAbstract } }

        /// Returns a copy with the entity's name in earlier versions of the model.
        public func renamed(from identifier: String?) -> Self { with { $0.renamingIdentifier = identifier } }

        /// Returns a copy that also requires unique combinations of the given properties.
        public func unique(_ properties: [String]) -> Self { with { $0.uniquenessConstraints.append(properties) } }

        /// Returns a copy with an additional index.
        public func indexed(_ properties: [String], as name: String? = nil) -> Self {
            with {
                $0.fetchIndexes.append(
                    FetchIndexDescription(
                        name ?? properties.joined(separator: "-"),
                        elements: properties.map { FetchIndexDescription.Element($0) }))
            }
        }
    }
#endif
