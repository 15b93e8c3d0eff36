internal import RoostAppleModels
internal import RoostCore

/// A reader of compiled models: the model cache inside a Core Data store, and `.mom` files.
enum ModelCacheReader {
    enum Limit {
        static let archiveByteCount = CoreDataModelReader.maximumArchiveByteCount
        static let entities = 10_000
    }

    /// Reads the blob of `Z_MODELCACHE`: a keyed archive compressed with raw DEFLATE.
    static func read(
        compressed: [UInt8], file: String
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        let what = "the model cache of '\(file)'"
        // Some tools do not compress the archive.
        let archive =
            compressed.starts(with: Array("bplist".utf8))
            ? compressed : try Inflate.raw(compressed, limit: Limit.archiveByteCount, what: what)
        return try read(archive: archive, file: file)
    }

    /// Reads a keyed archive of a model.
    static func read(
        archive bytes: [UInt8], file: String
    ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning]) {
        let archive = try KeyedArchive(bytes, file: "the compiled model in '\(file)'")
        let root = try archive.rootObject()
        guard try root.className == "NSManagedObjectModel" else {
            throw StoreError(.invalidModel, "The archive in '\(file)' is not a managed object model.")
        }
        var reader = ModelArchive(file: file)
        try reader.read(root)
        let model = try reader.draft.build(warnings: &reader.warnings, file: file)
        return (model, reader.warnings)
    }
}

/// A reader that turns an archived `NSManagedObjectModel` into a model draft.
struct ModelArchive {
    let file: String
    var draft = ModelDraft()
    var warnings: [ModelImportWarning] = []

    init(file: String) { self.file = file }

    mutating func read(_ root: ArchivedObject) throws(StoreError) {
        let entities = try root.dictionary("NSEntities")
        guard entities.count <= ModelCacheReader.Limit.entities else {
            throw StoreError(
                .limitExceeded, "The model in '\(file)' has \(entities.count) entities, which is too many.")
        }
        for (name, node) in entities {
            guard let object = node.object else {
                throw StoreError(.corrupted, "The compiled model in '\(file)' has no description of entity '\(name)'.")
            }
            draft.entities.append(try entity(object, named: name))
        }
        draft.versionIdentifiers = try root.list("NSVersionIdentifiers").compactMap(\.string).filter { !$0.isEmpty }
            .sorted()
        for (name, node) in try root.dictionary("NSConfigurations") {
            guard let members = node.object else { continue }
            var names: [String] = []
            for member in try members.members() {
                if let name = try member.object?.string("NSEntityName") { names.append(name) }
            }
            draft.configurations[name] = names
        }
        for (name, node) in try root.dictionary("NSFetchRequestTemplates") {
            guard let request = node.object else { continue }
            draft.fetchRequestTemplates.append(try template(request, named: name))
        }
        warnUnknown(
            root, element: "model",
            known: [
                "NSEntities", "NSVersionIdentifiers", "NSConfigurations", "NSFetchRequestTemplates",
                "NSLocalizationDictionary",
            ])
    }

    private mutating func entity(_ object: ArchivedObject, named key: String) throws(StoreError) -> EntityDescription {
        let name = try self.name(try object.string("NSEntityName") ?? key, of: "an entity")
        var entity = EntityDescription(name)
        let superentity = try object.object("NSSuperentity")
        entity.superentityName = try superentity?.string("NSEntityName")
        entity.isAbstract = try object.flag("NSIsAbstract")
        let className = try object.string("NSClassNameForEntity")
        entity.managedObjectClassName = className == "NSManagedObject" ? nil : className
        entity.renamingIdentifier = try renamingIdentifier(object, name: name)
        entity.versionHashModifier = try object.string("NSVersionHashModifier").flatMap { $0.isEmpty ? nil : $0 }
        entity.userInfo = try userInfo(object, of: "entity '\(name)'")
        entity.coreSpotlightDisplayNameExpression = try spotlightExpression(object, entity: name)
        // The archive repeats inherited properties in every subentity. A property is inherited if the
        // superentity has a property with the same name.
        let inherited = Set(try superentity?.dictionary("NSProperties").map(\.key) ?? [])
        for (property, node) in try object.dictionary("NSProperties") where !inherited.contains(property) {
            guard let description = node.object else { continue }
            try read(description, named: property, into: &entity)
        }
        for node in try object.list("NSUniqueTuples") {
            guard let tuple = node.object else { continue }
            var names: [String] = []
            for member in try tuple.members() {
                if let name = member.string { names.append(name) }
                if let name = try member.object?.string("NSPropertyName") { names.append(name) }
            }
            if !entity.uniquenessConstraints.contains(names) { entity.uniquenessConstraints.append(names) }
        }
        try readIndexes(object, inherited: superentity, into: &entity)
        warnUnknown(
            object, element: "entity '\(name)'",
            known: [
                "NSEntityName", "NSClassNameForEntity", "NSProperties", "NSSubentities", "NSSuperentity",
                "NSIsAbstract",
                "NSRenamingIdentifier", "NSVersionHashModifier", "NSUserInfo", "NSCompoundIndexes",
                "NSFetchIndexDescriptions", "NSUniqueTuples", "NSManagedObjectModel",
                "NSCoreSpotlightDisplayNameExpression",
            ])
        return entity
    }

    private mutating func spotlightExpression(
        _ object: ArchivedObject, entity: String
    ) throws(StoreError) -> String? {
        let node = try object.node("NSCoreSpotlightDisplayNameExpression")
        if let text = node.string { return text.isEmpty ? nil : text }
        guard let expression = node.object else { return nil }
        let text = try PredicateText.expression(expression)
        if text == nil {
            warn(
                "entity '\(entity)'",
                message: "the expression for its display name in Spotlight has no text form; it is left out")
        }
        return text
    }

    /// Reads fetch indexes, or compound indexes if the entity has no fetch indexes.
    ///
    /// Older frameworks wrote only compound indexes.
    private mutating func readIndexes(
        _ object: ArchivedObject, inherited: ArchivedObject?, into entity: inout EntityDescription
    ) throws(StoreError) {
        for node in try object.list("NSFetchIndexDescriptions") {
            guard let description = node.object else { continue }
            // Subentities also list the indexes that a superentity declares.
            if let owner = try description.object("NSEntity")?.string("NSEntityName"), owner != entity.name { continue }
            entity.fetchIndexes.append(try fetchIndex(description, of: entity.name))
        }
        guard entity.fetchIndexes.isEmpty else { return }
        var known: [[String]] = []
        for node in try inherited?.list("NSCompoundIndexes") ?? [] {
            if let names = try node.object?.members().compactMap(\.string) { known.append(names) }
        }
        for node in try object.list("NSCompoundIndexes") {
            guard let names = try node.object?.members().compactMap(\.string), !known.contains(names) else { continue }
            entity.fetchIndexes.append(
                FetchIndexDescription(
                    names.joined(separator: "_"), elements: names.map { FetchIndexDescription.Element($0) }))
        }
    }

    private mutating func fetchIndex(
        _ object: ArchivedObject, of entity: String
    ) throws(StoreError) -> FetchIndexDescription {
        var index = FetchIndexDescription(try object.string("NSIndexName") ?? "", elements: [])
        if let predicate = try object.object("NSPartialIndexPredicate") {
            index.partialIndexPredicateFormat = try PredicateText.predicate(predicate)
            if index.partialIndexPredicateFormat == nil {
                warn("fetch index '\(entity).\(index.name)'", message: "its predicate has no text form; it is left out")
            }
        }
        for node in try object.list("NSIndexElements") {
            guard let element = node.object else { continue }
            var part = FetchIndexDescription.Element(try element.string("NSPropertyName") ?? "")
            part.collation = try element.integer("NSFetchIndexElementType") == 1 ? .rTree : .binary
            part.isAscending = try element.integer("NSAscending").map { $0 != 0 } ?? true
            if let expression = try element.object("NSIndexedProperty")?.object("NSExpression") {
                part.expression = try PredicateText.expression(expression)
                if part.expression == nil {
                    warn(
                        "fetch index '\(entity).\(index.name)'",
                        message: "an expression has no text form; the name of its property is kept instead")
                    part.expression = part.property
                }
            }
            index.elements.append(part)
        }
        return index
    }

    // MARK: Parts

    /// Returns the name, or throws if it is too long for warnings and errors.
    func name(_ name: String, of thing: String) throws(StoreError) -> String {
        guard name.utf8.count <= ManagedObjectModel.maximumNameByteCount else {
            throw StoreError(
                .invalidModel,
                "In '\(file)', the name of \(thing) is longer than \(ManagedObjectModel.maximumNameByteCount) bytes.")
        }
        return name
    }

    mutating func userInfo(_ object: ArchivedObject, of element: String) throws(StoreError) -> [String: String] {
        var entries: [String: String] = [:]
        for (key, node) in try object.dictionary("NSUserInfo") {
            if let text = node.userInfoText {
                entries[key] = text
            } else {
                warn(element, message: "user info '\(key)' is neither text nor a number; it is left out")
            }
        }
        return entries
    }

    /// Returns the renaming identifier, or nil if it is missing or equals the name.
    func renamingIdentifier(_ object: ArchivedObject, name: String) throws(StoreError) -> String? {
        try object.string("NSRenamingIdentifier").flatMap { $0 == name || $0.isEmpty ? nil : $0 }
    }

    mutating func warn(_ element: String, message: String) {
        warnings.append(ModelImportWarning(file: file, line: nil, element: element, message: message))
    }

    mutating func warnUnknown(_ object: ArchivedObject, element: String, known: Set<String>) {
        for name in object.fields.keys.sorted() where !known.contains(name) && name != "$class" {
            warn(element, message: "archived field '\(name)' is unknown; it is left out")
        }
    }
}
