extension ManagedObjectModel.Entity {
    /// Returns the end of a message about a property that the entity does not have.
    ///
    /// It names the property that had this name in an older version of the model, or else the
    /// nearest one, or else all of them.
    ///
    /// - Parameters:
    ///   - name: The name that is not a property's.
    ///   - known: The names that can be used there.
    ///   - spelling: Returns a name as it is written there.
    /// - Returns: `; 'created' was 'date' before.`, `; did you mean 'title'?` or
    ///   `; it has created, title.`
    package func hint(
        forUnknown name: String, among known: [String], _ spelling: (String) -> String = { $0 }
    ) -> String {
        if let renamed = currentName(ofFormer: name), known.contains(renamed) {
            return "; '\(spelling(renamed))' was '\(name)' before."
        }
        if let near = nearestName(to: name, among: known) { return "; did you mean '\(spelling(near))'?" }
        // Elements of composites and places in relationships would only make the list long.
        let names = Set(known.filter { !$0.contains(".") && !$0.contains("#") }).sorted()
        return names.isEmpty ? "." : "; it has \(listed(names))."
    }

    /// The property that had this name in an older version of the model, as its renaming identifier
    /// says.
    private func currentName(ofFormer name: String) -> String? {
        attributes.first { $0.renamingIdentifier == name }?.name
            ?? relationships.first { $0.declaration.renamingIdentifier == name }?.name.name
    }
}
