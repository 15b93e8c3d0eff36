extension ManagedObjectModel.Entity {
    /// Returns the end of a message about a property that the entity does not have.
    ///
    /// The text names the property that had the unknown name in an older version of the model. If
    /// no property had it, the text suggests the nearest name, or lists up to 21 properties.
    ///
    /// - Parameters:
    ///   - name: The unknown name.
    ///   - known: The names that are valid instead of `name`.
    ///   - spelling: Returns a valid name as the message spells it.
    /// - Returns: `; 'created' was 'date' before.`, `; did you mean 'title'?`, `; it has created,
    ///   title.` or `.`
    package func hint(
        forUnknown name: String, among known: [String], _ spelling: (String) -> String = { $0 }
    ) -> String {
        if let renamed = currentName(ofFormer: name), known.contains(renamed) {
            return "; '\(spelling(renamed))' was '\(name)' before."
        }
        if let near = nearestName(to: name, among: known) { return "; did you mean '\(spelling(near))'?" }
        // The elements of composites, and the positions in ordered relationships, would make the list too long.
        let names = Set(known.filter { !$0.contains(".") && !$0.contains("#") }).sorted()
        return names.isEmpty ? "." : "; it has \(listed(names))."
    }

    /// Returns the name of the property whose renaming identifier is `name`.
    private func currentName(ofFormer name: String) -> String? {
        attributes.first { $0.renamingIdentifier == name }?.name
            ?? relationships.first { $0.declaration.renamingIdentifier == name }?.name.name
    }
}
