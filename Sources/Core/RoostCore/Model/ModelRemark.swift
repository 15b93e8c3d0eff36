/// A remark about a declaration that Roost's stores save in the model, but do not use.
package struct ModelRemark: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable, Codable {
        case expressionIndex
        case partialIndex
        case spatialIndex
        case fetchRequestTemplate
        case fetchedProperty
        case valueTransformer
        case derivedAttribute

        var text: String {
            switch self {
            case .expressionIndex: "index of an expression: no store keeps one, and fetches do not use it"
            case .partialIndex: "partial index: every store indexes all objects instead"
            case .spatialIndex: "spatial index: no store keeps one, and fetches do not use it"
            case .fetchRequestTemplate: "fetch request template: it is kept in the model, and no store executes it"
            case .fetchedProperty: "fetched property: it is kept in the model, and no store evaluates it"
            case .valueTransformer:
                "value transformer: no store applies it; stores keep the bytes that the transformer wrote"
            case .derivedAttribute:
                "derived attribute: contexts and batch requests compute it; a store's commit saves the given value unchanged"
            }
        }
    }

    package let kind: Kind
    /// The entity that contains the declaration; for a fetch request template, the fetched entity.
    package let entity: String
    package let name: String

    package init(_ kind: Kind, entity: String, name: String) {
        (self.kind, self.entity, self.name) = (kind, entity, name)
    }

    package var description: String { "\(entity).\(name): \(kind.text)" }
}

extension ManagedObjectModel {
    /// The remarks about the model, ordered by kind, then by entity.
    package var remarks: [ModelRemark] {
        var remarks: [ModelRemark] = []
        for entity in entityDescriptions {
            for index in entity.fetchIndexes {
                func add(_ kind: ModelRemark.Kind) {
                    remarks.append(ModelRemark(kind, entity: entity.name, name: index.name))
                }
                if index.elements.contains(where: { $0.expression != nil }) { add(.expressionIndex) }
                if index.elements.contains(where: { $0.collation == .rTree }) { add(.spatialIndex) }
                if index.partialIndexPredicateFormat != nil { add(.partialIndex) }
            }
            for property in entity.fetchedProperties {
                remarks.append(ModelRemark(.fetchedProperty, entity: entity.name, name: property.name))
            }
            for attribute in entity.attributes {
                Self.addRemarks(attribute, path: attribute.name, of: entity.name, to: &remarks)
            }
        }
        for template in fetchRequestTemplates {
            remarks.append(ModelRemark(.fetchRequestTemplate, entity: template.entityName, name: template.name))
        }
        return ModelRemark.Kind.allCases.flatMap { kind in remarks.filter { $0.kind == kind } }
    }

    private static func addRemarks(
        _ attribute: AttributeDescription, path: String, of entity: String, to remarks: inout [ModelRemark]
    ) {
        guard attribute.isStored else { return }
        if attribute.valueTransformerName != nil {
            remarks.append(ModelRemark(.valueTransformer, entity: entity, name: path))
        }
        if attribute.derivationExpression != nil {
            remarks.append(ModelRemark(.derivedAttribute, entity: entity, name: path))
        }
        for element in attribute.elements {
            addRemarks(element, path: "\(path).\(element.name)", of: entity, to: &remarks)
        }
    }

    /// Returns one line for each kind of remark, without the remarks that also apply to `known`.
    package func remarkLines(except known: ManagedObjectModel? = nil) -> [String] {
        let old = Set(known?.remarks ?? [])
        let remarks = remarks.filter { !old.contains($0) }
        return ModelRemark.Kind.allCases.compactMap { kind in
            let names = remarks.filter { $0.kind == kind }.map { "\($0.entity).\($0.name)" }
            guard !names.isEmpty else { return nil }
            let more = names.count > 5 ? " and \(names.count - 5) more" : ""
            return "\(kind.text) (\(names.prefix(5).joined(separator: ", "))\(more))"
        }
    }
}
