internal import RoostCore

/// Finds which elements of two versions of a model are the same: entities, attributes or
/// relationships.
///
/// The rules, the first one that applies:
/// 1. A name that is the same on both sides, where nothing else differs that matters.
/// 2. A renaming identifier that an element of the source has, or is called by.
/// 3. A name that no renaming identifier claims, on either side.
struct VersionMatching<Element> {
    /// The rules for comparing elements.
    struct Traits {
        let name: (Element) -> String
        let renamingIdentifier: (Element) -> String?
        /// Whether two elements of one name store the same.
        let isSame: (_ old: Element, _ new: Element) -> Bool
        /// Whether elements of one name that store the same belong together whatever the new one's
        /// renaming identifier says.
        var isSameBeforeRenaming = false
        /// Whether a new element may take an old element that is already taken, or that only its
        /// name matches.
        let canTake: (_ old: Element, _ new: Element) -> Bool
        /// Whether two new elements may take the same old one when only one of them says so by a
        /// renaming identifier.
        var canShare = true
    }

    /// For each new element, the position of the old one; nil for a new one.
    private(set) var origins: [Int?]
    /// For each new element, the positions of the old ones that its renaming identifier means,
    /// where they are several.
    private(set) var ambiguous: [Int: [Int]] = [:]

    private let old: [Element]
    private let new: [Element]
    private let traits: Traits
    private var taken: Set<Int> = []

    /// Matches elements.
    ///
    /// - Parameters:
    ///   - old: The elements of the source, whose names are unique.
    ///   - new: The elements of the destination, whose names are unique.
    ///   - traits: What the matching asks about them.
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

    /// Whether an element has a renaming identifier that is not its own name.
    private func isRenamed(_ element: Element) -> Bool { identifier(element) != traits.name(element) }

    /// The old element that a new one's identifier means.
    ///
    /// Of several, prefers the element with the same name, then the element whose name is the
    /// identifier.
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
    /// Equal version hashes come first: such an entity needs no migration, so no identifier can
    /// take its objects away.
    static var entities: Self {
        Self(
            name: \.name.text, renamingIdentifier: \.declaration.renamingIdentifier,
            isSame: { $0.versionHash == $1.versionHash }, isSameBeforeRenaming: true, canTake: { _, _ in true },
            canShare: false)
    }
}

extension VersionMatching.Traits where Element == ManagedObjectModel.Relationship {
    /// A relationship of one name is the same if it has the same destination entity and the same
    /// inverse.
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
    /// An attribute of one name is the same where it has the same type.
    static func attributes(canTake: @escaping (_ old: Element, _ new: Element) -> Bool) -> Self {
        Self(
            name: \.name, renamingIdentifier: \.renamingIdentifier, isSame: { $0.type == $1.type },
            canTake: canTake)
    }
}
