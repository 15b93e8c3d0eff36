internal import Foundation
internal import RoostCore

/// A generator of random operations that mostly fit the content of the plain model.
///
/// The number of objects stays small, so that keys, links, places and unique values often collide,
/// and comparisons are cheap.
struct LockStepGenerator {
    private var random: SeededGenerator
    private static let objectsPerEntity = 8
    private static let linksPerRelationship = 30

    private static let entities: [EntityName] = [
        "Track", "Track", "Album", "Node", "Node", "Tag", "Playlist", "Queue", "Shelf", "Dog", "Robot", "Animal",
        "Account", "Account", "Admin", "Everything", "Indexed", "Indexed",
    ]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next(_ state: LockStepModel) -> LockStepOperation {
        switch random.below(1000) {
        case 0..<400: return change(state)
        case 400..<500: return link(state)
        case 500..<515: return metadata()
        case 515..<525:
            return .requireUnchanged(object(random.pick(Self.entities), state: state), isStale: random.oneIn(10))
        case 525..<528: return .requireExisting(object(random.pick(Self.entities), state: state))
        case 528..<530: return .requireUnreferencedDeletes
        case 530..<680: return .commit
        case 680..<690: return .load(finishes: !random.oneIn(3))
        case 690..<710: return .reserveKeys(random.pick([1, 1, 3, 70]), random.pick(Self.entities))
        case 710..<750: return scan(state)
        case 750..<800: return .read((0..<random.below(6)).map { _ in object(anyEntity(state), state: state) })
        case 800..<880: return walk(state)
        case 880..<960: return .fetch(request(state))
        case 960..<975: return .openSnapshot(random.below(3))
        case 975..<995: return .closeSnapshot(random.below(3))
        case 995..<999: return .reopen
        default: return .reopenReadOnly
        }
    }

    // MARK: Choosing objects and keys

    private func objects(_ entity: EntityName, state: LockStepModel) -> [ObjectID] {
        guard let entity = state.reference.model.entity(entity) else { return [] }
        return state.reference.records(of: entity).map(\.id).filter { $0.entity == entity.name }
    }

    /// Returns an existing object, or sometimes a missing one.
    private mutating func object(_ entity: EntityName, state: LockStepModel) -> ObjectID {
        let ids = objects(entity, state: state)
        return ids.isEmpty || random.oneIn(30) ? ObjectID(entity, key: Int64(random.below(40) + 1)) : random.pick(ids)
    }

    /// Returns any entity, abstract ones included.
    private mutating func anyEntity(_ state: LockStepModel) -> EntityName {
        random.pick(state.reference.model.entities).name
    }

    /// Returns a key above all used keys, or sometimes a lower one.
    private mutating func newKey(_ entity: EntityName, state: LockStepModel) -> Int64 {
        guard let entity = state.reference.model.entity(entity) else { return 1 }
        let last = state.reference.lastKeys[entity.root] ?? 0
        let pending = state.changes.inserts.ids.filter { state.reference.model.entity($0.entity)?.root == entity.root }
        let next = max(last, pending.map(\.key).max() ?? 0) + 1
        return random.oneIn(15) ? Int64(random.below(Int(next))) + 1 : next + Int64(random.below(2))
    }

    // MARK: Changes

    private mutating func change(_ state: LockStepModel) -> LockStepOperation {
        let entity = random.pick(Self.entities)
        let ids = objects(entity, state: state).filter { !state.touched.contains($0) }
        let isStale = random.oneIn(30)
        if !ids.isEmpty, random.below(Self.objectsPerEntity) < ids.count {
            let id = random.pick(ids)
            return random.oneIn(2)
                ? .delete(id, isStale: isStale) : .update(id, values(entity, state: state), isStale: isStale)
        }
        if random.oneIn(40) { return .delete(ObjectID(entity, key: 1 << 40), isStale: false) }
        return .insert(ObjectID(entity, key: newKey(entity, state: state)), values(entity, state: state))
    }

    private mutating func values(_ entity: EntityName, state: LockStepModel) -> [String: Value] {
        switch entity {
        case "Track":
            guard random.oneIn(2) else { return ["title": .string(SampleGraph.words(2, random: &random))] }
            return ["album": .objectID(object("Album", state: state)), "album#order": .int(Int64(random.below(3)))]
        case "Node": return random.oneIn(2) ? [:] : ["parent": .objectID(object("Node", state: state))]
        case "Album": return random.oneIn(2) ? ["title": "album"] : ["shelf": .objectID(object("Shelf", state: state))]
        case "Account", "Admin":
            return [
                "email": random.oneIn(2) ? .null : .string("e\(random.below(60))"),
                "first": random.oneIn(3) ? .null : .string("f\(random.below(8))"),
                "last": random.oneIn(3) ? .null : .string("l\(random.below(8))"),
                "number": random.oneIn(3) ? .null : .int(Int64(random.below(100))),
            ].filter { !$0.value.isNull }
        default:
            guard let entity = state.reference.model.entity(entity) else { return [:] }
            var values = SampleGraph.randomValues(for: entity, using: &random, nullOneIn: 2)
            if entity.name == "Indexed", random.oneIn(2) { values["owner"] = .objectID(object("Dog", state: state)) }
            return values
        }
    }

    private mutating func link(_ state: LockStepModel) -> LockStepOperation {
        let model = state.reference.model
        let relationships = model.relationships.filter { if case .links = $0.storage { true } else { false } }
        let relationship = random.pick(relationships)
        if case .links(let owner, let isFlipped) = relationship.storage {
            let links = (state.reference.links[owner] ?? [:]).values
                .sorted { ($0.source, $0.target) < ($1.source, $1.target) }
            if !links.isEmpty, random.below(Self.linksPerRelationship) < links.count || random.oneIn(4) {
                let link = random.pick(links)
                return .unlink(isFlipped ? link.flipped : link, relationship.name)
            }
        }
        return .link(
            Link(
                end(relationship.source, state: state), end(relationship.destination, state: state),
                order: Int64(random.below(5)),
                inverseOrder: Int64(random.below(5))), relationship.name)
    }

    /// Returns the key of an object for one end of a link, or sometimes a random number.
    ///
    /// The object exists or is inserted by the change set, and the change set does not delete it.
    private mutating func end(_ entity: Int, state: LockStepModel) -> Int64 {
        let model = state.reference.model
        let entity = model.entities[entity]
        let deleted = Set(state.changes.deletes.map(\.id))
        let ids = (state.reference.records(of: entity).map(\.id) + state.changes.inserts.ids).filter {
            entity.includes(model.entity($0.entity)?.number ?? -1) && !deleted.contains($0)
        }
        return ids.isEmpty || random.oneIn(30) ? Int64(random.below(40) + 1) : random.pick(ids).key
    }

    private mutating func metadata() -> LockStepOperation {
        .setMetadata("k\(random.below(4))", random.oneIn(3) ? nil : .int(Int64(random.below(100))))
    }

    // MARK: Reads

    private mutating func scan(_ state: LockStepModel) -> LockStepOperation {
        let entity = anyEntity(state)
        let last = (state.reference.model.entity(entity)?.root).flatMap { state.reference.lastKeys[$0] } ?? 0
        return .scan(entity, after: random.oneIn(2) ? nil : Int64(random.below(Int(last) + 2)) + 1)
    }

    private mutating func walk(_ state: LockStepModel) -> LockStepOperation {
        let model = state.reference.model
        let relationship = random.pick(model.relationships.filter(\.isToMany))
        let ids = state.reference.records(of: model.entities[relationship.source]).map(\.id)
        guard !ids.isEmpty, !random.oneIn(30) else {
            return .walk(relationship.name, ObjectID(model.entities[relationship.source].name, key: 1))
        }
        return .walk(relationship.name, random.pick(ids))
    }

    private static let fetched: [(entity: EntityName, attributes: [String])] = [
        ("Everything", ["i16", "i32", "i64", "dbl", "flt", "str", "flag", "day", "ident", "link"]),
        ("Indexed", ["i16", "i32", "i64", "dbl", "flt", "str", "flag", "day", "ident", "link"]),
        ("Being", ["name", "age"]), ("Animal", ["name", "age", "legs"]), ("Account", ["email", "first", "number"]),
        ("Track", ["title"]),
    ]

    private mutating func request(_ state: LockStepModel) -> FetchRequest {
        let (entity, attributes) = random.pick(Self.fetched)
        var request = FetchRequest(entity).with { $0.includesSubentities = !random.oneIn(5) }
        if !random.oneIn(6) { request.predicate = predicate(entity, attributes: attributes, state: state, depth: 2) }
        for _ in 0..<random.below(3) {
            request.sortDescriptors.append(.init(random.pick(attributes), ascending: random.oneIn(2)))
        }
        if random.oneIn(4) { request.fetchLimit = random.below(10) }
        if random.oneIn(4) { request.fetchOffset = random.below(6) }
        return request
    }

    private mutating func predicate(
        _ entity: EntityName, attributes: [String], state: LockStepModel, depth: Int
    ) -> FetchRequest.Predicate {
        if depth > 0 {
            switch random.below(6) {
            case 0:
                return .and(
                    (0..<random.below(4)).map { _ in
                        predicate(entity, attributes: attributes, state: state, depth: depth - 1)
                    })
            case 1:
                return .or(
                    (0..<random.below(4)).map { _ in
                        predicate(entity, attributes: attributes, state: state, depth: depth - 1)
                    })
            case 2: return .not(predicate(entity, attributes: attributes, state: state, depth: depth - 1))
            default: break
            }
        }
        let attribute = random.pick(attributes)
        switch random.below(8) {
        case 0: return random.oneIn(2) ? .isNull(attribute) : .isNotNull(attribute)
        case 1:
            return .isIn(
                attribute, values: (0..<random.below(4)).map { _ in value(attribute, entity: entity, state: state) })
        case 2:
            let isText = ["str", "name", "title", "email", "first"].contains(attribute)
            guard isText, case .string(let text) = value(attribute, entity: entity, state: state) else { fallthrough }
            return .beginsWith(attribute, prefix: String(text.unicodeScalars.prefix(random.below(3))))
        default:
            let operators: [FetchRequest.Comparison.Operator] = [
                .equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
            ]
            return .compare(
                attribute, using: random.pick(operators), with: value(attribute, entity: entity, state: state))
        }
    }

    /// Returns the value of a random object or, if it has none, a random value or null.
    private mutating func value(_ attribute: String, entity: EntityName, state: LockStepModel) -> Value {
        guard let entity = state.reference.model.entity(entity) else { return .null }
        let records = state.reference.records(of: entity)
        if !records.isEmpty, let value = try? random.pick(records).value(attribute), !value.isNull { return value }
        if random.oneIn(10) { return .null }
        return SampleGraph.randomValues(for: entity, using: &random, nullOneIn: nil)[attribute] ?? .null
    }
}
