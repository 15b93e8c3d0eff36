internal import RoostCore

extension MappingPlan {
    /// The ends of one-to-one relationships of the source whose other ends the mapping does not
    /// keep.
    private var singleEnds: [Int] { Set(makers.flatMap(\.references).compactMap(\.oneToOne)).sorted() }

    /// By relationship of the source: the pairs that only the other end has, where the mapping
    /// keeps one end.
    ///
    /// - Throws: What reading the source throws.
    func oneSidedPairs(
        _ snapshot: any StoreSnapshot, _ options: ConversionOptions, directories: [String]
    ) throws(StoreError) -> [Int: OneSidedPairs] {
        var pairs: [Int: OneSidedPairs] = [:]
        for number in singleEnds {
            pairs[number] = try OneSidedPairs.found(
                source.relationships[number], snapshot, options, directories: directories)
        }
        return pairs
    }

    /// The pairs that cannot be kept: the kept end of a one-to-one relationship refers to another
    /// object already.
    ///
    /// - Throws: What reading the source throws.
    func lossesOfPairs(
        _ snapshot: any StoreSnapshot, _ options: ConversionOptions, directories: [String]
    ) throws(StoreError) -> [MigrationLoss] {
        var losses: [MigrationLoss] = []
        for (number, pairs) in try oneSidedPairs(snapshot, options, directories: directories).sorted(by: {
            $0.key < $1.key
        })
        where pairs.rivalCount > 0 {
            guard let other = source.relationships[number].inverse.map({ source.relationships[$0] }) else { continue }
            losses.append(
                MigrationLoss(
                    entity: other.name.entity.text, property: other.name.name, kind: .references,
                    count: pairs.rivalCount,
                    message:
                        "References are dropped whose destinations refer to other objects by '\(source.relationships[number].name)', the end that is kept."
                ))
        }
        return losses
    }
}
