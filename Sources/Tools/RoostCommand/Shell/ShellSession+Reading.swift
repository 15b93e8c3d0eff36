internal import Roost
internal import RoostCore
internal import RoostQuery
internal import RoostText

// Statements that read.

extension ShellSession {
    /// The objects of a request, and the fetch that reads them.
    struct Selection {
        let objects: Objects
        /// The fetch, which closes ``snapshot`` when it is deallocated.
        let fetch: StoreFetch
        let snapshot: any StoreSnapshot
    }

    var outputFormat: OutputFormat { OutputFormat(format, dates: format == .csv ? .iso : .seconds) }

    /// Reads the clauses of a request, and finds its objects.
    ///
    /// - Throws: `ShellSyntaxError` with the position of the mistake; errors of reading.
    func select(_ request: ShellStatement.Request) throws -> Selection {
        let base = try snapshot()
        let objects = try resolve(request.source, snapshot: base)
        let snapshot: any StoreSnapshot = objects.ids.map { ListSnapshot($0, in: base) } ?? base
        let fetch = try placing(request.clauses) {
            var details = StoreFetch.Details()
            let arguments = try arguments(request.clauses, objects: objects, snapshot: base, details: &details)
            return try UsageError.reading { try StoreFetch(snapshot, arguments: arguments, details: details) }
        }
        return Selection(objects: objects, fetch: fetch, snapshot: snapshot)
    }

    /// Returns the clauses as options of `roost fetch`.
    private func arguments(
        _ clauses: ShellClauses, objects: Objects, snapshot: any StoreSnapshot,
        details: inout StoreFetch.Details
    ) throws -> ParsedArguments {
        var words: [String] = []
        for (word, fragment) in clauses.fragments where word != .set {
            switch word {
            case .distinct: words.append("--distinct")
            case .where:
                let bound = try bind(fragment, snapshot: snapshot)
                details.predicateArguments = bound.values
                words.append("--where=\(bound.text)")
            default: words.append("--\(word.rawValue)=\(fragment.text)")
            }
        }
        if let attribute = objects.attribute {
            guard clauses[.select] == nil else {
                throw ShellSyntaxError(
                    "'\(attribute)' is selected already; leave out 'select'", at: clauses[.select]?.column)
            }
            words.append("--select=\(attribute)")
        }
        return try ParsedArguments(words + ["--", "shell", objects.entity.name.text], for: .fetch)
    }

    /// Replaces variables such as `$a[0].artist` in a predicate with placeholders.
    ///
    /// The text keeps its length, so that the columns in errors are correct.
    private func bind(
        _ fragment: ShellFragment, snapshot: any StoreSnapshot
    ) throws -> (text: String, values: [any PredicateArgument]) {
        let scanned = ShellText(fragment.text)
        var characters = scanned.characters
        var values: [any PredicateArgument] = []
        var nesting = BracketNesting()
        var index = 0
        let bound = Self.variablesOfSubqueries(fragment.text)
        while index < scanned.count {
            for scalar in scanned.characters[index].unicodeScalars { _ = nesting.take(scalar) }
            let name =
                scanned.characters[index] == "$" && !nesting.isQuoted
                ? scanned.string(index + 1..<scanned.endOfName(from: index + 1)) : ""
            guard !name.isEmpty, !bound.contains(name) else {
                index += 1
                continue
            }
            guard variables[name] != nil else {
                let hint =
                    nearestName(to: name, among: variables.keys.sorted()).map { "; did you mean '$\($0)'?" } ?? ""
                throw ShellSyntaxError("unknown variable '\(name)'\(hint)", at: fragment.column + index)
            }
            let source = try ShellSource(scanned, from: index + 1)
            values.append(try predicateArgument(source, fragment: fragment, snapshot: snapshot))
            characters.replaceSubrange(
                index..<source.end, with: Array("%@") + Array(repeating: " ", count: source.end - index - 2))
            index = source.end
        }
        return (String(characters), values)
    }

    /// Returns the variables that SUBQUERY binds.
    private static func variablesOfSubqueries(_ text: String) -> Set<String> {
        guard text.lowercased().contains("subquery") else { return [] }
        return Set(text.matches(of: /,\s*\$(\w+)\s*,/).map { String($0.output.1) })
    }

    /// Returns what `$a` means in a predicate: a list of objects, one object, or a value.
    private func predicateArgument(
        _ source: ShellSource, fragment: ShellFragment, snapshot: any StoreSnapshot
    ) throws -> any PredicateArgument {
        do {
            let isOne = source.steps.contains { if case .position = $0.step { true } else { false } }
            let objects = try resolve(source, snapshot: snapshot)
            if objects.attribute != nil || isOne {
                if let value = try value(of: objects, snapshot: snapshot) { return value }
                guard objects.attribute == nil else {
                    throw ShellSyntaxError(
                        "'$\(source.name)' has many objects here, so the path has many values; name one, as in $\(source.name)[0]",
                        at: source.column)
                }
            }
            return objects.ids ?? []
        } catch let error as ShellSyntaxError {
            throw ShellSyntaxError(error.message, at: (error.column ?? 0) + fragment.column)
        }
    }

    // MARK: Statements

    func fetch(_ request: ShellStatement.Request) throws {
        let selection = try select(request)
        try placing(request.clauses) { try selection.fetch.print(outputFormat, console: console) }
    }

    func count(_ request: ShellStatement.Request) throws {
        let selection = try select(request)
        let count = try placing(request.clauses) { try selection.fetch.count() }
        try console.print("\(count)")
    }

    func explain(_ request: ShellStatement.Request) throws {
        if context.hasChanges {
            console.printError(
                "note: the plan is for the store; a fetch examines uncommitted changes separately")
        }
        let base = try store.snapshot()
        let objects = try resolve(request.source, snapshot: base)
        guard objects.ids == nil else {
            return try console.print("reads      the objects of the list by their keys")
        }
        try placing(request.clauses) {
            var details = StoreFetch.Details()
            let arguments = try arguments(request.clauses, objects: objects, snapshot: base, details: &details)
            let fetch = try UsageError.reading { try StoreFetch(base, arguments: arguments, details: details) }
            try fetch.explain(format, console: console)
        }
    }

    func assign(_ variable: String, request: ShellStatement.Request) throws {
        try requireFree(variable)
        let (objects, ids) = try ids(request)
        if let attribute = objects.attribute {
            throw ShellSyntaxError(
                "a variable holds objects, and '\(attribute)' is a value; leave out '.\(attribute)'",
                at: request.source.column)
        }
        variables[variable] = Variable(entity: objects.entity, ids: ids)
        try tell("\(variable) = \(Self.objects(ids.count)) of \(objects.entity.name)")
    }

    /// Returns the IDs of a request's objects, in the request's order.
    func ids(_ request: ShellStatement.Request) throws -> (objects: Objects, ids: [ObjectID]) {
        let selection = try select(request)
        return try placing(request.clauses) {
            let ids = try UsageError.requesting { () throws(StoreError) in
                try selection.snapshot.objectIDs(selection.fetch.request)
            }
            return (selection.objects, ids)
        }
    }

    /// Returns the only object's attribute value, or its ID if the source has no attribute.
    ///
    /// - Returns: Null for a source without objects; nil for several objects or a whole entity.
    func value(of objects: Objects, snapshot: any StoreSnapshot) throws -> Value? {
        guard let ids = objects.ids, ids.count < 2 else { return nil }
        guard let id = ids.first else { return .null }
        guard let attribute = objects.attribute else { return .objectID(id) }
        var batch = RecordBatch(model: model)
        guard try snapshot.record(with: id, into: &batch) else { throw StoreError.objectMissing(id) }
        var found = Value.null
        try batch.forEachRecord { (record) throws(StoreError) in
            switch attribute {
            case "id" where record.layout.field(attribute) == nil: found = .int(record.key)
            default: found = try record.value(attribute)
            }
        }
        return found
    }
}

extension StoreError {
    static func objectMissing(_ id: ObjectID) -> StoreError {
        StoreError(.objectNotFound, "\(id) does not exist.").with { $0.missingObjects = [id] }
    }
}
