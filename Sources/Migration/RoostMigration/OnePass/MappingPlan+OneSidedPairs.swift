internal import RoostCore

extension MappingPlan {
    /// The numbers of the one-to-one source relationships that are migrated without their inverses.
    private var singleEnds: Set<Int> { Set(entityPlans.flatMap(\.references).compactMap(\.oneToOne)) }

    /// The numbers of the one-to-one source relationships whose pairs become links.
    private var linkedEnds: Set<Int> {
        Set(
            links.compactMap { link in
                guard case .field(let number) = link.relation.storage else { return nil }
                return OneSidedPairs.areKept(by: source.relationships[number], model: source) ? number : nil
            })
    }

    /// Returns the pairs that only the inverse of a migrated one-to-one source relationship stores.
    ///
    /// The result is keyed by the number of the relationship that lacks the pairs.
    func oneSidedPairs(
        _ snapshot: any StoreSnapshot, options: ConversionOptions, directories: [String]
    ) throws(StoreError) -> [Int: OneSidedPairs] {
        var pairs: [Int: OneSidedPairs] = [:]
        for number in singleEnds.union(linkedEnds).sorted() {
            pairs[number] = try OneSidedPairs.found(
                source.relationships[number], snapshot: snapshot, options: options, directories: directories)
        }
        return pairs
    }

    /// Returns the losses of one-to-one pairs that only the dropped inverse stores.
    ///
    /// Such a pair is lost if its object with the kept relationship has another partner.
    func losses(of pairs: [Int: OneSidedPairs]) -> [MigrationLoss] {
        singleEnds.sorted().compactMap { number in
            guard let rivalCount = pairs[number]?.rivalCount, rivalCount > 0,
                let other = source.relationships[number].inverse.map({ source.relationships[$0] })
            else { return nil }
            return MigrationLoss(
                entity: other.name.entity.text, property: other.name.name, kind: .references, count: rivalCount,
                message:
                    "Only the inverse, '\(source.relationships[number].name)', is kept: references are dropped if their destinations refer to other objects by the inverse."
            )
        }
    }
}
