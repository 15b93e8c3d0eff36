internal import RoostJSONText

extension ModelDocument {
    static func node(of model: ManagedObjectModel) -> JSONNode {
        var result = JSONMembers()
        result.add("formatVersion", formatVersion)
        if !model.versionIdentifiers.isEmpty {
            result.add("versionIdentifiers", texts(model.versionIdentifiers))
        }
        result.add("userInfo", model.userInfo)
        result.members.append(
            JSONMember("entities", .object(model.entityDescriptions.map { JSONMember($0.name, node(of: $0)) })))
        let configurations = model.configurations.sorted { ModelResolver.precedes($0.key, $1.key) }
        result.add("configurations", object: configurations.map { JSONMember($0.key, texts($0.value)) })
        result.add(
            "fetchRequestTemplates",
            object: model.fetchRequestTemplates.map { template in
                var members = JSONMembers()
                members.add("entity", template.entityName)
                members.add("predicate", template.predicateFormat)
                members.add("options", template.options)
                return JSONMember(template.name, .object(members.members))
            })
        return JSONNode(.object(result.members))
    }

    private static func texts(_ texts: [String]) -> JSONNode.Content { .array(texts.map { JSONNode(.string($0)) }) }

    static func node(of entity: EntityDescription) -> JSONNode.Content {
        var result = JSONMembers()
        result.add("superentity", entity.superentityName)
        result.add("isAbstract", value: entity.isAbstract, default: false)
        result.add("managedObjectClassName", entity.managedObjectClassName)
        result.add("renamingIdentifier", entity.renamingIdentifier)
        result.add("versionHashModifier", entity.versionHashModifier)
        result.add("coreSpotlightDisplayNameExpression", entity.coreSpotlightDisplayNameExpression)
        result.add("attributes", object: entity.attributes.map { JSONMember($0.name, node(of: $0)) })
        result.add("relationships", object: entity.relationships.map { JSONMember($0.name, node(of: $0)) })
        result.add("fetchedProperties", object: entity.fetchedProperties.map { JSONMember($0.name, node(of: $0)) })
        if !entity.uniquenessConstraints.isEmpty {
            result.add(
                "uniquenessConstraints", .array(entity.uniquenessConstraints.map { JSONNode(texts($0)) }))
        }
        result.add("fetchIndexes", object: entity.fetchIndexes.map { JSONMember($0.name, node(of: $0)) })
        result.add("userInfo", entity.userInfo)
        return .object(result.members)
    }

    static func node(of attribute: AttributeDescription) -> JSONNode.Content {
        var result = JSONMembers()
        result.add("type", attribute.type.name)
        result.add("isOptional", value: attribute.isOptional, default: true)
        result.add("isTransient", value: attribute.isTransient, default: false)
        result.add("defaultValue", ModelValue.content(attribute.defaultValue))
        result.add("minimum", ModelValue.content(attribute.validation.minimum))
        result.add("maximum", ModelValue.content(attribute.validation.maximum))
        result.add("minimumLength", attribute.validation.minimumLength)
        result.add("maximumLength", attribute.validation.maximumLength)
        result.add("regularExpression", attribute.validation.regularExpression)
        result.add("elements", object: attribute.elements.map { JSONMember($0.name, node(of: $0)) })
        result.add("derivationExpression", attribute.derivationExpression)
        result.add("valueTransformerName", attribute.valueTransformerName)
        result.add("attributeValueClassName", attribute.attributeValueClassName)
        result.add("allowsExternalBinaryDataStorage", value: attribute.allowsExternalBinaryDataStorage, default: false)
        result.add(
            "preservesValueInHistoryOnDeletion", value: attribute.preservesValueInHistoryOnDeletion, default: false)
        result.add("isIndexedBySpotlight", value: attribute.isIndexedBySpotlight, default: false)
        result.add("allowsCloudEncryption", value: attribute.allowsCloudEncryption, default: false)
        result.add("renamingIdentifier", attribute.renamingIdentifier)
        result.add("versionHashModifier", attribute.versionHashModifier)
        result.add("userInfo", attribute.userInfo)
        return .object(result.members)
    }

    static func node(of relationship: RelationshipDescription) -> JSONNode.Content {
        var result = JSONMembers()
        result.add("destination", relationship.destinationEntityName)
        result.add("inverse", relationship.inverseName)
        result.add("minCount", relationship.minCount == 0 ? nil : relationship.minCount)
        result.add("maxCount", relationship.maxCount)
        result.add("isOrdered", value: relationship.isOrdered, default: false)
        result.add("isOptional", value: relationship.isOptional, default: true)
        result.add("isTransient", value: relationship.isTransient, default: false)
        result.add("deleteRule", relationship.deleteRule == .nullify ? nil : relationship.deleteRule.rawValue)
        result.add("isIndexedBySpotlight", value: relationship.isIndexedBySpotlight, default: false)
        result.add("renamingIdentifier", relationship.renamingIdentifier)
        result.add("versionHashModifier", relationship.versionHashModifier)
        result.add("userInfo", relationship.userInfo)
        return .object(result.members)
    }

    static func node(of property: FetchedPropertyDescription) -> JSONNode.Content {
        var result = JSONMembers()
        result.add("entity", property.entityName)
        result.add("predicate", property.predicateFormat)
        result.add("isOptional", value: property.isOptional, default: true)
        result.add("userInfo", property.userInfo)
        return .object(result.members)
    }

    static func node(of index: FetchIndexDescription) -> JSONNode.Content {
        let elements = index.elements.map { element in
            var members = JSONMembers()
            members.add("property", element.property.isEmpty && element.expression != nil ? nil : element.property)
            members.add("collation", element.collation == .binary ? nil : element.collation.rawValue)
            members.add("isAscending", value: element.isAscending, default: true)
            members.add("expression", element.expression)
            return JSONNode(.object(members.members))
        }
        var result = JSONMembers()
        result.add("elements", .array(elements))
        result.add("partialIndexPredicate", index.partialIndexPredicateFormat)
        return .object(result.members)
    }
}
