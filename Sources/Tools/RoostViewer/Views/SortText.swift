#if Interactive
    internal import RoostCore
    internal import RoostQuery

    /// A sort order in the syntax of addresses and `roost fetch --sort`: `year,-title[cd]`.
    enum SortText {
        /// Parses a sort order.
        ///
        /// - Throws: A ``ViewerError`` for an empty name.
        static func descriptors(
            _ text: String, of entity: ManagedObjectModel.Entity
        ) throws(ViewerError) -> [FetchRequest.SortDescriptor] {
            var order: [FetchRequest.SortDescriptor] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                var name = part.drop(while: \.isWhitespace)
                while name.last?.isWhitespace ?? false { name.removeLast() }
                let descriptor = FetchRequest.SortDescriptor(text: String(name), of: entity)
                guard !descriptor.key.isEmpty else {
                    throw ViewerError(
                        .badRequest, message: "An order is names with commas between them, as in year,-title.")
                }
                order.append(descriptor)
            }
            return order
        }
    }
#endif
