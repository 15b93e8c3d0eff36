internal import Roost
internal import RoostCore
internal import RoostGraph

// Commands that begin with a period.

extension ShellSession {
    private static let readingDepth = 16

    func runCommand(_ text: String) throws {
        let words = text.split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
        let name = words[0]
        guard let command = ShellCommand.all.first(where: { $0.name == name }) else {
            let hint = nearestName(to: name, among: ShellCommand.all.map(\.name)).map { "did you mean '\($0)'?" }
            throw ShellSyntaxError("unknown command '\(name)'; \(hint ?? "'.help' lists the commands")", at: 0)
        }
        var argument = words.count > 1 ? words[1] : ""
        while argument.last?.isWhitespace ?? false { argument.removeLast() }
        guard argument.isEmpty || !command.usage.isEmpty else {
            throw ShellSyntaxError("'\(name)' takes no argument", at: name.count + 1)
        }
        let place = name.count + 1
        switch name {
        case ".entities": try printEntities()
        case ".schema": try printSchema(argument.isEmpty ? nil : ShellFragment(argument, column: place))
        case ".mode": try chooseMode(argument, at: place)
        case ".read":
            guard !argument.isEmpty else { throw ShellSyntaxError("the name of a file is expected", at: place) }
            try readFile(argument)
        case ".help": try printHelp(argument, at: place)
        default: isEnded = true
        }
    }

    private func chooseMode(_ argument: String, at place: Int) throws {
        guard !argument.isEmpty else { return try console.print(format.rawValue) }
        guard let format = RecordFormat(rawValue: argument) else {
            let names = RecordFormat.allCases.map(\.rawValue)
            let hint = nearestName(to: argument, among: names).map { "; did you mean '\($0)'?" } ?? ""
            throw ShellSyntaxError(
                "unknown mode '\(argument)'; the modes are \(names.joined(separator: ", "))\(hint)", at: place)
        }
        self.format = format
    }

    private func printHelp(_ argument: String, at place: Int) throws {
        guard !argument.isEmpty else { return try console.print(ShellHelp.overview) }
        let topics = ShellHelp.topics
        let aliases = ["redo": "undo", "changes": "commit", "rollback": "commit"]
        let name = aliases[argument.lowercased()] ?? argument.lowercased()
        if let topic = topics.first(where: { $0.name == name }) { return try console.print(ShellHelp.text(topic)) }
        if let command = ShellCommand.all.first(where: { $0.name == name || $0.name == ".\(name)" }) {
            return try console.print("\(command.name) \(command.usage)\n    \(command.summary)")
        }
        let hint = nearestName(to: name, among: topics.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
        throw ShellSyntaxError("unknown help topic '\(argument)'\(hint)", at: place)
    }

    // MARK: The model

    private func printEntities() throws {
        context.processPendingChanges()
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let tally = try snapshot.recordedTally() ?? snapshot.computeTally()
        var counts = tally.entities.map { Int($0.count) }
        for object in context.insertedObjects { counts[object.entity.number] += 1 }
        for object in context.deletedObjects { counts[object.entity.number] -= 1 }
        var table = TextTable([("entity", .leading), ("objects", .trailing)])
        for (entity, count) in zip(model.entities, counts) { table.append([entity.name.text, "\(count)"]) }
        try console.print(table.description)
    }

    private func printSchema(_ name: ShellFragment?) throws {
        guard let name else {
            for (number, entity) in model.entities.enumerated() {
                try console.print((number > 0 ? "\n" : "") + schema(of: entity))
            }
            return
        }
        do { try console.print(schema(of: try StoreFetch.entity(name.text, model: model))) } catch let error
            as UsageError
        {
            throw ShellSyntaxError(error.message, at: name.column)
        }
    }

    private func schema(of entity: ManagedObjectModel.Entity) -> String {
        var title = entity.name.text
        if let superentity = entity.superentity { title += ": \(model.entities[superentity].name)" }
        if entity.isAbstract { title += " (abstract)" }
        var table = TextTable([("property", .leading), ("type", .leading), ("notes", .leading)])
        for attribute in entity.attributes {
            var notes: [String] = []
            if !attribute.isOptional { notes.append("mandatory") }
            if !attribute.defaultValue.isNull { notes.append("has a default") }
            if attribute.derivationExpression != nil { notes.append("derived") }
            if attribute.isTransient { notes.append("transient") }
            if entity.uniquenessConstraints.contains(where: { $0.attributes == [attribute.name] }) {
                notes.append("unique")
            }
            table.append([attribute.name, attribute.type.name, notes.joined(separator: ", ")])
            for element in attribute.elements {
                table.append(["\(attribute.name).\(element.name)", element.type.name, ""])
            }
        }
        for relationship in entity.relationships {
            let declaration = relationship.declaration
            var notes = [declaration.isOptional ? nil : "mandatory"].compactMap { $0 }
            if relationship.isOrdered { notes.append("ordered") }
            if let inverse = relationship.inverse {
                notes.append("inverse \(model.relationships[inverse].name.name)")
            }
            notes.append("delete \(declaration.deleteRule)")
            let destination = model.entities[relationship.destination].name.text
            table.append([
                relationship.name.name, relationship.isToMany ? "[\(destination)]" : destination,
                notes.joined(separator: ", "),
            ])
        }
        return "\(title)\n\(table.description)"
    }

    // MARK: Files

    private func readFile(_ path: String) throws {
        guard filesBeingRead.count < Self.readingDepth else {
            throw UsageError("'.read' is nested more than \(Self.readingDepth) levels deep")
        }
        filesBeingRead.append(path)
        defer { filesBeingRead.removeLast() }
        let script = ShellScript(self, input: try StreamInput.file(path), name: path)
        try script.run()
    }
}
