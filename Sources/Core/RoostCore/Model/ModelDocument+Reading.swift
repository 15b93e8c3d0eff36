internal import RoostJSONText

extension ModelDocument {
    /// The contents of a document, not yet validated as a model.
    struct Parts {
        var entities: [EntityDescription] = []
        var configurations: [String: [String]] = [:]
        var fetchRequestTemplates: [FetchRequestTemplate] = []
        var versionIdentifiers: [String] = []
        var userInfo: [String: String] = [:]
    }

    static func read(_ bytes: [UInt8]) throws(StoreError) -> Parts {
        let node = try JSONNode.document(
            bytes, acceptsJSON5: true, as: "The model document", code: .invalidModel)
        // The version is checked first, because a newer document may contain unknown keys.
        try JSONObjectReader.requireVersion(formatVersion, of: node, named: "model document")
        let problems = JSONProblems(of: bytes)
        let parts = ModelDocumentReader(problems: problems).model(node)
        guard problems.messages.isEmpty else {
            throw .invalidModel(problems.messages.map { ModelProblem(entity: nil, message: $0) })
        }
        return parts
    }
}

/// A reader that converts JSON to descriptions, and collects the document's problems.
private struct ModelDocumentReader {
    let problems: JSONProblems

    func model(_ node: JSONNode) -> ModelDocument.Parts {
        let reader = object(node, path: "", keys: ModelDocument.modelKeys)
        var parts = ModelDocument.Parts()
        reader.checkVersion(ModelDocument.formatVersion, of: node)
        parts.versionIdentifiers = reader.strings("versionIdentifiers")
        parts.userInfo = reader.stringDictionary("userInfo")
        parts.entities = each(reader, key: "entities") { entity($0, node: $1, path: $2) }
        for member in reader.members("configurations") {
            let path = JSONObjectReader.join(reader.path("configurations"), with: member.key)
            parts.configurations[member.key] = JSONObjectReader.strings(
                of: member.value, path: path, problems: problems)
        }
        parts.fetchRequestTemplates = each(reader, key: "fetchRequestTemplates") { name, node, path in
            let reader = object(node, path: path, keys: ModelDocument.fetchRequestTemplateKeys)
            return FetchRequestTemplate(
                name, entity: reader.required("entity", at: node), predicateFormat: reader.string("predicate"),
                options: reader.stringDictionary("options"))
        }
        return parts
    }

    private func object(_ node: JSONNode, path: String, keys: [String]) -> JSONObjectReader {
        JSONObjectReader(node, path: path, keys: keys, problems: problems)
    }

    /// Reads the items of the JSON object at `key`; the key of each member is an item's name.
    private func each<Thing>(
        _ reader: JSONObjectReader, key: String, _ read: (String, JSONNode, String) -> Thing?
    ) -> [Thing] {
        reader.members(key).compactMap { member in
            read(member.key, member.value, JSONObjectReader.join(reader.path(key), with: member.key))
        }
    }

    private func entity(_ name: String, node: JSONNode, path: String) -> EntityDescription {
        let reader = object(node, path: path, keys: ModelDocument.entityKeys)
        return EntityDescription(
            name, superentity: reader.string("superentity"),
            attributes: each(reader, key: "attributes") { attribute($0, node: $1, path: $2) },
            relationships: each(reader, key: "relationships") { relationship($0, node: $1, path: $2) },
            uniquenessConstraints: reader.items("uniquenessConstraints").enumerated().map { index, item in
                JSONObjectReader.strings(
                    of: item, path: "\(reader.path("uniquenessConstraints"))[\(index)]", problems: problems)
            }
        ).with {
            $0.isAbstract = reader.bool("isAbstract", default: false)
            $0.fetchedProperties = each(reader, key: "fetchedProperties") { fetchedProperty($0, node: $1, path: $2) }
            $0.fetchIndexes = each(reader, key: "fetchIndexes") { fetchIndex($0, node: $1, path: $2) }
            $0.managedObjectClassName = reader.string("managedObjectClassName")
            $0.coreSpotlightDisplayNameExpression = reader.string("coreSpotlightDisplayNameExpression")
            $0.renamingIdentifier = reader.string("renamingIdentifier")
            $0.versionHashModifier = reader.string("versionHashModifier")
            $0.userInfo = reader.stringDictionary("userInfo")
        }
    }

    private func attribute(_ name: String, node: JSONNode, path: String) -> AttributeDescription? {
        let reader = object(node, path: path, keys: ModelDocument.attributeKeys)
        let typeName = reader.required("type", at: node)
        guard let type = AttributeType(name: typeName) else {
            if let node = reader.node("type"), case .string = node.content {
                reader.addUnknown(
                    among: AttributeType.allCases.map(\.name), instead: typeName, path: reader.path("type"), at: node)
            }
            return nil
        }
        let elements = each(reader, key: "elements") { attribute($0, node: $1, path: $2) }
        func value(_ key: String) -> Value {
            guard let node = reader.node(key) else { return .null }
            return ModelValue.value(node, type: type, elements: elements, path: reader.path(key), problems: problems)
        }
        return AttributeDescription(
            name, type: type, isOptional: reader.bool("isOptional", default: true), defaultValue: value("defaultValue"),
            elements: elements
        ).with {
            $0.isTransient = reader.bool("isTransient", default: false)
            $0.validation = AttributeValidation(
                minimum: value("minimum"), maximum: value("maximum"), minimumLength: reader.int("minimumLength"),
                maximumLength: reader.int("maximumLength"), regularExpression: reader.string("regularExpression"))
            $0.derivationExpression = reader.string("derivationExpression")
            $0.valueTransformerName = reader.string("valueTransformerName")
            $0.attributeValueClassName = reader.string("attributeValueClassName")
            $0.allowsExternalBinaryDataStorage = reader.bool("allowsExternalBinaryDataStorage", default: false)
            $0.preservesValueInHistoryOnDeletion = reader.bool("preservesValueInHistoryOnDeletion", default: false)
            $0.isIndexedBySpotlight = reader.bool("isIndexedBySpotlight", default: false)
            $0.allowsCloudEncryption = reader.bool("allowsCloudEncryption", default: false)
            $0.renamingIdentifier = reader.string("renamingIdentifier")
            $0.versionHashModifier = reader.string("versionHashModifier")
            $0.userInfo = reader.stringDictionary("userInfo")
        }
    }

    private func relationship(_ name: String, node: JSONNode, path: String) -> RelationshipDescription {
        let reader = object(node, path: path, keys: ModelDocument.relationshipKeys)
        return RelationshipDescription(
            name, destination: reader.required("destination", at: node), inverse: reader.string("inverse"),
            minCount: reader.int("minCount") ?? 0, maxCount: reader.int("maxCount")
        ).with {
            $0.isOrdered = reader.bool("isOrdered", default: false)
            $0.isOptional = reader.bool("isOptional", default: true)
            $0.isTransient = reader.bool("isTransient", default: false)
            $0.deleteRule = reader.choice("deleteRule", default: .nullify)
            $0.isIndexedBySpotlight = reader.bool("isIndexedBySpotlight", default: false)
            $0.renamingIdentifier = reader.string("renamingIdentifier")
            $0.versionHashModifier = reader.string("versionHashModifier")
            $0.userInfo = reader.stringDictionary("userInfo")
        }
    }

    private func fetchedProperty(_ name: String, node: JSONNode, path: String) -> FetchedPropertyDescription {
        let reader = object(node, path: path, keys: ModelDocument.fetchedPropertyKeys)
        return FetchedPropertyDescription(
            name, entity: reader.required("entity", at: node), predicateFormat: reader.string("predicate"),
            isOptional: reader.bool("isOptional", default: true), userInfo: reader.stringDictionary("userInfo"))
    }

    private func fetchIndex(_ name: String, node: JSONNode, path: String) -> FetchIndexDescription {
        let reader = object(node, path: path, keys: ModelDocument.fetchIndexKeys)
        let elements = reader.items("elements").enumerated().map { index, item in
            let element = object(
                item, path: "\(reader.path("elements"))[\(index)]", keys: ModelDocument.fetchIndexElementKeys)
            return FetchIndexDescription.Element(
                element.node("expression") == nil
                    ? element.required("property", at: item) : element.string("property") ?? "",
                collation: element.choice("collation", default: .binary),
                isAscending: element.bool("isAscending", default: true), expression: element.string("expression"))
        }
        return FetchIndexDescription(
            name, elements: elements, partialIndexPredicateFormat: reader.string("partialIndexPredicate"))
    }
}
