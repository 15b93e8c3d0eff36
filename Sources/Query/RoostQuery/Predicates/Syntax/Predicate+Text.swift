public import RoostCore

extension FetchRequest.Predicate {
    /// Reads a predicate from text in the language of Core Data's predicate format strings, for an
    /// entity of a model.
    ///
    /// `docs/predicates.md` describes the language. Names must be those of the entity's properties,
    /// also after relationships and after the variable of a SUBQUERY. A literal becomes a value of
    /// the type that it meets: a string a date (``DateText``), a UUID, a URI, data (base64) or an
    /// object (`"Album/5"`); a whole number an object's key; a number a decimal. A number of at
    /// most nine digits means the nearest 32-bit number where it meets a float.
    ///
    /// - Parameters:
    ///   - text: The predicate; inside of quotes, `%` and `$` are ordinary characters.
    ///   - arguments: The values for `%@`, and the key paths for `%K`, from left to right. Their
    ///     types do not change with what they meet.
    ///   - entity: The entity whose properties the names mean.
    ///   - model: The model that has the entity.
    ///   - ofGroups: Whether it is a condition on groups, ``RowRequest/havingPredicate``, in which
    ///     a path can begin with an operator over all objects of a group: `@sum.length`.
    /// - Throws: `invalidRequest` with the column and the expected text, also for a wrong number or
    ///   kind of arguments and for nesting deeper than ``RecordFilter/maximumDepth``; `unsupported`
    ///   naming a part of Core Data's language that this one lacks; `unknownEntity`,
    ///   `unknownProperty`; `invalidValue` naming the property whose type a value does not fit;
    ///   `limitExceeded` for a text of more than 1 MiB or a list of more than 100 000 elements.
    /// - Complexity: O(*n*) in the text, for a given depth.
    package init(
        _ text: String, _ arguments: any PredicateArgument..., for entity: EntityName, model: ManagedObjectModel,
        ofGroups: Bool = false
    ) throws(StoreError) {
        try self.init(text, arguments: arguments, for: entity, model: model, ofGroups: ofGroups)
    }

    /// Reads a predicate from text, for an entity of a model, with its arguments in an array.
    ///
    /// As ``init(_:_:for:model:ofGroups:)``.
    package init(
        _ text: String, arguments: [any PredicateArgument], for entity: EntityName, model: ManagedObjectModel,
        ofGroups: Bool = false
    ) throws(StoreError) {
        let scope = PredicateBinding.Scope(
            model: model, entity: try model.requireEntity(entity), isOfGroups: ofGroups)
        self = try PredicateParser.read(PredicateText(text, arguments: arguments)) { (parser) throws(StoreError) in
            let syntax = try parser.predicate()
            return try PredicateBinding(scope: scope, tokenizer: parser.tokenizer).predicate(syntax)
        }
    }

    /// Reads a predicate from text in the language of Core Data's predicate format strings, without
    /// a model.
    ///
    /// Names are taken as they are, and checked when a request with the predicate is. A literal has
    /// the type that it looks like: a whole number is an integer, another number a double, or a
    /// decimal where that holds it and a double does not; dates and the like are arguments, or
    /// written with their type: `CAST("2024-05-01", "NSDate")`. The name of an entity in a cast to
    /// NSManagedObjectID stays known to the process; do not read texts of strangers this way.
    ///
    /// - Parameters:
    ///   - format: The predicate; inside of quotes, `%` and `$` are ordinary characters.
    ///   - arguments: The values for `%@`, and the key paths for `%K`, from left to right.
    /// - Throws: `invalidRequest`, `unsupported` and `limitExceeded` as
    ///   ``init(_:_:for:model:ofGroups:)``; `invalidValue` for a number that is larger than any
    ///   type holds.
    /// - Complexity: O(*n*) in the text.
    public init(format: String, _ arguments: any PredicateArgument...) throws(StoreError) {
        try self.init(format: format, arguments: arguments)
    }

    /// Reads a predicate from text, without a model, with its arguments in an array.
    ///
    /// As ``init(format:_:)``.
    package init(format: String, arguments: [any PredicateArgument]) throws(StoreError) {
        self = try PredicateParser.read(PredicateText(format, arguments: arguments)) { (parser) throws(StoreError) in
            let syntax = try parser.predicate()
            return try PredicateBinding(scope: nil, tokenizer: parser.tokenizer).predicate(syntax)
        }
    }

    /// The predicate as text, from which ``init(_:_:for:model:ofGroups:)`` makes the same one.
    ///
    /// A conjunction or disjunction of fewer than two members is written as what it means. A
    /// condition on groups is written too.
    ///
    /// - Parameters:
    ///   - entity: The entity whose properties the names mean.
    ///   - model: The model that has the entity.
    /// - Returns: The text, on one line.
    /// - Throws: `unknownEntity`, `unknownProperty`; `unsupported` for a composite as a value,
    ///   which the language cannot write; `invalidRequest` for an empty key path, and for a
    ///   predicate that is nested too deep.
    package func format(for entity: EntityName, model: ManagedObjectModel) throws(StoreError) -> String {
        try format(
            PredicateBinding.Scope(model: model, entity: try model.requireEntity(entity), isOfGroups: true))
    }

    /// The predicate as text, from which ``init(format:_:)`` makes the same one.
    ///
    /// A conjunction or disjunction of fewer than two members is written as what it means.
    ///
    /// - Returns: The text, on one line.
    /// - Throws: `unsupported` for a composite as a value, which the language cannot write;
    ///   `invalidRequest` for an empty key path, and for a predicate that is nested too deep.
    public func format() throws(StoreError) -> String { try format(nil) }

    private func format(_ scope: PredicateBinding.Scope?) throws(StoreError) -> String {
        try PredicatePrinter.text(scope) { (printer, depth) throws(StoreError) in
            try printer.print(PredicateSyntax.Condition(self, depth: depth))
        }
    }
}

extension FetchRequest.Expression {
    /// Reads an expression from text, in the language of predicates, without a model.
    ///
    /// As ``FetchRequest/Predicate/init(format:_:)``: `price * 2`, `artist.name`, `tracks.@count`.
    public init(format: String, _ arguments: any PredicateArgument...) throws(StoreError) {
        try self.init(format: format, arguments: arguments)
    }

    /// Reads an expression from text, without a model, with its arguments in an array.
    ///
    /// As ``init(format:_:)``.
    package init(format: String, arguments: [any PredicateArgument]) throws(StoreError) {
        self = try PredicateParser.read(PredicateText(format, arguments: arguments)) { (parser) throws(StoreError) in
            let syntax = try parser.expression()
            return try PredicateBinding(scope: nil, tokenizer: parser.tokenizer).expression(syntax)
        }
    }

    /// Reads an expression from text, for an entity of a model.
    ///
    /// As ``FetchRequest/Predicate/init(_:_:for:model:ofGroups:)``; `ofGroups` is for what rows
    /// show, ``RowRequest/propertiesToFetch``.
    package init(
        _ text: String, _ arguments: any PredicateArgument..., for entity: EntityName, model: ManagedObjectModel,
        ofGroups: Bool = false
    ) throws(StoreError) {
        let scope = PredicateBinding.Scope(
            model: model, entity: try model.requireEntity(entity), isOfGroups: ofGroups)
        self = try PredicateParser.read(PredicateText(text, arguments: arguments)) { (parser) throws(StoreError) in
            let syntax = try parser.expression()
            return try PredicateBinding(scope: scope, tokenizer: parser.tokenizer).expression(syntax)
        }
    }

    /// The expression as text, from which ``init(format:_:)`` makes the same one.
    ///
    /// - Returns: The text, on one line.
    /// - Throws: As ``FetchRequest/Predicate/format()``.
    package func format() throws(StoreError) -> String {
        try PredicatePrinter.text(nil) { (printer, depth) throws(StoreError) in
            try printer.print(PredicateSyntax.Operand(self, depth: depth))
        }
    }
}
