internal import Foundation
internal import RoostCore

/// The data for random requests: a model and objects, generated from a seed.
///
/// Any object can be removed to shrink a failure.
struct QueryWorld: Sendable {
    struct NamedLink: Hashable, Sendable {
        let relationship: RelationshipName
        let link: Link
    }

    struct Object: Sendable {
        let id: ObjectID
        var values: [String: Value]
    }

    let model: ManagedObjectModel
    /// The same model without fetch indexes, so that stores scan.
    let plainModel: ManagedObjectModel
    var objects: [Object] = []
    var links: [NamedLink] = []

    init(seed: UInt64, hasConstraints: Bool) throws(StoreError) {
        var random = SeededGenerator(seed: seed)
        let entities = QueryModel.entities(hasConstraints: hasConstraints, random: &random)
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
            // Entities are mixed, so that keys are not in the order of entities.
            let names = (keys[root] ?? []).map(\.0).shuffled(using: &random)
            for (index, name) in names.enumerated() {
                let entity = try model.requireEntity(name)
                objects.append(
                    Object(
                        id: ObjectID(name, key: Int64(index + 1)),
                        values: Self.values(of: entity, key: index, values: &values, random: &random)))
            }
        }
        makeReferences(&random)
        makeLinks(&random)
    }

    private static func values(
        of entity: ManagedObjectModel.Entity, key: Int, values: inout QueryValues, random: inout SeededGenerator
    ) -> [String: Value] {
        var result: [String: Value] = [:]
        let unique = Set(entity.uniquenessConstraints.flatMap(\.attributes))
        for attribute in entity.attributes where !random.oneIn(5) {
            // A unique value is computed from the key; any number of objects may have null.
            result[attribute.name] =
                unique.contains(attribute.name)
                ? values.unique(attribute.type, key: key) : values.stored(attribute, random: &random)
        }
        return result
    }

    /// Returns the IDs of the objects of an entity and its subentities.
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
                // Some destinations have more sources than others; some references are dangling.
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
                let link = relationship.normalized(
                    Link(source, target, order: Int64(random.below(9)), inverseOrder: Int64(random.below(9))))
                guard seen.insert([link.source, link.target]).inserted else { continue }
                links.append(NamedLink(relationship: relationship.name, link: link))
            }
        }
    }

    /// Returns the changes that write the world into an empty store of either model.
    func changes(for model: ManagedObjectModel) throws(StoreError) -> ChangeSet {
        var changes = ChangeSet(model: model)
        for object in objects { try changes.insert(object.id, values: object.values) }
        for named in links { try changes.add(named.link, to: named.relationship) }
        return changes
    }

    func graph() throws -> PlainGraph {
        var store = ReferenceStore(model: model)
        try store.commit(try changes(for: model))
        return try PlainGraph(store)
    }
}

/// The model of random requests.
enum QueryModel {
    private static let personAttributes: [AttributeDescription] = [
        .init("name", type: .string), .init("nick", type: .string), .init("age", type: .integer16),
        .init("mid", type: .integer32),
        .init("big", type: .integer64), .init("height", type: .double), .init("weight", type: .float),
        .init("balance", type: .decimal),
        .init("born", type: .date), .init("ident", type: .uuid), .init("photo", type: .binaryData),
        .init("site", type: .uri),
        .init("flag", type: .boolean), .init("coded", type: .transformable), .init("ref", type: .objectID),
        // These names are keywords of the predicate language.
        .init("first", type: .string), .init("in", type: .integer64),
        .init(
            "home", type: .composite,
            elements: [
                .init("street", type: .string), .init("number", type: .integer32),
                .init(
                    "position", type: .composite,
                    elements: [.init("north", type: .double), .init("east", type: .double)]),
            ]),
    ]

    /// Returns the entities, with randomly chosen indexes.
    static func entities(hasConstraints: Bool, random: inout SeededGenerator) -> [EntityDescription] {
        [
            EntityDescription(
                "Person", attributes: personAttributes,
                relationships: [
                    .toOne("boss", to: "Person", inverse: "reports"), .toMany("reports", to: "Person", inverse: "boss"),
                    .toOne("department", to: "Department", inverse: "members"),
                    .toMany("friends", to: "Person", inverse: "friends"),
                    .toMany("tags", to: "Tag", inverse: "tagged", isOrdered: true), .toMany("likes", to: "Tool"),
                ],
                uniquenessConstraints: hasConstraints ? [["ident"]] : []
            ).with {
                $0.fetchIndexes = indexes(
                    on: [
                        "name", "nick", "age", "mid", "big", "height", "weight", "balance", "born", "site", "flag",
                        "first", "boss", "department",
                    ], pairs: [("flag", "name"), ("age", "height"), ("nick", "born")], random: &random)
            },
            EntityDescription(
                "Worker", superentity: "Person",
                attributes: [.init("wage", type: .decimal), .init("skill", type: .string)],
                relationships: [.toMany("tools", to: "Tool", inverse: "owner")]
            ).with { $0.fetchIndexes = indexes(on: ["wage", "skill"], pairs: [("skill", "wage")], random: &random) },
            EntityDescription("Manager", superentity: "Worker", attributes: [.init("level", type: .integer32)]),
            EntityDescription(
                "Department",
                attributes: [
                    .init("name", type: .string), .init("budget", type: .double), .init("code", type: .integer64),
                ],
                relationships: [
                    .toMany("members", to: "Person", inverse: "department", isOrdered: true),
                    .toOne("parent", to: "Department", inverse: "children"),
                    .toMany("children", to: "Department", inverse: "parent"), .toOne("head", to: "Manager"),
                ]
            ).with {
                $0.fetchIndexes = indexes(
                    on: ["name", "budget", "code", "parent"], pairs: [("name", "code")], random: &random)
            },
            EntityDescription(
                "Tag", attributes: [.init("label", type: .string), .init("weight", type: .integer64)],
                relationships: [.toMany("tagged", to: "Person", inverse: "tags")],
                uniquenessConstraints: hasConstraints ? [["weight"]] : []
            ).with { $0.fetchIndexes = indexes(on: ["label"], pairs: [], random: &random) },
            EntityDescription(
                "Tool",
                attributes: [
                    .init("label", type: .string), .init("price", type: .decimal), .init("count", type: .integer64),
                ],
                relationships: [.toOne("owner", to: "Worker", inverse: "tools")]
            ).with {
                $0.fetchIndexes = indexes(
                    on: ["label", "price", "owner"], pairs: [("label", "price")], random: &random)
            },
        ]
    }

    private static func indexes(
        on names: [String], pairs: [(String, String)], random: inout SeededGenerator
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
