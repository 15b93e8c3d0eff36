internal import RoostCore
internal import RoostJSONText
internal import RoostQuery

extension MappingDocument {
    /// Reads a document, or throws all its problems in one error.
    static func read(_ bytes: [UInt8]) throws(StoreError) -> MappingModel {
        let node = try JSONNode.document(
            bytes, acceptsJSON5: true, as: "The mapping document", code: .invalidMappingModel)
        // The version is checked first, because members of a newer format may look wrong.
        try JSONObjectReader.requireVersion(formatVersion, of: node, named: "mapping document")
        let problems = JSONProblems(of: bytes)
        let model = MappingDocumentReader(problems: problems).model(node)
        guard problems.messages.isEmpty else {
            throw .invalidMappingModel(problems.messages.map { MappingProblem(message: $0) })
        }
        return model
    }
}

private struct MappingDocumentReader {
    let problems: JSONProblems

    func model(_ node: JSONNode) -> MappingModel {
        let reader = object(node, path: "", keys: MappingDocument.modelKeys)
        reader.checkVersion(MappingDocument.formatVersion, of: node)
        var mappings: [EntityMapping] = []
        var names: Set<String> = []
        for (index, item) in reader.items("entityMappings").enumerated() {
            let path = "\(reader.path("entityMappings"))[\(index)]"
            let mapping = entityMapping(item, path: path)
            if !mapping.name.isEmpty, !names.insert(mapping.name).inserted {
                problems.add(
                    "another mapping is named '\(mapping.name)' too; names must be unique.", path: path,
                    at: item.byteOffset)
            }
            mappings.append(mapping)
        }
        return MappingModel(mappings, userInfo: reader.stringDictionary("userInfo"))
    }

    private func object(_ node: JSONNode, path: String, keys: [String]) -> JSONObjectReader {
        JSONObjectReader(node, path: path, keys: keys, problems: problems)
    }

    private func entityMapping(_ node: JSONNode, path: String) -> EntityMapping {
        let reader = object(node, path: path, keys: MappingDocument.entityMappingKeys)
        _ = reader.required("type", at: node)
        return EntityMapping(
            reader.required("name", at: node), type: reader.choice("type", default: .transform),
            from: reader.string("source").map { EntityName($0) },
            to: reader.string("destination").map { EntityName($0) },
            attributes: properties(reader, key: "attributes")
        ).with {
            $0.sourceVersionHash = hash(reader, key: "sourceVersionHash")
            $0.destinationVersionHash = hash(reader, key: "destinationVersionHash")
            $0.sourcePredicate = parsed(reader.node("where"), path: reader.path("where")) { (text) throws(StoreError) in
                try FetchRequest.Predicate(format: text)
            }
            $0.relationshipMappings = properties(reader, key: "relationships")
            $0.policyName = reader.string("policy")
            $0.userInfo = reader.stringDictionary("userInfo")
        }
    }

    private func properties(_ reader: JSONObjectReader, key: String) -> [PropertyMapping] {
        reader.members(key).map { member in
            let reader = object(
                member.value, path: JSONObjectReader.join(reader.path(key), with: member.key),
                keys: MappingDocument.propertyMappingKeys)
            let value = parsed(reader.node("value"), path: reader.path("value")) { (text) throws(StoreError) in
                try FetchRequest.Expression(format: text)
            }
            return PropertyMapping(member.key, expression: value, userInfo: reader.stringDictionary("userInfo"))
        }
    }

    private func hash(_ reader: JSONObjectReader, key: String) -> VersionHash? {
        guard let node = reader.node(key), let text = reader.string(key) else { return nil }
        if let hash = VersionHash(text) { return hash }
        problems.add("32 hexadecimal digits are expected.", path: reader.path(key), at: node.byteOffset)
        return nil
    }

    /// Parses a text in the predicate language, and adds a problem if the text is invalid.
    private func parsed<Result>(
        _ node: JSONNode?, path: String, _ parse: (String) throws(StoreError) -> Result
    ) -> Result? {
        guard let node, let text = JSONObjectReader.string(node, path: path, problems: problems) else { return nil }
        do throws(StoreError) {
            return try parse(text)
        } catch {
            problems.add(error.message, path: path, at: node.byteOffset)
            return nil
        }
    }
}
