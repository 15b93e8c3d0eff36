internal import RoostCore

/// A reader that turns an `.xcdatamodel` XML document into a model draft.
package struct XMLModelDocument {
    let file: String
    var draft = ModelDraft()
    var warnings: [ModelImportWarning] = []
    /// The XML elements of composite types, by type name.
    var composites: [String: XMLElement] = [:]

    init(file: String) { self.file = file }

    mutating func read(_ root: XMLElement) throws(StoreError) {
        guard root.name == "model" else {
            throw error(root, message: "the root element is not <model>; this is not a Core Data model")
        }
        check(
            root,
            ignoring: [
                // Only the editor needs these attributes.
                "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
                "sourceLanguage", "macOSVersion", "iOSVersion", "tvOSVersion", "watchOSVersion", "visionOSVersion",
                "name", "usedWithSwiftData", "usedWithCloudKit", "minimumMacOSVersion", "minimumiOSVersion",
            ], importing: ["userDefinedModelVersionIdentifier"])
        if let identifier = root["userDefinedModelVersionIdentifier"], !identifier.isEmpty {
            draft.versionIdentifiers = [identifier]
        }
        for child in root.children where child.name == "compositeAttribute" || child.name == "composite" {
            check(child, ignoring: ["syncable"], importing: ["name"])
            composites[try name(of: child)] = child
        }
        for child in root.children {
            switch child.name {
            case "entity": draft.entities.append(try entity(child))
            case "configuration": try configuration(child)
            case "fetchRequest": draft.fetchRequestTemplates.append(try fetchRequest(child))
            case "userInfo": draft.userInfo = try userInfo(child)
            // `elements` contains positions in the editor. The loop above reads composite types.
            case "elements", "compositeAttribute", "composite": continue
            default: warnUnknown(child, in: "model")
            }
        }
    }

    // MARK: Entities

    private mutating func entity(_ element: XMLElement) throws(StoreError) -> EntityDescription {
        check(
            element, ignoring: ["syncable", "codeGenerationType"],
            importing: [
                "name", "representedClassName", "isAbstract", "parentEntity", "elementID", "versionHashModifier",
                "coreSpotlightDisplayNameExpression",
            ])
        var entity = EntityDescription(try name(of: element))
        draft.lines[entity.name] = element.line
        entity.superentityName = nonEmpty(element["parentEntity"])
        entity.isAbstract = flag(element, name: "isAbstract")
        entity.renamingIdentifier = renamingIdentifier(element, name: entity.name)
        entity.versionHashModifier = nonEmpty(element["versionHashModifier"])
        entity.coreSpotlightDisplayNameExpression = nonEmpty(element["coreSpotlightDisplayNameExpression"])
        let className = nonEmpty(element["representedClassName"])
        entity.managedObjectClassName = className == "NSManagedObject" ? nil : className
        for child in element.children {
            draft.lines["\(entity.name).\(child["name"] ?? "")"] = child.line
            switch child.name {
            case "attribute": entity.attributes.append(try attribute(child, of: entity.name))
            case "relationship": entity.relationships.append(try relationship(child, of: entity.name))
            case "fetchedProperty": entity.fetchedProperties.append(try fetchedProperty(child, of: entity.name))
            case "fetchIndex": entity.fetchIndexes.append(try fetchIndex(child, of: entity.name))
            case "compoundIndexes": entity.fetchIndexes += compoundIndexes(child, of: entity.name)
            case "uniquenessConstraints":
                entity.uniquenessConstraints += groups(
                    child, group: "uniquenessConstraint", item: "constraint", of: entity.name)
            case "userInfo": entity.userInfo = try userInfo(child)
            default: warnUnknown(child, in: "entity '\(entity.name)'")
            }
        }
        addIndexes(ofLegacyAttributesIn: element, to: &entity)
        return entity
    }

    /// Adds a fetch index for each stored attribute with `indexed="YES"`, unless an index has
    /// the same elements.
    private func addIndexes(ofLegacyAttributesIn element: XMLElement, to entity: inout EntityDescription) {
        for child in element.children("attribute") where child["indexed"] == "YES" {
            guard let name = child["name"], child["transient"] != "YES" else { continue }
            let index = FetchIndexDescription(name, on: name)
            if !entity.fetchIndexes.contains(where: { $0.elements == index.elements }) {
                entity.fetchIndexes.append(index)
            }
        }
    }

    private mutating func fetchIndex(
        _ element: XMLElement, of entity: String
    ) throws(StoreError) -> FetchIndexDescription {
        check(element, ignoring: [], importing: ["name", "partialIndexPredicate"])
        var index = FetchIndexDescription(
            try name(of: element), elements: [],
            partialIndexPredicateFormat: nonEmpty(element["partialIndexPredicate"]))
        for child in element.children {
            guard child.name == "fetchIndexElement" else {
                warnUnknown(child, in: "fetch index '\(entity).\(index.name)'")
                continue
            }
            check(
                child, ignoring: ["expressionType"], importing: ["property", "expression", "type", "order"])
            let expression = nonEmpty(child["expression"])
            var part = FetchIndexDescription.Element(child["property"] ?? "", expression: expression)
            switch child["type"] ?? "Binary" {
            case "Binary": part.collation = .binary
            case "RTree": part.collation = .rTree
            case let other: warn(child, message: "fetch index type '\(other)' is unknown; it is read as Binary")
            }
            switch child["order"] ?? "ascending" {
            case "ascending": part.isAscending = true
            case "descending": part.isAscending = false
            case let other: warn(child, message: "fetch index order '\(other)' is unknown; it is read as ascending")
            }
            index.elements.append(part)
        }
        return index
    }

    /// Converts compound indexes, an older form, to fetch indexes named after their properties.
    private mutating func compoundIndexes(_ element: XMLElement, of entity: String) -> [FetchIndexDescription] {
        groups(element, group: "compoundIndex", item: "index", of: entity).map { properties in
            FetchIndexDescription(
                properties.joined(separator: "_"), elements: properties.map { FetchIndexDescription.Element($0) })
        }
    }

    /// Returns one list of values for each `<group><item value="…"/>…</group>` element.
    ///
    /// An item may list several values, separated by commas.
    private mutating func groups(
        _ element: XMLElement, group: String, item: String, of entity: String
    ) -> [[String]] {
        check(element, ignoring: [], importing: [])
        var groups: [[String]] = []
        for child in element.children {
            guard child.name == group else {
                warnUnknown(child, in: "entity '\(entity)'")
                continue
            }
            check(child, ignoring: [], importing: [])
            var values: [String] = []
            for member in child.children {
                guard member.name == item, let value = member["value"] else {
                    warnUnknown(member, in: "entity '\(entity)'")
                    continue
                }
                check(member, ignoring: [], importing: ["value"])
                values += value.split(separator: ",").map { String($0.trimmingSpaces) }
            }
            groups.append(values)
        }
        return groups
    }

    // MARK: Parts of the model

    private mutating func configuration(_ element: XMLElement) throws(StoreError) {
        check(element, ignoring: ["usedWithCloudKit"], importing: ["name"])
        var members: [String] = []
        for child in element.children {
            guard child.name == "memberEntity" else {
                warnUnknown(child, in: "configuration")
                continue
            }
            check(child, ignoring: [], importing: ["name"])
            members.append(try name(of: child))
        }
        draft.configurations[try name(of: element)] = members
    }

    mutating func fetchRequest(_ element: XMLElement) throws(StoreError) -> FetchRequestTemplate {
        var template = FetchRequestTemplate(
            try name(of: element), entity: element["entity"] ?? "",
            predicateFormat: nonEmpty(element["predicateString"]))
        for attribute in element.attributes where !["name", "entity", "predicateString"].contains(attribute.name) {
            template.options[attribute.name] = attribute.value
        }
        for child in element.children { warnUnknown(child, in: "fetch request '\(template.name)'") }
        return template
    }

    mutating func userInfo(_ element: XMLElement) throws(StoreError) -> [String: String] {
        var entries: [String: String] = [:]
        for child in element.children {
            guard child.name == "entry", let key = child["key"] else {
                warnUnknown(child, in: "userInfo")
                continue
            }
            check(child, ignoring: [], importing: ["key", "value"])
            if entries.updateValue(child["value"] ?? child.text, forKey: key) != nil {
                warn(child, message: "user info key '\(key)' occurs twice; the last value is used")
            }
        }
        return entries
    }
}
