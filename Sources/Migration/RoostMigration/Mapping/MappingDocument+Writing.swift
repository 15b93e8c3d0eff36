internal import RoostCore
internal import RoostJSONText
internal import RoostQuery

extension MappingDocument {
    static func node(of model: MappingModel) throws(StoreError) -> JSONNode {
        var result = JSONMembers()
        result.add("formatVersion", formatVersion)
        result.add("userInfo", model.userInfo)
        var nodes: [JSONNode] = []
        var names: Set<String> = []
        for mapping in model.entityMappings {
            guard names.insert(mapping.name).inserted else {
                throw .invalidMappingModel([
                    MappingProblem(
                        mapping: mapping.name, message: "Another mapping has this name too; names must be unique.")
                ])
            }
            nodes.append(try node(of: mapping))
        }
        result.members.append(JSONMember("entityMappings", .array(nodes)))
        return JSONNode(.object(result.members))
    }

    private static func node(of mapping: EntityMapping) throws(StoreError) -> JSONNode {
        var result = JSONMembers()
        result.add("name", mapping.name)
        result.add("type", mapping.type.rawValue)
        result.add("source", mapping.sourceEntity?.text)
        result.add("destination", mapping.destinationEntity?.text)
        result.add("sourceVersionHash", mapping.sourceVersionHash?.description)
        result.add("destinationVersionHash", mapping.destinationVersionHash?.description)
        if let predicate = mapping.sourcePredicate { result.add("where", try predicate.format()) }
        result.add("policy", mapping.policyName)
        result.add("attributes", object: try members(of: mapping.attributeMappings, mapping: mapping))
        result.add("relationships", object: try members(of: mapping.relationshipMappings, mapping: mapping))
        result.add("userInfo", mapping.userInfo)
        return JSONNode(.object(result.members))
    }

    private static func members(
        of mappings: [PropertyMapping], mapping: EntityMapping
    ) throws(StoreError) -> [JSONMember] {
        var members: [JSONMember] = []
        var names: Set<String> = []
        for property in mappings {
            guard names.insert(property.name).inserted else {
                throw .invalidMappingModel([
                    MappingProblem(
                        mapping: mapping.name, property: property.name,
                        message: "The property has two mappings; keep only one.")
                ])
            }
            var result = JSONMembers()
            if let value = property.valueExpression { result.add("value", try value.format()) }
            result.add("userInfo", property.userInfo)
            members.append(JSONMember(property.name, .object(result.members)))
        }
        return members
    }
}
