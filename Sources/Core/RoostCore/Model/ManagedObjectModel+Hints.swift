extension ManagedObjectModel.Entity {
    /// Returns the end of a message about an unknown property name.
    ///
    /// Examples: `; 'created' was 'date' before.`, `; did you mean 'title'?` and `.`
    package func hint(
        forUnknown name: String, among known: [String], _ spelling: (String) -> String = { $0 }
    ) -> String {
        if let renamed = currentName(ofFormer: name), known.contains(renamed) {
            return "; '\(spelling(renamed))' was '\(name)' before."
        }
        if let near = nearestName(to: name, among: known) { return "; did you mean '\(spelling(near))'?" }
        // Elements of composites and positions in ordered relationships would make the list too long.
        let names = Set(known.filter { !$0.contains(".") && !$0.contains("#") }).sorted()
        return names.isEmpty ? "." : "; it has \(listed(names))."
    }

    private func currentName(ofFormer name: String) -> String? {
        attributes.first { $0.renamingIdentifier == name }?.name
            ?? relationships.first { $0.declaration.renamingIdentifier == name }?.name.name
    }
}
