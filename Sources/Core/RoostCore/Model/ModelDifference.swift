internal import RoostJSONText

/// A difference between two models, in an entity, in one of its properties, or in the whole model.
package struct ModelDifference: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable, Codable {
        case added
        case removed
        case changed
        /// Both models have the item, under different names with equal renaming identifiers.
        case renamed
    }

    package let kind: Kind
    /// The affected entity; nil for the whole model.
    package let entity: String?
    /// The affected property or fetch index; nil for an entity or the whole model.
    package let property: String?
    /// A word for the item that differs, such as `attribute` or `fetch index`.
    package let subject: String
    /// The old name of a renamed item; ``entity`` and ``property`` contain new names.
    package let formerName: String?
    /// The settings that differ, such as `isOptional: true → false`.
    package let details: [String]
    /// Whether the difference changes the entity's version hash, so that stores need a migration.
    package let changesVersionHash: Bool

    /// The difference as a line:
    /// `Track.title: attribute changed (isOptional: true → false); needs a migration`.
    package var description: String { text + (changesVersionHash ? "; needs a migration" : "") }

    /// The line without the note about a migration: `Track.date: attribute renamed to created`.
    package var text: String {
        var names = [entity, property].compactMap { $0 }
        var what = "\(subject) \(kind)"
        if let formerName, let name = names.popLast() {
            names.append(formerName)
            what += " to \(name)"
        }
        let place = names.isEmpty ? "" : names.joined(separator: ".") + ": "
        return place + what + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }
}

extension ManagedObjectModel {
    /// Returns the differences from an older model, grouped by entity.
    ///
    /// Every setting is compared, even if it does not change the version hash.
    package func difference(from old: ManagedObjectModel) -> [ModelDifference] {
        var comparison = ModelComparison()
        comparison.compare(old, self)
        return comparison.differences
    }
}

/// A comparison of two models' documents, which omit default values.
private struct ModelComparison {
    private(set) var differences: [ModelDifference] = []

    /// The sections of an entity's document, each with the word for an item and the keys that
    /// affect the version hash.
    private static let sections: [(key: String, subject: String, hashed: Set<String>)] = [
        (
            "attributes", "attribute",
            [
                "type", "isOptional", "isTransient", "versionHashModifier", "allowsExternalBinaryDataStorage",
                "preservesValueInHistoryOnDeletion", "derivationExpression",
            ]
        ),
        (
            "relationships", "relationship",
            [
                // "inverse" is missing here: only a stored inverse affects the hash; see
                // `changedInverses`.
                "isOptional", "isTransient", "isOrdered", "minCount", "maxCount", "versionHashModifier", "destination",
            ]
        ),
        ("fetchedProperties", "fetched property", []),
        ("fetchIndexes", "fetch index", []),
    ]

    /// The keys of an entity, other than ``sections``, that affect its version hash.
    private static let hashedEntityKeys: Set<String> = [
        "superentity", "isAbstract", "versionHashModifier", "uniquenessConstraints",
    ]

    /// The default values of omitted keys, as text.
    private static let defaults = [
        "isOptional": "true", "isTransient": "false", "isAbstract": "false", "isOrdered": "false",
        "isIndexedBySpotlight": "false", "allowsCloudEncryption": "false", "allowsExternalBinaryDataStorage": "false",
        "preservesValueInHistoryOnDeletion": "false", "minCount": "0", "maxCount": "unlimited",
        "deleteRule": "\"nullify\"",
    ]

    mutating func compare(_ old: ManagedObjectModel, _ new: ManagedObjectModel) {
        let (oldKeys, newKeys) = (
            members(ModelDocument.node(of: old).content), members(ModelDocument.node(of: new).content)
        )
        let details = changes(oldKeys, new: newKeys, except: ["entities"]).map(\.text)
        if !details.isEmpty {
            differences.append(
                ModelDifference(
                    kind: .changed, entity: nil, property: nil, subject: "model", formerName: nil, details: details,
                    changesVersionHash: false))
        }
        func identifiers(_ model: ManagedObjectModel) -> [String: String?] {
            Dictionary(
                model.entityDescriptions.map { ($0.name, $0.renamingIdentifier) },
                uniquingKeysWith: { first, _ in first })
        }
        let formerNames = Self.formerNames(identifiers(old), identifiers(new))
        let names = Set((old.entityDescriptions + new.entityDescriptions).map(\.name))
        for name in names.subtracting(formerNames.values).sorted(by: ModelResolver.precedes) {
            let formerName = formerNames[name]
            switch (old.entity(EntityName(formerName ?? name)), new.entity(EntityName(name))) {
            case (let before?, let after?):
                if let formerName {
                    differences.append(
                        ModelDifference(
                            kind: .renamed, entity: name, property: nil, subject: "entity", formerName: formerName,
                            details: [], changesVersionHash: true))
                }
                compare(
                    before, new: after, changedInverses: Self.changedInverses(before, old: old, after: after, new: new))
            case (nil, _): add(.added, entity: name, property: nil, subject: "entity", changesVersionHash: true)
            case (_, nil): add(.removed, entity: name, property: nil, subject: "entity", changesVersionHash: true)
            }
        }
    }

    private mutating func add(
        _ kind: ModelDifference.Kind, entity: String, property: String?, subject: String,
        details: [String] = [],
        changesVersionHash: Bool
    ) {
        differences.append(
            ModelDifference(
                kind: kind, entity: entity, property: property, subject: subject, formerName: nil, details: details,
                changesVersionHash: changesVersionHash))
    }

    /// Returns the old names of renamed items, by new names.
    ///
    /// As in a migration, items match if they have the same renaming identifier. The identifier is
    /// the item's name by default.
    private static func formerNames(_ old: [String: String?], _ new: [String: String?]) -> [String: String] {
        var byIdentifier: [String: String] = [:]
        for (name, identifier) in old.sorted(by: { $0.key < $1.key }) where new[name] == nil {
            byIdentifier[(identifier ?? nil) ?? name] = name
        }
        var result: [String: String] = [:]
        for (name, identifier) in new.sorted(by: { $0.key < $1.key }) where old[name] == nil {
            guard let former = byIdentifier.removeValue(forKey: (identifier ?? nil) ?? name) else { continue }
            result[name] = former
        }
        return result
    }

    /// Returns a description of each changed stored inverse, by the relationship's name.
    private static func changedInverses(
        _ before: ManagedObjectModel.Entity, old: ManagedObjectModel, after: ManagedObjectModel.Entity,
        new: ManagedObjectModel
    ) -> [String: String] {
        func inverses(_ entity: ManagedObjectModel.Entity, model: ManagedObjectModel) -> [String: String?] {
            let declared = entity.relationships.filter { $0.source == entity.number }
            return Dictionary(
                declared.map { ($0.name.name, $0.inverse.map { model.relationships[$0].name.name }) },
                uniquingKeysWith: { first, _ in first })
        }
        let (before, after) = (inverses(before, model: old), inverses(after, model: new))
        var changes: [String: String] = [:]
        for (name, inverse) in after {
            guard let former = before[name], former != inverse else { continue }
            changes[name] = "stored inverse: \(former ?? defaults["inverse"] ?? "none") → \(inverse ?? "none")"
        }
        return changes
    }

    private mutating func compare(
        _ old: ManagedObjectModel.Entity, new: ManagedObjectModel.Entity, changedInverses: [String: String]
    ) {
        let name = new.declaration.name
        let first = differences.count
        let oldKeys = members(ModelDocument.node(of: old.declaration))
        let newKeys = members(ModelDocument.node(of: new.declaration))
        let own = changes(oldKeys, new: newKeys, except: Set(Self.sections.map(\.key)))
        if !own.isEmpty {
            let isHashed = own.contains { Self.hashedEntityKeys.contains($0.key) }
            add(
                .changed, entity: name, property: nil, subject: "entity", details: own.map(\.text),
                changesVersionHash: isHashed)
        }
        for section in Self.sections {
            compare(
                section, entity: name, old: oldKeys[section.key], new: newKeys[section.key],
                changedInverses: section.key == "relationships" ? changedInverses : [:])
        }
        if old.versionHash != new.versionHash, !differences[first...].contains(where: \.changesVersionHash) {
            add(
                .changed, entity: name, property: nil, subject: "entity", details: ["a superentity changed"],
                changesVersionHash: true)
        }
    }

    private mutating func compare(
        _ section: (key: String, subject: String, hashed: Set<String>), entity: String,
        old: JSONNode.Content?, new: JSONNode.Content?, changedInverses: [String: String]
    ) {
        let (old, new) = (old.map(members) ?? [:], new.map(members) ?? [:])
        func identifiers(_ things: [String: JSONNode.Content]) -> [String: String?] {
            things.mapValues { thing in
                guard case .string(let identifier)? = members(thing)["renamingIdentifier"] else { return nil }
                return identifier
            }
        }
        let formerNames = Self.formerNames(identifiers(old), identifiers(new))
        let names = Set(old.keys).union(new.keys).subtracting(formerNames.values)
        for name in names.sorted(by: ModelResolver.precedes) {
            let formerName = formerNames[name]
            switch (old[formerName ?? name], new[name]) {
            case (let old?, let new?):
                let (old, new) = (members(old), members(new))
                let changes = changes(old, new: new, except: formerName == nil ? [] : ["renamingIdentifier"])
                let inverse = changedInverses[name]
                guard !changes.isEmpty || inverse != nil || formerName != nil else { continue }
                // Transient properties do not affect the hash.
                let isHashed = !section.hashed.isEmpty && !(isTransient(old) && isTransient(new))
                let changesHash =
                    inverse != nil
                    || isHashed
                        && (formerName != nil
                            || changes.contains { change in
                                section.hashed.contains(change.key)
                                    || change.key == "elements" && elementsDiffer(old, new)
                            })
                let saysInverse = changes.contains { $0.key == "inverse" }
                differences.append(
                    ModelDifference(
                        kind: formerName == nil ? .changed : .renamed, entity: entity, property: name,
                        subject: section.subject, formerName: formerName,
                        details: changes.map(\.text) + (saysInverse ? [] : inverse.map { [$0] } ?? []),
                        changesVersionHash: changesHash))
            case (nil, let new?):
                let isHashed = !section.hashed.isEmpty && !isTransient(members(new))
                add(.added, entity: entity, property: name, subject: section.subject, changesVersionHash: isHashed)
            case (let old?, nil):
                let isHashed = !section.hashed.isEmpty && !isTransient(members(old))
                add(.removed, entity: entity, property: name, subject: section.subject, changesVersionHash: isHashed)
            case (nil, nil): continue
            }
        }
    }

    private func isTransient(_ keys: [String: JSONNode.Content]) -> Bool { text(keys["isTransient"]) == "true" }

    /// Returns whether two composites have elements whose difference affects the version hash.
    private func elementsDiffer(_ old: [String: JSONNode.Content], _ new: [String: JSONNode.Content]) -> Bool {
        let (oldElements, newElements) = (old["elements"].map(members) ?? [:], new["elements"].map(members) ?? [:])
        guard Set(oldElements.keys) == Set(newElements.keys) else { return true }
        return oldElements.contains { name, element in
            let (old, new) = (members(element), newElements[name].map(members) ?? [:])
            return Self.sections[0].hashed.contains { text(old[$0]) != text(new[$0]) } || elementsDiffer(old, new)
        }
    }

    /// Returns the keys whose values differ, each with the old and the new value as text.
    private func changes(
        _ old: [String: JSONNode.Content], new: [String: JSONNode.Content], except: Set<String>
    ) -> [(key: String, text: String)] {
        Set(old.keys).union(new.keys).subtracting(except).sorted().compactMap { key in
            guard text(old[key]) != text(new[key]) else { return nil }
            let standard = Self.defaults[key] ?? "none"
            return (key, "\(key): \(text(old[key]) ?? standard) → \(text(new[key]) ?? standard)")
        }
    }

    private func text(_ content: JSONNode.Content?) -> String? {
        content.map { String(decoding: JSONText.bytes(JSONNode($0)), as: UTF8.self) }
    }

    private func members(_ content: JSONNode.Content) -> [String: JSONNode.Content] {
        guard case .object(let members) = content else { return [:] }
        return Dictionary(members.map { ($0.key, $0.value.content) }, uniquingKeysWith: { first, _ in first })
    }
}
