extension RecordBatch {
    /// The positions of the records in the order in which a store keeps them: by place of their hierarchy, then by key.
    ///
    /// Records that lie together in a store are then reached together.
    ///
    /// - Parameter place: By entity number, the place of the entity's hierarchy.
    /// - Returns: Every position once; ascending where the records are in order already, as they mostly are.
    package func positionsByKey(in place: [Int]) -> [Int] {
        func precedes(_ left: Int, _ right: Int) -> Bool {
            let (a, b) = (place[entityNumber(at: left)], place[entityNumber(at: right)])
            return a == b ? key(at: left) < key(at: right) : a < b
        }
        let all = Array(0..<count)
        return zip(all, all.dropFirst()).allSatisfy { precedes($0, $1) } ? all : all.sorted(by: precedes)
    }
}
