internal import RoostAppleModels
internal import RoostCore
internal import RoostMigration
internal import RoostQuery
internal import RoostSystem

/// An import of a mapping model file.
struct MappingImport {
    let file: String
    /// All objects of the file, by identifier.
    let objects: [String: XMLStoreObject]
    var warnings: [ModelImportWarning] = []
    private let budget = DecodingBudget()
    private var source: ModelOutline?
    private var destination: ModelOutline?
    private var sourceModel: ManagedObjectModel?
    private var destinationModel: ManagedObjectModel?
    /// The entity mappings that the mapping model links to, in order, each with its final name.
    private var mappings: [(object: XMLStoreObject, name: String)] = []
    /// The property mappings whose expressions the import creates, by entity mapping and property.
    private var made: [String: [String: XMLStoreObject]] = [:]

    init(file: String, objects: [String: XMLStoreObject]) {
        self.file = file
        self.objects = objects
    }

    mutating func read(
        source: ManagedObjectModel?, destination: ManagedObjectModel?
    ) throws(StoreError) -> CoreDataMappingModel {
        let root = try rootObject()
        (sourceModel, destinationModel) = (source, destination)
        self.source =
            source.map { ModelOutline($0) } ?? outline(root, attribute: "sourcemodeldata", noun: "source model")
        self.destination =
            destination.map { ModelOutline($0) }
            ?? outline(root, attribute: "destinationmodeldata", noun: "destination model")
        try collectMappings(of: root)
        var entityMappings: [EntityMapping] = []
        for (object, name) in mappings { entityMappings.append(try entityMapping(object, named: name)) }
        warnOfOrphans(of: root)
        let mapping = leavingMisfitsOut(of: settlingCopies(in: MappingModel(entityMappings)))
        return CoreDataMappingModel(
            mapping: mapping, sourceModelPath: root["sourcemodelpath"],
            destinationModelPath: root["destinationmodelpath"], warnings: warnings)
    }

    private mutating func rootObject() throws(StoreError) -> XMLStoreObject {
        let roots = objects.values.filter { $0.type == "XDDEVMAPPINGMODEL" }.sorted { $0.line < $1.line }
        guard let root = roots.first(where: { !references(of: $0, name: "entitymappings").isEmpty }) ?? roots.first
        else {
            throw StoreError(.invalidMappingModel, "\(file): the file contains no mapping model.")
        }
        for other in roots where other.identifier != root.identifier {
            warn(
                other, element: "mapping model",
                message: "the file has several mapping models; only the one in line \(root.line) is read"
            )
        }
        return root
    }

    /// Reads the embedded copy of a model, or returns nil if the copy is unreadable.
    private mutating func outline(_ root: XMLStoreObject, attribute: String, noun: String) -> ModelOutline? {
        let place = "the copy of the \(noun) in '\(file)'"
        do throws(StoreError) {
            if let text = root[attribute], let bytes = Base64.bytes(text, ignoringSpaces: true) {
                let outline = try ModelOutline(archive: bytes, file: place, budget: DecodingBudget())
                if !outline.entities.isEmpty { return outline }
            }
        } catch {
            warn(root, element: noun, message: error.message)
        }
        warn(
            root, element: noun,
            message:
                "the file has no readable copy of this model, so the model's properties are unknown; pass both models to MappingFile.read"
        )
        return nil
    }

    /// Sorts the linked entity mappings, and gives each a name.
    private mutating func collectMappings(of root: XMLStoreObject) throws(StoreError) {
        var linked: [(object: XMLStoreObject, number: Int)] = []
        for identifier in references(of: root, name: "entitymappings") {
            let object = try object(identifier, type: "XDDEVENTITYMAPPING", of: root)
            linked.append((object, object["mappingnumber"].flatMap { Int($0.trimmingSpaces) } ?? 0))
        }
        // Mappings with equal numbers keep the order of their links.
        let ordered = linked.enumerated().sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }
        var names: Set<String> = []
        /// The last number appended to each name that several mappings share.
        var lastNumbers: [String: Int] = [:]
        for (_, (object, _)) in ordered {
            let ends = [object["sourcename"], object["destinationname"]].compactMap(\.self)
            guard let end = ends.last else {
                warn(object, element: "entity mapping", message: "it names no entity; it is left out")
                continue
            }
            var name = object["name"] ?? (ends.count == 2 ? "\(ends[0])To\(end)" : end)
            if names.contains(name) {
                let taken = name
                var number = lastNumbers[taken] ?? 1
                while names.contains(name) {
                    number += 1
                    name = "\(taken)\(number)"
                }
                lastNumbers[taken] = number
                warn(
                    object, element: "entity mapping '\(taken)'",
                    message:
                        "several entity mappings have this name; this one is called '\(name)', and '\(taken)' refers to the first"
                )
            }
            names.insert(name)
            mappings.append((object, name))
        }
        guard !mappings.isEmpty else {
            throw StoreError(.invalidMappingModel, "\(file):\(root.line): the mapping model has no entity mapping.")
        }
    }

    // MARK: Entity mappings

    private mutating func entityMapping(
        _ object: XMLStoreObject, named name: String
    ) throws(StoreError) -> EntityMapping {
        let place = "entity mapping '\(name)'"
        check(
            object, place: place,
            known: [
                "name", "mappingtypename", "mappingnumber", "sourcename", "destinationname", "autogenerateexpression",
                "sourcefilterpredicatestring", "sourceexpressiondata", "migrationpolicyclassname", "userinfodata",
            ])
        let (source, destination) = (object["sourcename"], object["destinationname"])
        var mapping = EntityMapping(
            name, type: .transform, from: source.map { EntityName($0) }, to: destination.map { EntityName($0) }
        )
        mapping.policyName = object["migrationpolicyclassname"]
        mapping.userInfo = try userInfo(object, place: place)
        mapping.sourceVersionHash = mapping.sourceEntity.flatMap { sourceModel?.entity($0)?.versionHash }
        mapping.destinationVersionHash = mapping.destinationEntity.flatMap { destinationModel?.entity($0)?.versionHash }
        if source != nil { mapping.sourcePredicate = try predicate(object, place: place) }
        for property in try properties(object, relationship: "attributemappings", type: "XDDEVATTRIBUTEMAPPING") {
            let place = "\(place), attribute '\(property.name)'"
            mapping.attributeMappings.append(
                PropertyMapping(
                    property.name,
                    expression: try attributeExpression(property.object, name: property.name, of: object, place: place),
                    userInfo: try userInfo(property.object, place: place)))
            note(property.object, property: property.name, of: name)
        }
        for property in try properties(object, relationship: "relationshipmappings", type: "XDDEVRELATIONSHIPMAPPING") {
            let place = "\(place), relationship '\(property.name)'"
            mapping.relationshipMappings.append(
                PropertyMapping(
                    property.name,
                    expression: try relationshipExpression(
                        property.object, name: property.name, of: object, place: place),
                    userInfo: try userInfo(property.object, place: place)))
            note(property.object, property: property.name, of: name)
        }
        mapping.type = type(of: mapping)
        return mapping
    }

    /// Returns `model` without the property mappings of entity mappings that only copy.
    ///
    /// If a relationship mapping does more, its entity mapping changes from `copy` to `transform`.
    private func settlingCopies(in model: MappingModel) -> MappingModel {
        guard let sourceModel, let destinationModel else { return model }
        var settled = model
        for (index, mapping) in model.entityMappings.enumerated() where mapping.type == .copy {
            let copies = mapping.relationshipMappings.allSatisfy {
                model.isCopy($0, of: mapping, from: sourceModel, to: destinationModel)
                    || namesOtherObjects($0, of: mapping, in: model, destinationModel: destinationModel)
            }
            guard copies else {
                settled.entityMappings[index].type = .transform
                continue
            }
            settled.entityMappings[index].attributeMappings = []
            settled.entityMappings[index].relationshipMappings = []
        }
        return settled
    }

    /// Records a property mapping whose expression the import creates.
    private mutating func note(_ object: XMLStoreObject, property: String, of mapping: String) {
        guard object["valueexpressiondata"] == nil, object["sourcekeypath"] == nil, object["sourcemappingname"] == nil
        else { return }
        made[mapping, default: [:]][property] = object
    }

    /// Returns `model` without inferred expressions that are invalid for the two models, and warns
    /// of each.
    ///
    /// The mapping model may be usable without these expressions. Core Data detects an invalid
    /// expression only when evaluating it, and a policy may prevent the evaluation.
    private mutating func leavingMisfitsOut(of model: MappingModel) -> MappingModel {
        guard let sourceModel, let destinationModel else { return model }
        var fitting = model
        for problem in model.problems(from: sourceModel, to: destinationModel) {
            guard let name = problem.mapping, let property = problem.property, let object = made[name]?[property],
                let index = fitting.entityMappings.firstIndex(where: { $0.name == name }),
                let entity = fitting.entityMappings[index].destinationEntity.flatMap(destinationModel.entity)
            else { continue }
            let isAttribute = entity.attribute(property) != nil
            let properties: WritableKeyPath<EntityMapping, [PropertyMapping]> =
                isAttribute ? \.attributeMappings : \.relationshipMappings
            guard isAttribute || entity.relationship(property) != nil,
                let position = fitting.entityMappings[index][keyPath: properties].firstIndex(where: {
                    $0.name == property && $0.valueExpression != nil
                })
            else { continue }
            fitting.entityMappings[index][keyPath: properties][position].valueExpression = nil
            let reason = problem.message.hasSuffix(".") ? String(problem.message.dropLast()) : problem.message
            warn(
                object, element: "entity mapping '\(name)', '\(property)'",
                message:
                    "the file has no expression for this property, and the expression that Xcode would make does not fit (\(reason)); objects get the property's default"
            )
        }
        return fitting
    }

    /// Returns whether a relationship mapping names an entity mapping that never creates objects of
    /// the relationship's destination.
    ///
    /// Such a name remains from an earlier state of the mapping model.
    private func namesOtherObjects(
        _ property: PropertyMapping, of mapping: EntityMapping, in model: MappingModel,
        destinationModel: ManagedObjectModel
    ) -> Bool {
        guard
            case .registered(MappingFunction.destinationInstances.rawValue, let arguments)? = property.valueExpression,
            arguments.count == 3, arguments[2] == .source(property.name),
            case .constant(.string(let name)) = arguments[1],
            let made = model.entityMappings.first(where: { $0.name == name })?.destinationEntity
                .flatMap(destinationModel.entity),
            let relationship = mapping.destinationEntity.flatMap(destinationModel.entity)?.relationship(property.name)
        else { return false }
        return !destinationModel.entities[relationship.destination].includes(made.number)
    }

    /// Returns the type that Xcode derives for a mapping when it compiles the file.
    private func type(of mapping: EntityMapping) -> EntityMapping.MappingType {
        guard let source = mapping.sourceEntity else { return .add }
        guard let destination = mapping.destinationEntity else { return .remove }
        if mapping.policyName != nil { return .custom }
        guard let sourceHash = mapping.sourceVersionHash, sourceHash == mapping.destinationVersionHash,
            let entity = destinationModel?.entity(destination), source == destination
        else { return .transform }
        // A mapping that changes values must not have type `copy`, which allows no property mappings.
        let properties = mapping.attributeMappings + mapping.relationshipMappings
        guard properties.allSatisfy(\.userInfo.isEmpty) else { return .transform }
        let attributes = Dictionary(
            mapping.attributeMappings.map { ($0.name, $0.valueExpression) }, uniquingKeysWith: { $1 })
        let copiesAttributes = entity.attributes.allSatisfy {
            $0.isTransient || attributes[$0.name] == .source($0.name)
        }
        // `settlingCopies` examines relationship mappings after all entity mappings have been read.
        let named = Set(mapping.relationshipMappings.map(\.name))
        let namesRelationships = entity.relationships.allSatisfy { named.contains($0.declaration.name) }
        return copiesAttributes && namesRelationships ? .copy : .transform
    }

    /// Returns the condition for the source objects of a mapping.
    private func predicate(
        _ object: XMLStoreObject, place: String
    ) throws(StoreError) -> FetchRequest.Predicate? {
        var text = object["sourcefilterpredicatestring"]
        if let data = object["sourceexpressiondata"], object.flag("autogenerateexpression") != true {
            text = try writtenFetch(data, of: object, place: place)
        }
        guard let text, text.trimmingSpaces.uppercased() != "TRUEPREDICATE" else { return nil }
        do throws(StoreError) {
            guard let sourceModel, let entity = object["sourcename"] else {
                return try FetchRequest.Predicate(format: text)
            }
            return try FetchRequest.Predicate(text, for: EntityName(entity), model: sourceModel)
        } catch {
            let message = failure(object, place: place, what: "its source filter cannot be read: \(error.message)")
                .message
            throw error.withMessage(message, code: .invalidMappingModel)
        }
    }

    /// Returns the predicate of a source expression that fetches the mapping's source entity.
    ///
    /// The expression is
    /// `FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Note", "…"),
    /// …)`.
    private func writtenFetch(
        _ data: String, of object: XMLStoreObject, place: String
    ) throws(StoreError) -> String {
        let what =
            "its source expression does not fetch the source entity with a predicate; write the condition as the filter of the entity mapping"
        guard let fetch = try archive(data, of: object, place: place, what: "its source expression")?.rootObject()
        else {
            throw failure(object, place: place, what: what)
        }
        // The field that contains the function has another name in some versions of Foundation. No other field
        // contains a function.
        for name in fetch.fields.keys.sorted() where name != "$class" {
            guard let function = try fetch.object(name),
                try function.string("NSSelectorName") == "fetchRequestForSourceEntityNamed:predicateString:"
            else { continue }
            var constants: [String] = []
            for argument in try function.list("NSArguments") {
                if let text = try argument.object?.string("NSConstantValue") { constants.append(text) }
            }
            guard constants.count == 2, constants[0] == object["sourcename"] else { break }
            return constants[1]
        }
        throw failure(object, place: place, what: what)
    }

    // MARK: Property mappings

    /// Returns a mapping's property mappings in the order of the links.
    private mutating func properties(
        _ mapping: XMLStoreObject, relationship: String, type: String
    ) throws(StoreError) -> [(object: XMLStoreObject, name: String)] {
        var properties: [(object: XMLStoreObject, name: String)] = []
        for identifier in references(of: mapping, name: relationship) {
            let object = try object(identifier, type: type, of: mapping)
            guard let name = object["name"] else {
                warn(object, element: "property mapping", message: "it names no property; it is left out")
                continue
            }
            guard !properties.contains(where: { $0.name == name }) else {
                warn(
                    object, element: "property mapping '\(name)'",
                    message: "a second mapping of this property is ignored")
                continue
            }
            check(
                object, place: "property mapping '\(name)'",
                known: [
                    "name", "autogenerateexpression", "valueexpressiondata", "sourcekeypath", "sourcemappingname",
                    "userinfodata",
                ])
            properties.append((object, name))
        }
        return properties
    }

    private func attributeExpression(
        _ object: XMLStoreObject, name: String, of mapping: XMLStoreObject, place: String
    ) throws(StoreError) -> FetchRequest.Expression? {
        if let written = try writtenExpression(object, place: place) { return written }
        guard let entity = mapping["sourcename"], !object.blankAttributes.contains("sourcekeypath") else { return nil }
        if let path = object["sourcekeypath"] { return MappingPath.expression(path) }
        guard object.flag("autogenerateexpression") != false else { return nil }
        // An unknown source entity is assumed to have the attribute. Validation reports a wrong
        // name, but a missing expression would lose values.
        return source?.hasAttribute(name, of: entity) ?? true ? .source(name) : nil
    }

    private mutating func relationshipExpression(
        _ object: XMLStoreObject, name: String, of mapping: XMLStoreObject, place: String
    ) throws(StoreError) -> FetchRequest.Expression? {
        if let written = try writtenExpression(object, place: place) { return written }
        guard let entity = mapping["sourcename"] else { return nil }
        guard !object.blankAttributes.contains("sourcekeypath") else {
            if object["sourcemappingname"] != nil {
                warn(
                    object, element: place,
                    message: "it names an entity mapping, but its key path is empty; the relationship stays empty")
            }
            return nil
        }
        let path = object["sourcekeypath"]
        guard path != nil || object["sourcemappingname"] != nil || object.flag("autogenerateexpression") != false else {
            return nil
        }
        guard path != nil || source?.hasRelationship(name, of: entity) ?? true else {
            if object["sourcemappingname"] != nil {
                warn(
                    object, element: place,
                    message:
                        "it names an entity mapping but no key path, and the source entity has no relationship '\(name)'; the relationship stays empty"
                )
            }
            return nil
        }
        let instances = path.map { MappingPath.expression($0) } ?? .source(name)
        if let made = object["sourcemappingname"] {
            guard mappings.contains(where: { $0.name == made }) else {
                let hint = nearestName(to: made, among: mappings.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
                throw failure(object, place: place, what: "the file has no entity mapping '\(made)'\(hint)")
            }
            return .destinationInstances(ofEntityMapping: made, from: instances)
        }
        return try relatedExpression(object, name: name, of: mapping, source: entity, place: place)
    }

    /// Returns the expression for a relationship mapping that names no entity mapping, as
    /// ``CoreDataMappingReader`` describes.
    private mutating func relatedExpression(
        _ object: XMLStoreObject, name: String, of mapping: XMLStoreObject, source entity: String, place: String
    ) throws(StoreError) -> FetchRequest.Expression? {
        let path = object["sourcekeypath"]
        let end =
            mapping["destinationname"].flatMap { destination?.destination(of: name, of: $0) }
            ?? source?.destination(of: path ?? name, of: entity)
        guard let end else {
            guard path == nil else {
                throw failure(
                    object, place: place,
                    what:
                        "its destination entity is unknown; pass both models to MappingFile.read, or write --mapping=FILE@FROM..TO"
                )
            }
            return .relatedInstances(ofSourceRelationship: name)
        }
        let exact = mappings.filter { $0.object["destinationname"] == end }
        let inherited = mappings.filter { other in
            other.object["destinationname"].map { destination?.isSubentity($0, of: end) == true } ?? false
        }
        if path == nil, !inherited.isEmpty {
            warn(
                object, element: place,
                message:
                    "'\(end)' has subentities with mappings of their own; the relationship gets the objects of all these mappings"
            )
            return .relatedInstances(ofSourceRelationship: name)
        }
        guard let first = exact.first else {
            warn(
                object, element: place,
                message: "no entity mapping creates objects of '\(end)'; the relationship stays empty")
            return nil
        }
        let instances = path.map { MappingPath.expression($0) } ?? .source(name)
        return .destinationInstances(ofEntityMapping: first.name, from: instances)
    }

    /// Returns the archived expression of a property mapping, or nil if it has none.
    private func writtenExpression(
        _ object: XMLStoreObject, place: String
    ) throws(StoreError) -> FetchRequest.Expression? {
        guard let data = object["valueexpressiondata"],
            let archive = try archive(data, of: object, place: place, what: "its value expression")
        else { return nil }
        do throws(StoreError) {
            return try ArchivedExpression.expression(in: archive)
        } catch {
            throw error.withMessage(
                failure(object, place: place, what: "its value expression cannot be read: \(error.message)").message)
        }
    }

    // MARK: Archives and links

    private func archive(
        _ text: String, of object: XMLStoreObject, place: String, what: String
    ) throws(StoreError) -> KeyedArchive? {
        guard let bytes = Base64.bytes(text, ignoringSpaces: true) else {
            throw failure(object, place: place, what: "\(what) is not base64 text")
        }
        if bytes.isEmpty { return nil }
        do throws(StoreError) {
            return try KeyedArchive(bytes, file: what, budget: budget)
        } catch {
            throw error.withMessage(failure(object, place: place, what: error.message).message)
        }
    }

    private mutating func userInfo(
        _ object: XMLStoreObject, place: String
    ) throws(StoreError) -> [String: String] {
        guard let data = object["userinfodata"],
            let archive = try archive(data, of: object, place: place, what: "its user info")
        else { return [:] }
        let pairs: [(key: String, value: KeyedArchive.Node)]
        do throws(StoreError) {
            pairs = try archive.rootObject().pairs()
        } catch {
            throw error.withMessage(failure(object, place: place, what: error.message).message)
        }
        var entries: [String: String] = [:]
        for (key, value) in pairs {
            if let text = value.userInfoText {
                entries[key] = text
            } else {
                warn(object, element: place, message: "user info '\(key)' is neither text nor a number; it is left out")
            }
        }
        return entries
    }

    private func references(of object: XMLStoreObject, name: String) -> [String] { object.references[name] ?? [] }

    private func object(
        _ identifier: String, type: String, of owner: XMLStoreObject
    ) throws(StoreError) -> XMLStoreObject {
        guard let object = objects[identifier], object.type == type else {
            throw StoreError(
                .invalidMappingModel,
                "\(file):\(owner.line): object '\(owner.identifier)' refers to '\(identifier)', which does not exist or is not of type \(type)."
            )
        }
        return object
    }

    // MARK: Warnings

    /// Warns of entity mappings that Xcode unlinked but left in the file.
    private mutating func warnOfOrphans(of root: XMLStoreObject) {
        let linked = Set(references(of: root, name: "entitymappings"))
        let orphans = objects.values.filter { $0.type == "XDDEVENTITYMAPPING" && !linked.contains($0.identifier) }
        for orphan in orphans.sorted(by: { $0.line < $1.line }) {
            let names = [orphan["sourcename"], orphan["destinationname"]].compactMap(\.self).joined(separator: " to ")
            warn(
                orphan, element: "entity mapping of \(names)",
                message: "the mapping model does not link to it; it is left out")
        }
    }

    private mutating func check(_ object: XMLStoreObject, place: String, known: Set<String>) {
        for name in object.attributes.keys.sorted() where !known.contains(name) {
            warn(object, element: place, message: "attribute '\(name)' is unknown; it is left out")
        }
    }

    private mutating func warn(_ object: XMLStoreObject, element: String, message: String) {
        warnings.append(ModelImportWarning(file: file, line: object.line, element: element, message: message))
    }

    private func failure(
        _ object: XMLStoreObject, place: String, what: String
    ) -> StoreError {
        let end = what.hasSuffix(".") || what.hasSuffix("?") ? "" : "."
        return StoreError(.invalidMappingModel, "\(file):\(object.line): \(place): \(what)\(end)")
    }
}
