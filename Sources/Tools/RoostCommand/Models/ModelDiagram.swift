internal import RoostCore

/// The diagram of a model, or of the difference of two versions.
struct ModelDiagram {
    enum Change: String {
        case added
        case removed
        case changed
    }

    struct Row {
        var text: String
        var change: Change?
    }

    struct Box {
        var name: String
        var isAbstract: Bool
        var change: Change?
        var rows: [Row]
    }

    /// A line from an entity to its superentity, as positions in ``boxes``.
    struct Inheritance {
        var entity: Int
        var superentity: Int
        var change: Change?
    }

    /// A line for a relationship and its inverse, between two positions in ``boxes``.
    struct Connection {
        var source: Int
        var destination: Int
        /// The count at the source, which the inverse defines, or nil without an inverse.
        var sourceCount: String?
        var destinationCount: String
        var labels: [String]
        var change: Change?
    }

    private(set) var boxes: [Box] = []
    private(set) var inheritances: [Inheritance] = []
    private(set) var connections: [Connection] = []

    /// Creates the diagram of a model, or of its difference from `old`.
    ///
    /// An empty `selection` shows all entities. `depth` is the maximum number of relationships from
    /// a selected entity to a shown one. Steps to superentities and subentities do not count.
    init(_ model: ManagedObjectModel, comparedWith old: ManagedObjectModel? = nil, selection: [String], depth: Int) {
        let new = Dictionary(uniqueKeysWithValues: model.entityDescriptions.map { ($0.name, $0) })
        let before = old.map { Dictionary(uniqueKeysWithValues: $0.entityDescriptions.map { ($0.name, $0) }) }
        let all = model.entityDescriptions + (old?.entityDescriptions.filter { new[$0.name] == nil } ?? [])
        let shown = selection.isEmpty ? Set(all.map(\.name)) : Self.near(selection, all: all, depth: depth)
        let entities = all.filter { shown.contains($0.name) }
        let positions = Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
        var drawn: Set<[String]> = []
        for (position, entity) in entities.enumerated() {
            let (now, former) = (new[entity.name], before?[entity.name])
            let change: Change? =
                before == nil ? nil : now == nil ? .removed : former == nil ? .added : now == former ? nil : .changed
            boxes.append(
                Box(
                    name: entity.name, isAbstract: entity.isAbstract, change: change,
                    rows: Self.rows(now?.attributes ?? [], before: before == nil ? nil : former?.attributes ?? [])))
            let parents = [now?.superentityName, former?.superentityName]
            for (name, isNow) in [(parents[0], true), (parents[1], false)] {
                guard let name, let parent = positions[name], isNow || parents[0] != name else { continue }
                let change: Change? = before == nil ? nil : !isNow ? .removed : parents[1] == name ? nil : .added
                inheritances.append(Inheritance(entity: position, superentity: parent, change: change))
            }
            let mine = now?.relationships ?? []
            let gone = former?.relationships.filter { old in !mine.contains { $0.name == old.name } } ?? []
            for relationship in mine + gone {
                guard let destination = positions[relationship.destinationEntityName] else { continue }
                let isRemoved = !mine.contains { $0.name == relationship.name }
                let versions = isRemoved ? before ?? [:] : new
                let inverse = relationship.inverseName.flatMap { name in
                    versions[relationship.destinationEntityName]?.relationships.first { $0.name == name }
                }
                let ends =
                    [[entity.name, relationship.name]]
                    + (inverse.map {
                        [[relationship.destinationEntityName, $0.name]]
                    } ?? [])
                guard drawn.insert(ends.map { $0.joined(separator: ".") }.sorted()).inserted else { continue }
                let former = former?.relationships.first { $0.name == relationship.name }
                let formerInverse = inverse.flatMap { inverse in
                    before?[relationship.destinationEntityName]?.relationships.first { $0.name == inverse.name }
                }
                let change: Change? =
                    before == nil
                    ? nil
                    : isRemoved
                        ? .removed
                        : former == nil ? .added : former == relationship && formerInverse == inverse ? nil : .changed
                connections.append(
                    Connection(
                        source: position, destination: destination, sourceCount: inverse.map(Self.count),
                        destinationCount: Self.count(relationship),
                        labels: ([relationship] + (inverse.map { [$0] } ?? [])).map(Self.label), change: change))
            }
        }
    }

    private static func near(_ selection: [String], all: [EntityDescription], depth: Int) -> Set<String> {
        var neighbors: [String: Set<String>] = [:]
        var relatives: [String: Set<String>] = [:]
        for entity in all {
            for relationship in entity.relationships {
                neighbors[entity.name, default: []].insert(relationship.destinationEntityName)
                neighbors[relationship.destinationEntityName, default: []].insert(entity.name)
            }
            guard let parent = entity.superentityName else { continue }
            relatives[entity.name, default: []].insert(parent)
            relatives[parent, default: []].insert(entity.name)
        }
        func closure(_ names: Set<String>, under links: [String: Set<String>]) -> Set<String> {
            var (found, edge) = (names, names)
            while !edge.isEmpty {
                edge = Set(edge.flatMap { links[$0] ?? [] }).subtracting(found)
                found.formUnion(edge)
            }
            return found
        }
        var found = closure(Set(selection), under: relatives)
        for _ in 0..<depth {
            let next = found.union(found.flatMap { neighbors[$0] ?? [] })
            let wider = closure(next, under: relatives)
            guard wider != found else { break }
            found = wider
        }
        return found
    }

    private static func rows(_ now: [AttributeDescription], before: [AttributeDescription]?) -> [Row] {
        var rows = now.map { attribute in
            let former = before?.first { $0.name == attribute.name }
            let change: Change? =
                before == nil ? nil : former == nil ? .added : former == attribute ? nil : .changed
            return Row(text: text(attribute), change: change)
        }
        for attribute in before ?? [] where !now.contains(where: { $0.name == attribute.name }) {
            rows.append(Row(text: text(attribute), change: .removed))
        }
        return rows
    }

    private static func text(_ attribute: AttributeDescription) -> String {
        let elements =
            attribute.elements.isEmpty ? "" : " of " + attribute.elements.map(\.name).joined(separator: ", ")
        return "\(attribute.name): \(attribute.type)\(attribute.isOptional ? "?" : "")\(elements)"
            + (attribute.isTransient ? ", transient" : "")
    }

    private static func label(_ relationship: RelationshipDescription) -> String {
        "\(relationship.name)\(relationship.isOrdered ? ", ordered" : ""), \(relationship.deleteRule.rawValue)"
    }

    /// Returns the allowed number of destinations as `1`, `0..1`, `*`, `1..*` or `2..5`.
    private static func count(_ relationship: RelationshipDescription) -> String {
        let least = relationship.isOptional ? 0 : max(1, relationship.minCount)
        guard let most = relationship.maxCount else { return least == 0 ? "*" : "\(least)..*" }
        return least == most ? "\(most)" : "\(least)..\(most)"
    }
}
