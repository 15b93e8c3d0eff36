internal import RoostCore
internal import RoostQuery

/// The completion of the last word of a typed statement.
struct ShellCompleter {
    struct Answer {
        var candidates: [String] = []
        /// The number of typed characters at the beginning of each candidate.
        var prefixCount = 0
        /// Whether to add a blank after a single candidate.
        var addsBlank = true
    }

    let session: ShellSession

    func answer(_ text: String) -> Answer {
        let statement = ShellStatementBuffer.statements(text + "\u{0}").last?.text.dropLast() ?? ""
        if statement.hasPrefix(".") { return command(String(statement)) }
        let scanned = ShellText(String(statement))
        if isQuoted(scanned) { return Answer() }
        var start = scanned.count
        while start > 0, isPartOfPath(scanned.characters[start - 1]) { start -= 1 }
        let word = scanned.string(start..<scanned.count)
        let before = words(scanned, before: start)
        if let dot = word.lastIndex(of: ".") {
            return properties(of: word[..<dot], word: word[word.index(after: dot)...], before: before)
        }
        var answer = matching(word, candidates: candidates(before))
        // The name of a variable or a relationship can begin a path, so no blank follows.
        if answer.candidates.count == 1, let name = answer.candidates.first,
            session.variables[name] != nil
                || entity(before)?.relationship(name) != nil
        {
            answer.addsBlank = false
        }
        return answer
    }

    private func isQuoted(_ text: ShellText) -> Bool {
        var nesting = BracketNesting()
        for character in text.characters { for scalar in character.unicodeScalars { _ = nesting.take(scalar) } }
        return nesting.isQuoted
    }

    private func isPartOfPath(_ character: Character) -> Bool {
        ShellText.isNamePart(character) || ".[]".contains(character)
    }

    /// Returns the words before a position, with each path as one word.
    private func words(_ text: ShellText, before end: Int) -> [String] {
        text.string(0..<end).split { !isPartOfPath($0) && $0 != "-" && $0 != "/" }.map(String.init)
    }

    private func matching(_ word: some StringProtocol, candidates: [String], addsBlank: Bool = true) -> Answer {
        let found = Set(candidates).filter { $0.hasPrefix(word) }.sorted()
        return Answer(candidates: found, prefixCount: word.count, addsBlank: addsBlank)
    }

    private var sources: [String] { session.names }

    private func candidates(_ before: [String]) -> [String] {
        guard let first = before.first else { return ShellStatement.words + sources }
        let word = first.lowercased()
        switch word {
        case "explain" where before.count == 1: return ["fetch"] + sources
        case "let":
            if before.count == 1 { return [] }
            if before.count == 2 { return ["fetch", "insert"] + sources }
        case "fetch", "count", "update", "delete": if before.count == 1 { return sources }
        case "insert":
            if before.count == 1 { return session.model.entities.filter { !$0.isAbstract }.map(\.name.text) }
        case "undo", "redo", "changes", "commit", "rollback": return []
        default: break
        }
        guard let entity = entity(before) else { return sources }
        var names = entity.layout.fields.map(\.name).filter { !$0.contains("#") && !$0.contains(".") }
        names += entity.relationships.map(\.name.name)
        let isInsert = before.contains { $0.lowercased() == "insert" }
        let words = word == "update" ? ShellClauses.ofUpdate : ShellClauses.ofFetch
        return names + session.variables.keys + (isInsert ? [] : words.map(\.rawValue))
    }

    /// Returns the entity of the first source in a statement.
    private func entity(_ words: [String]) -> ManagedObjectModel.Entity? {
        for word in words {
            guard let source = ShellSource(whole: word), session.names.contains(source.name) else { continue }
            return destination(source)
        }
        return nil
    }

    /// Returns the entity of a source's objects, without reading them.
    private func destination(_ source: ShellSource) -> ManagedObjectModel.Entity? {
        guard var entity = session.variables[source.name]?.entity ?? session.model.entity(EntityName(source.name))
        else { return nil }
        for case (.name(let name), _) in source.steps {
            guard let relationship = entity.relationship(name) else { return nil }
            entity = session.model.entities[relationship.destination]
        }
        return entity
    }

    /// Returns the properties that can follow a path.
    ///
    /// The path begins with a source, or with a relationship of the statement's entity.
    private func properties(of path: Substring, word: Substring, before: [String]) -> Answer {
        var entity: ManagedObjectModel.Entity?
        if let source = ShellSource(whole: String(path)), session.names.contains(source.name) {
            entity = destination(source)
        } else {
            entity = self.entity(before)
            for name in path.split(separator: ".").map(String.init) {
                entity = entity?.relationship(name).map { session.model.entities[$0.destination] }
            }
        }
        guard let entity else { return Answer() }
        let names =
            entity.layout.fields.map(\.name).filter { !$0.contains("#") } + entity.relationships.map(\.name.name)
        return matching(word, candidates: names, addsBlank: false)
    }

    private func command(_ text: String) -> Answer {
        let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard words.count > 1 else { return matching(text, candidates: ShellCommand.all.map(\.name)) }
        let word = words[1].drop(while: \.isWhitespace)
        switch words[0] {
        case ".mode": return matching(word, candidates: RecordFormat.allCases.map(\.rawValue))
        case ".schema": return matching(word, candidates: session.model.entities.map(\.name.text))
        case ".help": return matching(word, candidates: ShellHelp.topics.map(\.name))
        case ".read":
            let files = FileCandidates.files(String(word)).map(\.text)
            return matching(
                word, candidates: files, addsBlank: files.count == 1 && files.first?.hasSuffix("/") == false)
        default: return Answer()
        }
    }
}
