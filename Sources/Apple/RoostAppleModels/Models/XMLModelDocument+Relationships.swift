internal import RoostCore

extension XMLModelDocument {
    mutating func relationship(_ element: XMLElement, of entity: String) throws(StoreError) -> RelationshipDescription {
        check(
            element, ignoring: ["syncable", "indexed", "inverseEntity", "storedInTruthFile"],
            importing: [
                "name", "optional", "transient", "toMany", "minCount", "maxCount", "ordered", "deletionRule",
                "destinationEntity", "inverseName", "elementID", "versionHashModifier", "spotlightIndexingEnabled",
            ])
        let name = try name(of: element)
        guard let destination = nonEmpty(element["destinationEntity"]) ?? nonEmpty(element["inverseEntity"]) else {
            throw error(element, message: "relationship '\(entity).\(name)' has no destination entity")
        }
        let isToMany = flag(element, name: "toMany")
        var maxCount = count(element, name: "maxCount").flatMap { $0 == 0 ? nil : $0 }
        let minCount = count(element, name: "minCount") ?? 0
        if !isToMany {
            if let maxCount, maxCount > 1 {
                warn(element, message: "maxCount is \(maxCount) but toMany is absent; it is read as to-one")
            }
            maxCount = 1
        }
        var relationship = RelationshipDescription(
            name, destination: destination, inverse: nonEmpty(element["inverseName"]), minCount: minCount,
            maxCount: maxCount)
        if let maxCount, minCount > maxCount {
            warn(element, message: "minCount is greater than maxCount; minCount is left out")
            relationship.minCount = 0
        }
        relationship.isOptional = flag(element, name: "optional")
        relationship.isTransient = flag(element, name: "transient")
        relationship.isOrdered = flag(element, name: "ordered")
        relationship.isIndexedBySpotlight = flag(element, name: "spotlightIndexingEnabled")
        relationship.renamingIdentifier = renamingIdentifier(element, name: name)
        relationship.versionHashModifier = nonEmpty(element["versionHashModifier"])
        switch element["deletionRule"] ?? "Nullify" {
        case "No Action": relationship.deleteRule = .noAction
        case "Nullify": relationship.deleteRule = .nullify
        case "Cascade": relationship.deleteRule = .cascade
        case "Deny": relationship.deleteRule = .deny
        case let other: warn(element, message: "deletion rule '\(other)' is unknown; it is read as Nullify")
        }
        if relationship.isOrdered, !relationship.isToMany {
            warn(element, message: "a to-one relationship cannot be ordered; it is read as not ordered")
            relationship.isOrdered = false
        }
        for child in element.children {
            if child.name == "userInfo" {
                relationship.userInfo = try userInfo(child)
            } else {
                warnUnknown(child, in: "relationship '\(entity).\(name)'")
            }
        }
        return relationship
    }

    private mutating func count(_ element: XMLElement, name: String) -> Int? {
        guard let text = nonEmpty(element[name]) else { return nil }
        guard let count = Int(text), count >= 0 else {
            warn(element, message: "\(name) is not a count; it is left out")
            return nil
        }
        return count
    }

    mutating func fetchedProperty(
        _ element: XMLElement, of entity: String
    ) throws(StoreError) -> FetchedPropertyDescription {
        check(element, ignoring: ["syncable", "transient"], importing: ["name", "optional"])
        var property = FetchedPropertyDescription(try name(of: element), entity: "")
        property.isOptional = flag(element, name: "optional")
        for child in element.children {
            switch child.name {
            case "fetchRequest":
                let request = try fetchRequest(child)
                property.entityName = request.entityName
                property.predicateFormat = request.predicateFormat
                for option in request.options.keys.sorted() {
                    warn(child, message: "attribute '\(option)' of a fetched property's request is left out")
                }
            case "userInfo": property.userInfo = try userInfo(child)
            default: warnUnknown(child, in: "fetched property '\(entity).\(property.name)'")
            }
        }
        guard !property.entityName.isEmpty else {
            throw error(
                element, message: "fetched property '\(entity).\(property.name)' has no fetch request with an entity")
        }
        return property
    }
}
