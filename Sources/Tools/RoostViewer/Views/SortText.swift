#if Interactive
    internal import RoostCore
    internal import RoostQuery

    /// A sort order as a ``NameList``, such as `year,-title[cd]`.
    enum SortText {
        /// Parses a sort order, or throws a ``ViewerError`` for an empty name.
        static func descriptors(
            _ text: String, of entity: ManagedObjectModel.Entity
        ) throws(ViewerError) -> [FetchRequest.SortDescriptor] {
            var order: [FetchRequest.SortDescriptor] = []
            for part in NameList.parts(text) {
                let descriptor = FetchRequest.SortDescriptor(text: part, of: entity)
                guard !descriptor.key.isEmpty else {
                    throw ViewerError(
                        .badRequest,
                        message: "A name in 'sort' is empty. Write names with commas between them, as in year,-title.")
                }
                order.append(descriptor)
            }
            return order
        }
    }
#endif
