#if Macros
    public import RoostCore

    /// Derives an entity from a class.
    ///
    /// Stored properties become properties of the entity. Properties with simple types, `Codable`
    /// types or enumerations with raw values are attributes. Properties whose type is a `@Model`
    /// class, `ToMany` or `OrderedToMany` are relationships. A property's initial value is its
    /// default.
    ///
    /// ```swift
    /// @Model final class Album: ManagedObject {
    ///     var title: String
    ///     var year: Int16 = 1970
    ///     @Relationship(inverse: \Artist.albums) var artist: Artist?
    ///     @Relationship(deleteRule: .cascade) var tracks: OrderedToMany<Track>
    /// }
    /// let model = try ManagedObjectModel(types: [Album.self, Artist.self, Track.self])
    /// ```
    ///
    /// Computed, `static` and `lazy` properties are not part of the model. Neither are constants
    /// with an initial value.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity, or nil for the name of the class.
    ///   - isAbstract: Whether the entity is abstract and so has no objects.
    ///   - renamingIdentifier: The name of the entity in earlier versions of the model.
    @attached(
        member, names: named(modelDescription), named(_modelDescription), named(propertyName), named(_modelProperty),
        named(_modelSlot))
    @attached(memberAttribute)
    @attached(extension, conformances: ModelClass)
    public macro Model(
        entity: String? = nil, isAbstract: Bool = false, renamingIdentifier: String? = nil
    ) = #externalMacro(module: "RoostMacros", type: "ModelMacro")

    /// Sets options of an attribute of a `@Model` class.
    ///
    /// ```swift
    /// @Attribute(renamingIdentifier: "name", maximumLength: 80) var title: String
    /// @Attribute(minimum: 1900, maximum: 2100) var year: Int16?
    /// @Attribute(type: .uri) var homepage: String?
    /// @Attribute(derivation: "tracks.@count") var trackCount: Int64?
    /// ```
    ///
    /// - Parameters:
    ///   - type: The attribute type, or nil to derive it from the property's type. Use `.uri` for
    ///     a `String`, or `.transformable` for `Data`.
    ///   - renamingIdentifier: The name of the attribute in earlier versions of the model.
    ///   - minimum: The minimum number or date.
    ///   - maximum: The maximum number or date.
    ///   - minimumLength: The minimum length of a string.
    ///   - maximumLength: The maximum length of a string.
    ///   - regularExpression: The pattern that the whole string must match.
    ///   - derivation: The expression from which each save computes the value.
    ///   - elements: The elements of a composite attribute.
    @attached(peer)
    public macro Attribute(
        type: AttributeType? = nil, renamingIdentifier: String? = nil, minimum: (any Sendable)? = nil,
        maximum: (any Sendable)? = nil, minimumLength: Int? = nil, maximumLength: Int? = nil,
        regularExpression: String? = nil, derivation: String? = nil, elements: [AttributeDescription] = []
    ) = #externalMacro(module: "RoostMacros", type: "PropertyMacro")

    /// Sets options of a relationship of a `@Model` class.
    ///
    /// The inverse is a key path or a name. Write a key path on one side only, because the compiler
    /// cannot resolve two key paths that refer to each other. Roost derives the inverse of
    /// the other side.
    ///
    /// ```swift
    /// @Relationship(inverse: \Artist.albums, isOptional: false) var artist: Artist?
    /// @Relationship(deleteRule: .cascade, maxCount: 40) var tracks: OrderedToMany<Track>
    /// ```
    ///
    /// - Parameters:
    ///   - inverse: The inverse relationship.
    ///   - deleteRule: The effect on the destination when an object is deleted.
    ///   - isOptional: Whether the relationship may be empty.
    ///   - minCount: The minimum number of destinations of a to-many relationship that is not
    ///     empty.
    ///   - maxCount: The maximum number of destinations of a to-many relationship, or nil for no
    ///     limit.
    ///   - renamingIdentifier: The name of the relationship in earlier versions of the model.
    @attached(peer)
    public macro Relationship(
        inverse: AnyKeyPath? = nil, deleteRule: DeleteRule = .nullify, isOptional: Bool = true, minCount: Int = 0,
        maxCount: Int? = nil, renamingIdentifier: String? = nil
    ) = #externalMacro(module: "RoostMacros", type: "PropertyMacro")

    /// Sets options of a relationship of a `@Model` class, with the inverse given by name.
    @attached(peer)
    public macro Relationship(
        inverse: String, deleteRule: DeleteRule = .nullify, isOptional: Bool = true, minCount: Int = 0,
        maxCount: Int? = nil, renamingIdentifier: String? = nil
    ) = #externalMacro(module: "RoostMacros", type: "PropertyMacro")

    /// Requires unique values of a property, or of a combination of properties.
    ///
    /// ```swift
    /// @Unique("title", "year")
    /// @Model final class Album: ManagedObject {
    ///     @Unique var catalogNumber: String?
    ///     var title: String
    ///     var year: Int16 = 1970
    /// }
    /// ```
    ///
    /// - Parameter properties: The names of the properties if the macro is on a class. On a
    ///   property, give no names.
    @attached(peer)
    public macro Unique(_ properties: String...) =
        #externalMacro(module: "RoostMacros", type: "PropertiesMacro")

    /// Adds an index of a property, or of several properties of a class.
    ///
    /// - Parameters:
    ///   - properties: The names of the properties, most significant first, if the macro is on a
    ///     class. On a property, give no names.
    ///   - name: The name of the index, or nil to derive it from the properties' names.
    @attached(peer)
    public macro Index(_ properties: String..., name: String? = nil) =
        #externalMacro(module: "RoostMacros", type: "PropertiesMacro")

    /// Excludes a property of a `@Model` class from stores.
    ///
    /// A property with a simple attribute type or `ObjectID` is a transient attribute of the model,
    /// and contexts track its changes. Any other property is an ordinary Swift property.
    @attached(peer)
    public macro Transient() = #externalMacro(module: "RoostMacros", type: "PropertyMacro")

    /// Adds the accessors of a property.
    ///
    /// Do not use this macro; `@Model` adds it.
    @attached(accessor)
    public macro _ModelProperty(slot: Int, after: String? = nil) =
        #externalMacro(module: "RoostMacros", type: "ModelPropertyMacro")
#endif
