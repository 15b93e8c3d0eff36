internal import RoostCore

/// A matching of the elements of two versions of a model: entities, attributes or relationships.
///
/// The first rule that applies determines the match:
/// 1. The names are equal, the elements are equal in all relevant ways, and the new element has no
///    renaming identifier that differs from its name.
/// 2. The identifiers are equal: an element's renaming identifier, or else its name.
/// 3. The names are equal, neither element has a match, and the traits allow it.
struct VersionMatching<Element> {
    struct Traits {
        let name: (Element) -> String
        let renamingIdentifier: (Element) -> String?
        /// Returns whether two elements with the same name are equal in all relevant ways.
        let isSame: (_ old: Element, _ new: Element) -> Bool
        /// Whether equal elements with the same name match regardless of the new element's renaming
        /// identifier.
        var isSameBeforeRenaming = false
        /// Returns whether a new element may match an old element that is already matched, or that
        /// shares only its name.
        let canTake: (_ old: Element, _ new: Element) -> Bool
        /// Whether two new elements may match the same old element if only one of them has a
        /// renaming identifier for it.
        var canShare = true
    }

    /// The index of each new element's old element, or nil.
    private(set) var origins: [Int?]
    /// The indexes of several old elements that match a new element's identifier equally well.
    private(set) var ambiguous: [Int: [Int]] = [:]

    private let old: [Element]
    private let new: [Element]
    private let traits: Traits
    private var taken: Set<Int> = []

    /// Matches elements; names must be unique in `old` and in `new`.
    init(from old: [Element], to new: [Element], traits: Traits) {
        (self.old, self.new, self.traits) = (old, new, traits)
        origins = Array(repeating: nil, count: new.count)
        let byName = Dictionary(old.indices.map { (traits.name(old[$0]), $0) }, uniquingKeysWith: { first, _ in first })
        let byIdentifier = Dictionary(grouping: old.indices) { identifier(old[$0]) }
        let namesakes = new.map { byName[traits.name($0)] }
        for index in new.indices where traits.isSameBeforeRenaming || !isRenamed(new[index]) {
            if let namesake = namesakes[index], traits.isSame(old[namesake], new[index]) { take(namesake, for: index) }
        }
        for index in new.indices where origins[index] == nil && isRenamed(new[index]) {
            guard let origin = origin(of: index, byIdentifier: byIdentifier) else { continue }
            take(origin, for: index)
        }
        for index in new.indices where origins[index] == nil && !isRenamed(new[index]) {
            guard let origin = origin(of: index, byIdentifier: byIdentifier) else { continue }
            let isFree = !taken.contains(origin) || (traits.canShare && traits.canTake(old[origin], new[index]))
            if isFree { take(origin, for: index) }
        }
        for index in new.indices where origins[index] == nil && ambiguous[index] == nil {
            guard let namesake = namesakes[index], !taken.contains(namesake),
                traits.canTake(old[namesake], new[index])
            else { continue }
            take(namesake, for: index)
        }
    }

    private mutating func take(_ origin: Int, for index: Int) {
        origins[index] = origin
        taken.insert(origin)
    }

    private func identifier(_ element: Element) -> String {
        traits.renamingIdentifier(element) ?? traits.name(element)
    }

    private func isRenamed(_ element: Element) -> Bool { identifier(element) != traits.name(element) }

    /// Returns the old element that a new element's identifier refers to, or nil.
    ///
    /// If there are several, prefers the old element with the new element's name, then the old
    /// element whose name is the identifier.
    private mutating func origin(of index: Int, byIdentifier: [String: [Int]]) -> Int? {
        let identifier = identifier(new[index])
        let candidates = byIdentifier[identifier] ?? []
        if candidates.count <= 1 { return candidates.first }
        let name = traits.name(new[index])
        let match =
            candidates.first { traits.name(old[$0]) == name } ?? candidates.first { traits.name(old[$0]) == identifier }
        if match == nil { ambiguous[index] = candidates }
        return match
    }
}

extension VersionMatching.Traits where Element == ManagedObjectModel.Entity {
    /// The traits of entities.
    ///
    /// Entities with equal version hashes need no migration. They match first, so that no
    /// identifier assigns their objects to another entity.
    static var entities: Self {
        Self(
            name: \.name.text, renamingIdentifier: \.declaration.renamingIdentifier,
            isSame: { $0.versionHash == $1.versionHash }, isSameBeforeRenaming: true, canTake: { _, _ in true },
            canShare: false)
    }
}

extension VersionMatching.Traits where Element == ManagedObjectModel.Relationship {
    static var relationships: Self {
        Self(
            name: \.declaration.name, renamingIdentifier: \.declaration.renamingIdentifier,
            isSame: { old, new in
                old.isToMany == new.isToMany
                    && old.declaration.destinationEntityName == new.declaration.destinationEntityName
                    && old.declaration.inverseName == new.declaration.inverseName
            }, canTake: { $1.isToMany || !$0.isToMany })
    }
}

extension VersionMatching.Traits where Element == AttributeDescription {
    static func attributes(canTake: @escaping (_ old: Element, _ new: Element) -> Bool) -> Self {
        Self(
            name: \.name, renamingIdentifier: \.renamingIdentifier, isSame: { $0.type == $1.type },
            canTake: canTake)
    }
}
