/// A remark about a declaration that has no effect in Roost's stores.
///
/// Stores save the declaration as part of their model. ``ManagedObjectModel/remarks`` lists the
/// remarks about a model:
///
/// ```swift
/// for remark in model.remarks { print(remark) }
/// // Place.byDistance: spatial index: no store keeps one, and fetches do not use it
/// ```
package struct ModelRemark: Hashable, Sendable, CustomStringConvertible {
    /// The kind of a declaration without effect in stores.
    package enum Kind: String, Sendable, CaseIterable, Codable {
        /// An index with an element that is an expression.
        case expressionIndex
        /// An index that contains only some objects.
        case partialIndex
        /// An index of type `rTree`.
        case spatialIndex
        /// A named fetch request in the model.
        case fetchRequestTemplate
        /// A fetched property.
        case fetchedProperty
        /// A value transformer of a transformable attribute.
        case valueTransformer
        /// A derived attribute.
        case derivedAttribute

        /// The kind of declaration and the consequence, as text for people.
        var text: String {
            switch self {
            case .expressionIndex: "index of an expression: no store keeps one, and fetches do not use it"
            case .partialIndex: "partial index: every store indexes all objects instead"
            case .spatialIndex: "spatial index: no store keeps one, and fetches do not use it"
            case .fetchRequestTemplate: "fetch request template: it is kept in the model, and no store executes it"
            case .fetchedProperty: "fetched property: it is kept in the model, and no store evaluates it"
            case .valueTransformer: "value transformer: no store applies it; the values are the bytes that it wrote"
            case .derivedAttribute:
                "derived attribute: contexts and batch requests compute it; a store's commit saves the given value unchanged"
            }
        }
    }

    /// The kind of declaration.
    package let kind: Kind
    /// The entity that contains the declaration; for a fetch request template, the fetched entity.
    package let entity: String
    /// The name of the property, index or template.
    package let name: String

    /// Creates a remark.
    package init(_ kind: Kind, entity: String, name: String) {
        (self.kind, self.entity, self.name) = (kind, entity, name)
    }

    /// The declaration and its consequence: `Entity.name: …`.
    package var description: String { "\(entity).\(name): \(kind.text)" }
}

extension ManagedObjectModel {
    /// The remarks about the model, ordered by kind, then by entity.
    ///
    /// Conversions, loads and migrations report the remarks when they create a store.
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

    /// Returns a report of the remarks, with one line for each kind and up to five names in a line.
    ///
    /// - Parameter known: A model whose remarks are omitted; nil for none.
    /// - Returns: The lines, ordered by kind.
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
