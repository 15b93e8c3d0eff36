package import RoostCore

extension MappingModel {
    /// Returns what migrations with this mapping model drop, what they require of the data, and
    /// what looks like a mistake.
    ///
    /// Losses come first, then requirements, then notes. A policy is assumed to use everything, and
    /// the results of expressions are not judged.
    ///
    /// - Parameters:
    ///   - source: The model of the objects as they are.
    ///   - destination: The model that they shall have.
    /// - Returns: The remarks; none for what ``problems(from:to:)`` finds wrong already.
    package func remarks(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingRemark] {
        var remarks = MappingRemarks(self, source: source, destination: destination)
        remarks.make()
        return MappingRemark.Kind.allCases.flatMap { kind in remarks.remarks.filter { $0.kind == kind } }
    }
}
