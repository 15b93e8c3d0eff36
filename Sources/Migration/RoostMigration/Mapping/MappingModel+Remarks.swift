package import RoostCore

extension MappingModel {
    /// Returns remarks on dropped data, requirements on the data, and likely mistakes.
    ///
    /// A policy is assumed to read everything, and the results of expressions are not examined.
    /// Errors that ``problems(from:to:)`` reports are not included.
    package func remarks(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingRemark] {
        var remarks = MappingRemarks(self, source: source, destination: destination)
        remarks.make()
        return MappingRemark.Kind.allCases.flatMap { kind in remarks.remarks.filter { $0.kind == kind } }
    }
}
