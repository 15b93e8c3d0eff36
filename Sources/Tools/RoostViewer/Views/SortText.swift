#if Interactive
    internal import RoostCore

    /// An order as addresses have it and `roost fetch --sort` too: `year,-title[cd]`.
    enum SortText {
        /// Reads an order.
        ///
        /// - Throws: A ``ViewerError`` for an empty name or unknown options.
        static func descriptors(_ text: String) throws(ViewerError) -> [FetchRequest.SortDescriptor] {
            var order: [FetchRequest.SortDescriptor] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                var name = part.drop(while: \.isWhitespace)
                while name.last?.isWhitespace ?? false { name.removeLast() }
                let isDescending = name.hasPrefix("-")
                if isDescending { name = name.dropFirst() }
                var options: FetchRequest.Comparison.Options = []
                if name.hasSuffix("]"), let open = name.lastIndex(of: "[") {
                    for letter in name[name.index(after: open)...].dropLast() {
                        switch letter {
                        case "c": options.insert(.caseInsensitive)
                        case "d": options.insert(.diacriticInsensitive)
                        case "n": options.insert(.normalized)
                        case "l": options.insert(.localized)
                        default:
                            throw ViewerError(
                                .badRequest, "'\(part)' has the unknown option '\(letter)'; there are c, d, n and l.")
                        }
                    }
                    name = name[..<open]
                }
                guard !name.isEmpty else {
                    throw ViewerError(.badRequest, "An order is names with commas between them, as in year,-title.")
                }
                order.append(FetchRequest.SortDescriptor(String(name), ascending: !isDescending, options: options))
            }
            return order
        }
    }
#endif
