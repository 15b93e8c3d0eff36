#if Interactive
    internal import Foundation
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostQuery

    /// The model of a store, for the page to draw.
    struct ModelView {
        let model: ManagedObjectModel

        func answer() -> JSONNode {
            JSONNode([
                "versionIdentifiers": JSONNode(texts: model.versionIdentifiers),
                "entities": JSONNode(list: model.entities.map(entity)),
            ])
        }

        private func entity(_ entity: ManagedObjectModel.Entity) -> JSONNode {
            let superentity = entity.superentity.map { model.entities[$0] }
            return JSONNode([
                "name": JSONNode(entity.name.text), "superentity": JSONNode(superentity?.name.text),
                "isAbstract": JSONNode(entity.isAbstract), "versionHash": JSONNode(entity.versionHash.description),
                "attributes": JSONNode(
                    list: entity.attributes.map { attribute in
                        self.attribute(
                            attribute, entity: entity, isInherited: superentity?.attribute(attribute.name) != nil)
                    }),
                "relationships": JSONNode(
                    list: entity.relationships.map { relationship in
                        let isInherited = superentity?.relationship(relationship.name.name) != nil
                        return self.relationship(relationship, isInherited: isInherited)
                    }),
                "uniquenessConstraints": JSONNode(
                    list: entity.uniquenessConstraints.map { JSONNode(texts: $0.attributes) }),
                "indexes": JSONNode(
                    list: entity.fetchIndexes.map { index in
                        JSONNode([
                            "name": JSONNode(index.declaration.name),
                            "elements": JSONNode(texts: index.declaration.elements.map(\.property)),
                        ])
                    }),
            ])
        }

        private func attribute(
            _ attribute: AttributeDescription, entity: ManagedObjectModel.Entity, isInherited: Bool
        ) -> JSONNode {
            let writer = CellWriter(titles: ObjectTitles(model))
            return JSONNode([
                "name": JSONNode(attribute.name), "type": JSONNode(attribute.type.name),
                "isOptional": JSONNode(attribute.isOptional),
                "default": writer.node(attribute.defaultValue, type: attribute.type, elements: attribute.elements),
                "isDerived": JSONNode(attribute.derivationExpression != nil),
                "isTransient": JSONNode(attribute.isTransient), "isInherited": JSONNode(isInherited),
                "isIndexed": JSONNode(MissingIndex.isIndexed(attribute.name, of: entity)),
                "limits": JSONNode(Self.limits(of: attribute)),
                "elements": JSONNode(list: attribute.elements.map(ObjectView.element)),
            ])
        }

        private func relationship(_ relationship: ManagedObjectModel.Relationship, isInherited: Bool) -> JSONNode {
            let declaration = relationship.declaration
            return JSONNode([
                "name": JSONNode(relationship.name.name),
                "destination": JSONNode(model.entities[relationship.destination].name.text),
                "isToMany": JSONNode(relationship.isToMany), "isOrdered": JSONNode(relationship.isOrdered),
                "isOptional": JSONNode(declaration.isOptional), "minimum": JSONNode(declaration.minCount),
                "maximum": declaration.maxCount.map { JSONNode($0) } ?? .null,
                "deleteRule": JSONNode(declaration.deleteRule.rawValue),
                "inverse": JSONNode(relationship.inverse.map { model.relationships[$0].name.name }),
                "isInherited": JSONNode(isInherited),
            ])
        }

        /// Returns the rules for an attribute's values, in words, or nil.
        static func limits(of attribute: AttributeDescription) -> String? {
            let rules = attribute.validation
            var parts: [String] = []
            if let text = text(rules.minimum) { parts.append("at least \(text)") }
            if let text = text(rules.maximum) { parts.append("at most \(text)") }
            if let length = rules.minimumLength { parts.append("at least \(length) characters") }
            if let length = rules.maximumLength { parts.append("at most \(length) characters") }
            if let pattern = rules.regularExpression { parts.append("matches \(pattern)") }
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }

        private static func text(_ value: Value) -> String? {
            switch value {
            case .int(let number): "\(number)"
            case .double(let number): "\(number)"
            case .decimal(let number): "\(number)"
            case .date(let date): DateText.text(date.timeIntervalSinceReferenceDate) ?? "\(date)"
            default: nil
            }
        }
    }
#endif
