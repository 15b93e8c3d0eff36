extension ManagedObjectModel.Entity {
    /// Returns the end of a message about a property that the entity does not have.
    ///
    /// The text names the property that had this name in an older version of the model, the nearest
    /// name, or up to 21 properties.
    ///
    /// - Parameters:
    ///   - name: The unknown name.
    ///   - known: The names that can be used here.
    ///   - spelling: Returns the spelling of a name for the message.
    /// - Returns: `; 'created' was 'date' before.`, `; did you mean 'title'?`, `; it has created,
    ///   title.` or `.`
    package func hint(
        forUnknown name: String, among known: [String], _ spelling: (String) -> String = { $0 }
    ) -> String {
        if let renamed = currentName(ofFormer: name), known.contains(renamed) {
            return "; '\(spelling(renamed))' was '\(name)' before."
        }
        if let near = nearestName(to: name, among: known) { return "; did you mean '\(spelling(near))'?" }
        // Elements of composites, and fields for places in ordered relationships, would make the list too long.
        let names = Set(known.filter { !$0.contains(".") && !$0.contains("#") }).sorted()
        return names.isEmpty ? "." : "; it has \(listed(names))."
    }

    /// Returns the property that had this name in an older version of the model, according to its
    /// renaming identifier.
    private func currentName(ofFormer name: String) -> String? {
        attributes.first { $0.renamingIdentifier == name }?.name
            ?? relationships.first { $0.declaration.renamingIdentifier == name }?.name.name
    }
}
