public import RoostCore

extension FetchRequest.Predicate {
    /// Parses a predicate for an entity of a model.
    ///
    /// Names must be properties of the entity, or of the objects to which a relationship or the
    /// variable of a SUBQUERY refers. A literal gets the type of the operand with which it is
    /// compared. Values for `%@` are not converted. Otherwise, the language is that of
    /// ``init(format:_:)``.
    ///
    /// If `ofGroups` is true, the text is a ``RowRequest/havingPredicate``. A path can then begin
    /// with an operator over all objects of a group: `@sum.length`.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidValue`, naming the property whose type
    ///   a value does not fit; the errors of ``init(format:_:)``.
    /// - Complexity: O(*n*) in the length of the text, for a given depth.
    package init(
        _ text: String, _ arguments: any PredicateArgument..., for entity: EntityName, model: ManagedObjectModel,
        ofGroups: Bool = false
    ) throws(StoreError) {
        try self.init(text, arguments: arguments, for: entity, model: model, ofGroups: ofGroups)
    }

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

    /// Parses a predicate in the language of Core Data's predicate format strings, without a model.
    ///
    /// `docs/predicates.md` describes the language. A request that uses the predicate checks the
    /// names. The notation of a literal determines its type. A whole number in the range of `Int64`
    /// is an integer. Any other number is a double, or a decimal if only a decimal keeps all its
    /// digits. Pass values of other types as arguments, or write the type:
    /// `CAST("2024-05-01", "NSDate")`. Do not parse untrusted texts, because entity names in casts
    /// to NSManagedObjectID are never freed.
    ///
    /// - Parameters:
    ///   - format: The predicate. Inside quotes, `%` and `$` are ordinary characters.
    ///   - arguments: The values for `%@`, and the key paths for `%K`, from left to right.
    /// - Throws: `invalidRequest` with the column and the expected text, also for a wrong number or
    ///   kind of arguments and for nesting deeper than 200 levels;
    ///   `unsupported`, naming a part of Core Data's language that this language lacks;
    ///   `limitExceeded` for a text of more than 1 MiB or a list of more than 100 000 elements;
    ///   `invalidValue` for a number that is out of the range of all types.
    /// - Complexity: O(*n*) in the length of the text.
    public init(format: String, _ arguments: any PredicateArgument...) throws(StoreError) {
        try self.init(format: format, arguments: arguments)
    }

    package init(format: String, arguments: [any PredicateArgument]) throws(StoreError) {
        self = try PredicateParser.read(PredicateText(format, arguments: arguments)) { (parser) throws(StoreError) in
            let syntax = try parser.predicate()
            return try PredicateBinding(scope: nil, tokenizer: parser.tokenizer).predicate(syntax)
        }
    }

    /// Returns the text from which ``init(_:_:for:model:ofGroups:)`` creates the same predicate.
    ///
    /// The predicate can be a ``RowRequest/havingPredicate``.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; the errors of ``format()``.
    package func format(for entity: EntityName, model: ManagedObjectModel) throws(StoreError) -> String {
        try format(
            PredicateBinding.Scope(model: model, entity: try model.requireEntity(entity), isOfGroups: true))
    }

    /// Returns the text from which ``init(format:_:)`` creates the same predicate.
    ///
    /// An AND or OR with fewer than two members is written as an equivalent condition.
    ///
    /// - Returns: The text, on one line.
    /// - Throws: `unsupported` for a composite as a value, and for a registered function without
    ///   arguments; `invalidRequest` for an empty key path, and for a predicate that is nested too
    ///   deep; the error of a literal that could not be parsed.
    public func format() throws(StoreError) -> String { try format(nil) }

    private func format(_ scope: PredicateBinding.Scope?) throws(StoreError) -> String {
        try PredicatePrinter.text(scope) { (printer, depth) throws(StoreError) in
            try printer.print(PredicateSyntax.Condition(self, depth: depth))
        }
    }
}

extension FetchRequest.Expression {
    /// Parses an expression such as `price * 2` or `tracks.@count`, without a model.
    ///
    /// See ``FetchRequest/Predicate/init(format:_:)``.
    public init(format: String, _ arguments: any PredicateArgument...) throws(StoreError) {
        try self.init(format: format, arguments: arguments)
    }

    package init(format: String, arguments: [any PredicateArgument]) throws(StoreError) {
        self = try PredicateParser.read(PredicateText(format, arguments: arguments)) { (parser) throws(StoreError) in
            let syntax = try parser.expression()
            return try PredicateBinding(scope: nil, tokenizer: parser.tokenizer).expression(syntax)
        }
    }

    /// Parses an expression for an entity of a model.
    ///
    /// See ``FetchRequest/Predicate/init(_:_:for:model:ofGroups:)``. If `ofGroups` is true, the
    /// text is a column of ``RowRequest/propertiesToFetch``.
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

    /// Returns the text from which ``init(format:_:)`` creates the same expression.
    ///
    /// - Throws: The errors of ``FetchRequest/Predicate/format()``.
    package func format() throws(StoreError) -> String {
        try PredicatePrinter.text(nil) { (printer, depth) throws(StoreError) in
            try printer.print(PredicateSyntax.Operand(self, depth: depth))
        }
    }
}
