#if Macros
    public import RoostCore
    public import RoostGraph

    extension ManagedObjectModel {
        /// Builds a model from `@Model` classes.
        ///
        /// `types` must contain all classes, including superclasses and destinations of
        /// relationships. If only one side of a relationship declares the inverse, the other side's
        /// inverse is derived.
        ///
        /// ```swift
        /// let types: [any ManagedObjectClass.Type] = [Album.self, Artist.self]
        /// let container = try PersistentContainer(
        ///     .sqlite("music.sqlite"), model: ManagedObjectModel(types: types), types: types)
        /// ```
        ///
        /// - Throws: `invalidModel`, with a line in the message for each problem found.
        public init(types: [any ManagedObjectClass.Type]) throws(StoreError) {
            var classes: [any ModelClass.Type] = []
            for type in types {
                guard let type = type as? any ModelClass.Type else {
                    throw StoreError(
                        .invalidModel,
                        "'\(type)' is not a @Model class. For generated classes, use the model of their enum, such as MusicModel.model."
                    )
                }
                classes.append(type)
            }
            let descriptions = classes.map { $0.modelDescription }
            var problems: [ModelProblem] = []
            for description in descriptions {
                for property in description.properties {
                    guard let problem = property.problem else { continue }
                    problems.append(
                        ModelProblem(entity: description.entity.name, property: property.name, message: problem))
                }
            }
            guard problems.isEmpty else { throw .invalidModel(problems) }
            var entities = descriptions.map { Self.entity(of: $0) }
            Self.addInverses(to: &entities)
            try self.init(entities: entities)
        }

        private static func entity(of description: ModelDescription) -> EntityDescription {
            var entity = description.entity
            entity.superentityName = description.superclass?.modelDescription.entity.name
            for property in description.properties {
                switch property.content {
                case .attribute(let attribute): entity.attributes.append(attribute)
                case .relationship(var relationship, let type):
                    relationship.destinationEntityName = type.entityName.text
                    entity.relationships.append(relationship)
                }
            }
            return entity
        }

        /// Sets the missing inverse on the other side of each relationship.
        ///
        /// Contradictory inverses remain unchanged; validation reports them.
        private static func addInverses(to entities: inout [EntityDescription]) {
            let positions = Dictionary(
                entities.indices.map { (entities[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
            for entity in entities {
                for relationship in entity.relationships {
                    guard let inverse = relationship.inverseName else { continue }
                    var next: String? = relationship.destinationEntityName
                    // A superentity may declare the inverse. The loop is bounded, because superentities may form a
                    // cycle.
                    for _ in entities {
                        guard let position = next.flatMap({ positions[$0] }) else { break }
                        if let index = entities[position].relationships.firstIndex(where: { $0.name == inverse }) {
                            if entities[position].relationships[index].inverseName == nil {
                                entities[position].relationships[index].inverseName = relationship.name
                            }
                            break
                        }
                        next = entities[position].superentityName
                    }
                }
            }
        }
    }
#endif
