internal import Foundation
internal import RoostCore

/// What random requests ask: a model and the objects of a store, both out of a seed.
///
/// The objects are a list from which any may be taken away, so that a failure can be shrunk.
struct QueryWorld: Sendable {
    /// A link of a relationship.
    struct NamedLink: Hashable, Sendable {
        let relationship: RelationshipName
        let link: Link
    }

    /// One object.
    struct Object: Sendable {
        let id: ObjectID
        var values: [String: Value]
    }

    let model: ManagedObjectModel
    /// The same model without fetch indexes: the same answers must come from scans.
    let plainModel: ManagedObjectModel
    var objects: [Object] = []
    var links: [NamedLink] = []

    init(seed: UInt64, hasConstraints: Bool) throws(StoreError) {
        var random = SeededGenerator(seed: seed)
        let entities = QueryModel.entities(hasConstraints: hasConstraints, &random)
        model = try ManagedObjectModel(entities: entities)
        plainModel = try ManagedObjectModel(
            entities: entities.map { entity in
                var entity = entity
                entity.fetchIndexes = []
                return entity
            })
        var values = QueryValues(seed: random.next())
        let counts: [(EntityName, Int)] = [
            ("Person", 12 + random.below(12)), ("Worker", 4 + random.below(8)), ("Manager", 3 + random.below(4)),
            ("Department", 3 + random.below(5)), ("Tag", 2 + random.below(8)), ("Tool", 6 + random.below(14)),
        ]
        var keys: [Int: [(EntityName, Int64)]] = [:]
        for (name, count) in counts {
            let root = try model.requireEntity(name).root
            for _ in 0..<count { keys[root, default: []].append((name, Int64(keys[root]?.count ?? 0) + 1)) }
        }
        for root in model.roots {
            // Subentities are not side by side: the order of keys is another one than that of entities.
            let names = (keys[root] ?? []).map(\.0).shuffled(using: &random)
            for (index, name) in names.enumerated() {
                let entity = try model.requireEntity(name)
                objects.append(
                    Object(
                        id: ObjectID(name, key: Int64(index + 1)),
                        values: Self.values(of: entity, key: index, &values, &random)))
            }
        }
        makeReferences(&random)
        makeLinks(&random)
    }

    private static func values(
        of entity: ManagedObjectModel.Entity, key: Int, _ values: inout QueryValues, _ random: inout SeededGenerator
    ) -> [String: Value] {
        var result: [String: Value] = [:]
        let unique = Set(entity.uniquenessConstraints.flatMap(\.attributes))
        for attribute in entity.attributes where !random.oneIn(5) {
            // What must be unique is made of the key; a null is taken by any number.
            result[attribute.name] =
                unique.contains(attribute.name)
                ? values.unique(attribute.type, key) : values.stored(attribute, &random)
        }
        return result
    }

    /// The objects of an entity and its subentities.
    func ids(of entity: Int) -> [ObjectID] {
        objects.map(\.id).filter { id in
            model.entity(id.entity).map { model.entities[entity].includes($0.number) } ?? false
        }
    }

    private mutating func makeReferences(_ random: inout SeededGenerator) {
        for index in objects.indices {
            guard let entity = model.entity(objects[index].id.entity) else { continue }
            for relationship in entity.relationships where !relationship.isToMany {
                let targets = ids(of: relationship.destination)
                guard !targets.isEmpty, !random.oneIn(4) else { continue }
                // Few destinations have most of the sources; now and then one is not there.
                var target = targets[min(random.below(targets.count), random.below(targets.count))]
                if random.oneIn(25) { target = ObjectID(target.entity, key: 900 + Int64(random.below(3))) }
                let name = relationship.name.name
                objects[index].values[name] = .objectID(target)
                if let inverse = relationship.inverse, model.relationships[inverse].isOrdered {
                    objects[index].values[RecordLayout.orderFieldName(of: name)] = .int(Int64(random.below(30)))
                }
            }
        }
    }

    private mutating func makeLinks(_ random: inout SeededGenerator) {
        for relationship in model.linkRelationships {
            let (sources, targets) = (ids(of: relationship.source), ids(of: relationship.destination))
            guard !sources.isEmpty, !targets.isEmpty else { continue }
            var seen: Set<[Int64]> = []
            for _ in 0..<random.below(sources.count * 2) {
                let (source, target) = (random.pick(sources).key, random.pick(targets).key)
                let link = relationship.normalised(
                    Link(source, target, order: Int64(random.below(9)), inverseOrder: Int64(random.below(9))))
                guard seen.insert([link.source, link.target]).inserted else { continue }
                links.append(NamedLink(relationship: relationship.name, link: link))
            }
        }
    }

    /// What brings an empty store of one of the two models to these contents.
    func changes(for model: ManagedObjectModel) throws(StoreError) -> ChangeSet {
        var changes = ChangeSet(model: model)
        for object in objects { try changes.insert(object.id, values: object.values) }
        for named in links { try changes.add(named.link, to: named.relationship) }
        return changes
    }

    /// The contents for plain evaluation.
    func graph() throws -> PlainGraph {
        var store = ReferenceStore(model: model)
        try store.commit(try changes(for: model))
        return try PlainGraph(store)
    }
}

/// The model that random requests are asked of.
enum QueryModel {
    /// The entities; which indexes they have follows from the generator.
    static func entities(hasConstraints: Bool, _ random: inout SeededGenerator) -> [EntityDescription] {
        let person: [AttributeDescription] = [
            .init("name", .string), .init("nick", .string), .init("age", .integer16), .init("mid", .integer32),
            .init("big", .integer64), .init("height", .double), .init("weight", .float), .init("balance", .decimal),
            .init("born", .date), .init("ident", .uuid), .init("photo", .binaryData), .init("site", .uri),
            .init("flag", .boolean), .init("coded", .transformable), .init("ref", .objectID),
            // Words of the language, as names.
            .init("first", .string), .init("in", .integer64),
            .init(
                "home", .composite,
                elements: [
                    .init("street", .string), .init("number", .integer32),
                    .init("position", .composite, elements: [.init("north", .double), .init("east", .double)]),
                ]),
        ]
        return [
            EntityDescription(
                "Person", attributes: person,
                relationships: [
                    .toOne("boss", "Person", inverse: "reports"), .toMany("reports", "Person", inverse: "boss"),
                    .toOne("department", "Department", inverse: "members"),
                    .toMany("friends", "Person", inverse: "friends"),
                    .toMany("tags", "Tag", inverse: "tagged", isOrdered: true), .toMany("likes", "Tool"),
                ],
                uniquenessConstraints: hasConstraints ? [["ident"]] : [],
                fetchIndexes: indexes(
                    on: [
                        "name", "nick", "age", "mid", "big", "height", "weight", "balance", "born", "site", "flag",
                        "first", "boss", "department",
                    ], pairs: [("flag", "name"), ("age", "height"), ("nick", "born")], &random)),
            EntityDescription(
                "Worker", superentity: "Person",
                attributes: [.init("wage", .decimal), .init("skill", .string)],
                relationships: [.toMany("tools", "Tool", inverse: "owner")],
                fetchIndexes: indexes(on: ["wage", "skill"], pairs: [("skill", "wage")], &random)),
            EntityDescription("Manager", superentity: "Worker", attributes: [.init("level", .integer32)]),
            EntityDescription(
                "Department",
                attributes: [.init("name", .string), .init("budget", .double), .init("code", .integer64)],
                relationships: [
                    .toMany("members", "Person", inverse: "department", isOrdered: true),
                    .toOne("parent", "Department", inverse: "children"),
                    .toMany("children", "Department", inverse: "parent"), .toOne("head", "Manager"),
                ],
                fetchIndexes: indexes(on: ["name", "budget", "code", "parent"], pairs: [("name", "code")], &random)),
            EntityDescription(
                "Tag", attributes: [.init("label", .string), .init("weight", .integer64)],
                relationships: [.toMany("tagged", "Person", inverse: "tags")],
                uniquenessConstraints: hasConstraints ? [["weight"]] : [],
                fetchIndexes: indexes(on: ["label"], pairs: [], &random)),
            EntityDescription(
                "Tool",
                attributes: [.init("label", .string), .init("price", .decimal), .init("count", .integer64)],
                relationships: [.toOne("owner", "Worker", inverse: "tools")],
                fetchIndexes: indexes(on: ["label", "price", "owner"], pairs: [("label", "price")], &random)),
        ]
    }

    private static func indexes(
        on names: [String], pairs: [(String, String)], _ random: inout SeededGenerator
    ) -> [FetchIndexDescription] {
        var result: [FetchIndexDescription] = []
        for name in names where random.oneIn(2) {
            result.append(
                FetchIndexDescription("by_\(name)", elements: [.init(name, isAscending: !random.oneIn(4))]))
        }
        for (first, second) in pairs where random.oneIn(2) {
            result.append(
                FetchIndexDescription(
                    "by_\(first)_\(second)",
                    elements: [
                        .init(first, isAscending: !random.oneIn(4)), .init(second, isAscending: !random.oneIn(4)),
                    ]))
        }
        return result
    }
}
