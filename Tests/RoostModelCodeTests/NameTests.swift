import RoostCore
import RoostModelCode
import Testing

@Suite("Names in generated code")
struct NameTests {
    /// Words that have a meaning in Swift.
    static let words = [
        "actor", "any", "as", "associatedtype", "async", "await", "borrowing", "break", "case", "catch", "class",
        "consuming", "continue", "convenience", "default", "defer", "deinit", "didSet", "do", "dynamicType", "each",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "final", "for", "func", "get", "guard",
        "if", "import", "in", "indirect", "infix", "init", "inout", "internal", "is", "isolated", "lazy", "left", "let",
        "macro", "mutating", "newValue", "nil", "none", "nonisolated", "nonmutating", "oldValue", "open", "operator",
        "optional", "override", "package", "postfix", "precedence", "precedencegroup", "prefix", "private", "protocol",
        "public", "repeat", "required", "rethrows", "return", "right", "Self", "sending", "set", "some",
        "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "unowned",
        "unsafe", "using", "var", "weak", "where", "while", "willSet", "yield", "Any",
    ]
    /// Names that generated code and the classes of Roost use, except for the properties of
    /// `ManagedObject`.
    static let usedNames = [
        "text", "data", "date", "double", "float", "bool", "int16", "int32", "int64", "uuid", "decimal", "reference",
        "composite", "coded", "transient", "toOne", "toMany", "orderedToMany", "setText", "optionalText", "shape",
        "entityName", "propertyName", "names", "path", "keyPath", "id", "value", "object", "objects",
        "validate", "willSave", "fetch", "delete", "String", "Int16", "AnyKeyPath", "ManagedObject", "String_", "slot",
        "at", "place",
    ]
    /// The properties of `ManagedObject` whose names a model accepts and the generator refuses.
    static let members = ["context", "hasPersistentChangedValues", "version", "dynamic", "hashValue"]
    /// The properties of `ManagedObject` whose names every model refuses.
    static let reserved = [
        "objectID", "entity", "isFault", "isInserted", "isUpdated", "isDeleted", "hasChanges", "description",
    ]

    @Test(
        "Swift keywords and names that generated code uses can be property names",
        .enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"), arguments: [words, usedNames])
    func properties(names: [String]) throws {
        let attributes = names.flatMap { [AttributeDescription.string($0), .date("\($0)2", isOptional: false)] }
        let flat = EntityDescription("Flat", attributes: attributes)
        let base = EntityDescription("Base", attributes: attributes)
        let model = try ManagedObjectModel(entities: [flat, base, EntityDescription("Sub", superentity: "Base")])
        try SwiftCompiler.expectValid(Samples.texts(model))
    }

    @Test(
        "Swift keywords can be names of entities", .enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"))
    func entities() throws {
        let names = Self.words.filter { !["Any", "Self"].contains($0) }
        let model = try ManagedObjectModel(
            entities: names.map { EntityDescription($0, relationships: [.toOne("other", to: $0)]) })
        try SwiftCompiler.expectValid(Samples.texts(model))
    }

    @Test(
        "names of entities and properties can have letters outside ASCII",
        .enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"),
        arguments: ["Straße", "größe", "アルバム", "المدينة", "Ωmega", "𝒳", "名前2", "Résumé", "😀"])
    func unicode(name: String) throws {
        let model = try Samples.attribute(name, of: name)
        try SwiftCompiler.expectValid(Samples.texts(model, source: "\(name).roostmodel.json"))
    }

    @Test("a property with the name of a ManagedObject member is refused, with a remedy", arguments: members)
    func member(name: String) throws {
        let message = try Samples.message(Samples.attribute(name))
        #expect(message.contains("Thing.\(name): property '\(name)' has the name of a member of ManagedObject."))
        #expect(message.contains("renamingIdentifier to '\(name)'"))
    }

    @Test(
        "a property name that is refused would not compile",
        .enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"),
        arguments: members + reserved)
    func refusedNameDoesNotCompile(name: String) throws {
        let text = try #require(try Samples.texts(Samples.attribute("replaceMe"), layout: .singleFile).first)
        let result = try SwiftCompiler.typeCheck([text.replacing("replaceMe", with: name)])
        #expect(result.code != 0)
    }

    @Test("a model refuses the reserved names of ManagedObject members", arguments: reserved)
    func refusedByModel(name: String) { #expect(throws: StoreError.self) { try Samples.attribute(name) } }

    @Test(
        "a property name that is not a Swift identifier is refused",
        arguments: [
            "two words", "1st", "a-b", "_", "Type", "Protocol", "quote`", "\"", "a\\b", "$0", "=", "a\u{2028}b",
        ])
    func notIdentifier(name: String) throws {
        let message = try Samples.message(Samples.attribute(name))
        #expect(message.contains("is not a Swift identifier. Rename the property"))
    }

    @Test("an entity name that is not a Swift identifier needs a class name")
    func className() throws {
        var entity = EntityDescription("My Album", attributes: [.string("title")])
        #expect(try Samples.message(ManagedObjectModel(entities: [entity])).contains("managedObjectClassName"))
        entity.managedObjectClassName = "Album"
        let texts = try Samples.texts(ManagedObjectModel(entities: [entity]))
        #expect(texts.contains { $0.contains("final class Album: ") && $0.contains("EntityName(\"My Album\")") })
    }

    @Test(
        "a generated class has the class name that the model gives its entity",
        arguments: [
            ("Record_", "Record_"), (".Disc", "Disc"), ("Music.Disc", "Disc"), ("NSManagedObject", "Album"),
            ("ManagedObject", "Album"), ("not a name", "Album"), ("", "Album"),
        ])
    func namedClass(declared: String, expected: String) throws {
        var entity = EntityDescription("Album", attributes: [.string("title")])
        entity.managedObjectClassName = declared
        let other = EntityDescription("Other", relationships: [.toMany("albums", to: "Album")])
        let text = try #require(
            try Samples.texts(ManagedObjectModel(entities: [entity, other]), layout: .singleFile).first)
        #expect(text.contains("final class \(expected): ManagedObject"))
        #expect(text.contains("var albums: ToMany<\(expected)> {"))
    }

    @Test("a class cannot have the name of the constants of another class", arguments: [false, true])
    func constantsName(isFirst: Bool) throws {
        let album = EntityDescription("Album", attributes: [.string("title")])
        var other = EntityDescription("Other", attributes: [.string("title")])
        other.managedObjectClassName = "_AlbumClass"
        let message = try Samples.message(ManagedObjectModel(entities: isFirst ? [album, other] : [other, album]))
        #expect(message.contains("uses the name '_AlbumClass' of the class of entity 'Other'. Rename one"))
    }

    @Test("one error lists all names that generated code cannot use")
    func list() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("String", attributes: [.string("context")]),
            EntityDescription("two words", attributes: [.string("1st")]),
            EntityDescription("MusicModel"),
        ])
        let message = try Samples.message(model)
        #expect(message.hasPrefix("No classes can be generated from 'Music.roostmodel.json':\n"))
        #expect(message.split(separator: "\n").count == 6)
        for part in ["String: ", "String.context: ", "two words: ", "two words.1st: ", "MusicModel: "] {
            #expect(message.contains("\n  \(part)"))
        }
    }

    @Test("two entities with the same class name are refused")
    func duplicates() throws {
        var first = EntityDescription("First")
        first.managedObjectClassName = "Second"
        let message = try Samples.message(ManagedObjectModel(entities: [first, EntityDescription("Second")]))
        #expect(message.contains("its class 'Second' is also the class of entity 'First'"))
        #expect(message.split(separator: "\n").count == 2)
    }

    @Test("generated files whose names differ only in case are refused, but a single file is not")
    func caseInsensitive() throws {
        let model = try ManagedObjectModel(entities: [EntityDescription("album"), EntityDescription("Album")])
        #expect(try Samples.message(model).contains("--single-file"))
        #expect(try Samples.texts(model, layout: .singleFile).count == 1)
    }

    @Test(
        "the name of the generated enum follows from the name of the model file",
        arguments: [
            ("Music.roostmodel.json", "MusicModel"), ("Music.xcdatamodeld", "MusicModel"),
            ("MusicModel.roostmodel.json", "MusicModel"), ("my-songs 2.json", "MySongs2Model"),
            ("2024.roostmodel.json", "_2024Model"), ("model.json", "Model"), (".roostmodel.json", "RoostmodelModel"),
            ("straße.roostmodel.json", "StraßeModel"), ("-.json", "Model"),
        ])
    func modelName(source: String, expected: String) throws {
        let text = try #require(try Samples.texts(Samples.music(), source: source, layout: .singleFile).first)
        #expect(text.contains("nonisolated enum \(expected) {"))
    }
}
