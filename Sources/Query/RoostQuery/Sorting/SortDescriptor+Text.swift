package import RoostCore

extension FetchRequest.SortDescriptor {
    /// Parses a sort descriptor such as `year` or `-title[cd]`.
    ///
    /// A hyphen before the name means descending order. Letters in brackets after the name are
    /// comparison options. If the whole text is the name of a property, the order is ascending by
    /// that property. Brackets with other letters remain in the name, so the request fails.
    package init(text: String, of entity: ManagedObjectModel.Entity) {
        guard entity.layout.field(text) == nil else {
            self.init(text)
            return
        }
        let isDescending = text.hasPrefix("-")
        let (name, options) = Self.options(isDescending ? String(text.dropFirst()) : text, entity: entity)
        self.init(name, ascending: !isDescending, options: options)
    }

    private static func options(
        _ text: String, entity: ManagedObjectModel.Entity
    ) -> (String, FetchRequest.Comparison.Options) {
        guard entity.layout.field(text) == nil, text.hasSuffix("]"), let open = text.lastIndex(of: "[") else {
            return (text, [])
        }
        var options: FetchRequest.Comparison.Options = []
        for letter in text[text.index(after: open)...].dropLast() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localized)
            default: return (text, [])
            }
        }
        return (String(text[..<open]), options)
    }
}
