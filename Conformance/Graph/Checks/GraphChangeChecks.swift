internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    static let insertion: [GraphCheck] = [
        GraphCheck("insert.defaults", "awakeFromInsert sees the model's defaults. It is called once.", .apple) {
            bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let draft: Draft = try context.insert()
            try expectEqual(draft.countAtInsert, 7, "the default that awakeFromInsert saw")
            try expectEqual(draft.calls, ["awakeFromInsert"], "the calls")
            try expectEqual([draft["title"], draft["count"]], [.null, 7], "the values")
            try context.save()
            try expectEqual(draft.calls.count { $0 == "awakeFromInsert" }, 1, "the calls after a save")
            try expectEqual(try bench.storedValues(draft.objectID, in: container)?["count"], 7, "the stored default")
        },
        GraphCheck("insert.abstract", "Inserting an abstract entity throws invalidRequest.", .apple) { bench in
            let context = try bench.makeContainer().makeContext()
            try expectError(.invalidRequest, in: "an insert by name") { _ = try context.insert("Asset") }
            try expectError(.invalidRequest, in: "an insert by class") { _ = try context.insert(Asset.self) }
            try expectError(.unknownEntity, in: "an insert of an unknown entity") { _ = try context.insert("Nothing") }
            try expect(!context.hasChanges, "no changes")
        },
        GraphCheck(
            "insert.delete-unsaved",
            "An object that is inserted and deleted before the save is not written, and no notice lists it.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            var notices: [SaveNotice] = []
            let token = context.observeSaves { notices.append($0) }
            let before = try bench.generation(of: container)
            let gone: Album = try context.insert()
            gone.title = "gone"
            context.delete(gone)
            context.processPendingChanges()
            try expect(gone.context == nil && !gone.isInserted && !gone.isDeleted, "the object left the context")
            try expect(!context.hasChanges, "no changes")
            try context.save()
            try expectEqual(try bench.generation(of: container), before, "the generation")
            try expectEqual(notices.count, 0, "the notices")
            let kept: Album = try context.insert()
            let dropped: Album = try context.insert()
            context.delete(dropped)
            try context.save()
            try expectEqual(notices.map(\.inserted), [[kept.objectID]], "the inserts of the notice")
            try expectEqual(notices.map(\.deleted), [[]], "the deletes of the notice")
            withExtendedLifetime(token) {}
        },
    ]

    static let changing: [GraphCheck] = [
        GraphCheck(
            "change.same-value",
            "After setting a property to its present value, isUpdated is true, hasPersistentChangedValues is false, and the save does not write the row (same version).",
            .both
        ) { bench in
            let container = try bench.makeContainer()
            var id = ObjectID("Album", key: 1)
            try bench.change(container) { id = try insertBlue(into: $0).objectID }
            let context = container.makeContext()
            let album = try require(try context.existingObject(with: id) as? Album, "an album")
            let before = try bench.generation(of: container)
            (album.title, album.year) = ("Blue", 1971)
            album.artist = album.artist
            try expect(album.isUpdated && album.hasChanges && context.hasChanges, "the object counts as updated")
            try expect(!album.hasPersistentChangedValues, "no stored value differs")
            try context.save()
            try expectEqual(try bench.storedVersion(id, in: container), 1, "the stored version")
            try expectEqual(album.version, 1, "the version in the context")
            try expectEqual(try bench.generation(of: container), before, "the generation")
            try expect(!album.isUpdated && !context.hasChanges, "no changes after the save")
            album.year = 1
            album.year = 1971
            try expect(!album.hasPersistentChangedValues, "a value that is changed and changed back does not differ")
            try context.save()
            try expectEqual(
                try bench.storedVersion(id, in: container), 1, "the version after a change and its reversal")
        },
        GraphCheck(
            "change.changed-values",
            "changedValues has the new values, committedValues the old ones, and changedValuesForCurrentEvent those at the start of the event.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            try expectEqual(album.changedValues(), [:], "the changed values at first")
            (album.year, album.title) = (1972, "Court")
            try expectEqual(
                album.changedValuesForCurrentEvent(), ["year": 1971, "title": "Blue"],
                "the old values of the first event")
            context.processPendingChanges()
            album.year = 1973
            album.artist = nil
            try expectEqual(
                album.changedValues(), ["year": 1973, "title": "Court", "artist": .null], "the changed values")
            try expectEqual(
                try album.committedValues(["year", "title"]), ["year": 1971, "title": "Blue"], "the committed values")
            let old = album.changedValuesForCurrentEvent()
            try expectEqual(old["year"], 1972, "the year at the start of the second event")
            try expectEqual(old["title"], nil, "the title, which did not change in the second event")
            try expect(old["artist"].map { !$0.isNull } ?? false, "the artist at the start of the second event")
            try context.save()
            try expectEqual(album.changedValues(), [:], "the changed values after the save")
            try expectEqual(try album.committedValues(["year"]), ["year": 1973], "the committed values after the save")
            try expectError(.unknownProperty, in: "committed values of an unknown name") {
                _ = try album.committedValues(["yeer"])
            }
        },
        GraphCheck(
            "change.typed-dynamic",
            "Null and extreme values of attributes can be set by name and read by the typed accessor, and the reverse.",
            .roost
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            var expected: [(id: ObjectID, name: String, value: Value)] = []
            for property in typedProperties {
                for value in property.values + [.null] {
                    let (byName, byType): (Everything, Everything) = (try context.insert(), try context.insert())
                    try byName.setValue(value, for: property.name)
                    try expectEqual(property.get(byName), value, "'\(property.name)' set by name, read by type")
                    property.set(byType, value)
                    try expectEqual(
                        try byType.value(property.name), value, "'\(property.name)' set by type, read by name")
                    try expectEqual(byType[property.name], value, "'\(property.name)' by subscript")
                    expected.append((byName.objectID, property.name, value))
                    expected.append((byType.objectID, property.name, value))
                }
            }
            try context.save()
            let other = try bench.reopen(container).makeContext()
            for (id, name, value) in expected {
                let object = try require(try other.existingObject(with: id) as? Everything, "an object")
                let property = try require(typedProperties.first { $0.name == name }, "a property")
                try expectEqual(property.get(object), value, "'\(name)' in another context")
                // The value of a saved object changes to null and back.
                property.set(object, .null)
                try expectEqual(object[name], .null, "'\(name)' set to null")
                property.set(object, value)
                try expectEqual(object[name], value, "'\(name)' set again")
                try expect(!object.hasPersistentChangedValues, "'\(name)', changed and changed back, does not differ")
            }
            try expect(other.pendingError == nil, "no error", otherwise: "\(String(describing: other.pendingError))")
        },
        GraphCheck(
            "change.unknown-name",
            "Reading a misspelled name by subscript gives null. The next save throws unknownProperty with the nearest name.",
            .roost
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let album: Album = try context.insert()
            try expectEqual(album["titel"], .null, "the value of a misspelled name")
            let error = try expectError(.unknownProperty, in: "the next save") { try context.save() }
            try expect(error.message.contains("'title'"), "the nearest name in the message", otherwise: error.message)
            try context.save()
            album["titel"] = "Blue"
            try expectError(.unknownProperty, in: "a save after setting it") { try context.save() }
            try expectError(.unknownProperty, in: "value(_:)") { _ = try album.value("titel") }
        },
        GraphCheck(
            "change.wrong-type",
            "Setting a value of another type by name throws invalidValue and leaves the object unchanged.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            let album = try require(try context.fetch(Fetch<Album>()).first, "an album")
            let wrong: [(String, Value)] = [
                ("year", "1971"), ("year", 70_000), ("title", 5), ("rating", "good"), ("artist", "Joni"),
                ("artist", .objectID(album.objectID)),
            ]
            for (name, value) in wrong {
                try expectError(.invalidValue, in: "setting '\(name)' to \(value.kindDescription)") {
                    try album.setValue(value, for: name)
                }
            }
            try expectEqual([album["year"], album["title"]], [1971, "Blue"], "the values")
            try expectEqual(album.artist?.name, "Joni", "the artist")
            try expect(!album.hasChanges && !context.hasChanges, "no changes")
            let person: Person = try context.insert()
            try expectError(.invalidValue, in: "setting a transient attribute") { try person.setValue(5, for: "nick") }
        },
        GraphCheck(
            "change.transient",
            "hasChanges and validation include a changed transient attribute. The store never gets it.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            var id = ObjectID("Person", key: 1)
            try bench.change(container) { context in
                let person: Person = try context.insert()
                (person.name, person.nick) = ("Ann", "annie")
                id = person.objectID
            }
            let context = container.makeContext()
            let person = try require(try context.existingObject(with: id) as? Person, "a person")
            try expectEqual(person.nick, nil, "the transient value in another context")
            person.nick = "an"
            try expect(person.hasChanges && person.isUpdated && context.hasChanges, "changes")
            try expect(!person.hasPersistentChangedValues, "no changed stored values")
            try context.save()
            try expect(!context.hasChanges, "no changes after the save")
            try expectEqual(person.nick, "an", "the transient value after the save")
            try expectEqual(try bench.storedVersion(id, in: container), 1, "the stored version")
            try expectEqual(try bench.storedValues(id, in: container)?["nick"], nil, "the stored transient value")
            person.nick = "too long for it"
            let error = try expectError(.validationFailed, in: "a save of a transient value that is too long") {
                try context.save()
            }
            try expectEqual(error.failures.map(\.property), ["nick"], "the property that fails")
        },
        GraphCheck(
            "change.transformable",
            "A Codable value that is set and saved is equal in another context. Setting an equal value writes nothing.",
            .both
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let object: Everything = try context.insert()
            try expectEqual(object.coded, nil, "the value at first")
            object.coded = Coded(name: "a", parts: [1, 2])
            object.coded?.parts.append(3)
            try context.save()
            let id = object.id
            let other = container.makeContext()
            let copy = try other.existingObject(id)
            try expectEqual(copy.coded, Coded(name: "a", parts: [1, 2, 3]), "the value in another context")
            copy.coded = Coded(name: "a", parts: [1, 2, 3])
            try expect(!copy.hasPersistentChangedValues, "an equal value does not differ")
            try other.save()
            try expectEqual(try bench.storedVersion(id.objectID, in: container), 1, "the version after an equal value")
            copy.coded?.name = "b"
            try other.save()
            try expectEqual(try bench.storedVersion(id.objectID, in: container), 2, "the version after another value")
            try context.refresh(object, mergingChanges: true)
            try expectEqual(object.coded, Coded(name: "b", parts: [1, 2, 3]), "the value after a refresh")
            object.coded = Coded(name: "c", parts: [])
            context.rollback()
            try expectEqual(object.coded, Coded(name: "b", parts: [1, 2, 3]), "the value after a rollback")
            object.coded = nil
            try expectEqual(object.coded, nil, "the value after null")
        },
    ]

    /// An attribute with access by name and by type.
    private struct TypedProperty: Sendable {
        let name: String
        let values: [Value]
        let get: @Sendable (Everything) -> Value
        let set: @Sendable (Everything, Value) -> Void

        init<T: AttributeValue>(
            _ name: String, values: [Value], get: @escaping @Sendable (Everything) -> T?,
            _ set: @escaping @Sendable (Everything, T?) -> Void
        ) {
            (self.name, self.values) = (name, values)
            self.get = { get($0)?.attributeValue ?? .null }
            self.set = { set($0, T(attribute: $1)) }
        }
    }

    private static let typedProperties: [TypedProperty] = [
        TypedProperty("i16", values: [0, -1, .int(Int64(Int16.min)), .int(Int64(Int16.max))], get: { $0.i16 }) {
            $0.i16 = $1
        },
        TypedProperty("i32", values: [0, .int(Int64(Int32.min)), .int(Int64(Int32.max))], get: { $0.i32 }) {
            $0.i32 = $1
        },
        TypedProperty("i64", values: [0, .int(.min), .int(.max)], get: { $0.i64 }) { $0.i64 = $1 },
        TypedProperty(
            "dec",
            values: [0, 1, -1].map { .decimal($0) } + [
                .decimal(Decimal(string: "12345678901234567890.123456789") ?? 0),
                .decimal(Decimal(string: "-0.00000000000000000000000000000000000001") ?? 0),
            ], get: { $0.dec }
        ) { $0.dec = $1 },
        TypedProperty(
            "dbl",
            values: [
                0.0, -0.0, 0.1, .double(.infinity), .double(-.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude),
            ],
            get: { $0.dbl }
        ) { $0.dbl = $1 },
        TypedProperty(
            "flt", values: [0.0, 0.5, .double(Double(Float.greatestFiniteMagnitude)), .double(-.infinity)],
            get: { $0.flt }
        ) { $0.flt = $1 },
        TypedProperty(
            "str", values: ["", "a", "ä\u{0}é", "e\u{301}", .string(String(repeating: "long 🎵 ", count: 20_000))],
            get: { $0.str }
        ) { $0.str = $1 },
        TypedProperty("flag", values: [true, false], get: { $0.flag }) { $0.flag = $1 },
        TypedProperty(
            "day",
            values: [
                .date(.distantPast), .date(.distantFuture), .date(Date(timeIntervalSinceReferenceDate: 0.000_001)),
            ],
            get: { $0.day }
        ) { $0.day = $1 },
        TypedProperty(
            "blob", values: [.data(Data()), .data(Data([0, 255, 0])), .data(Data(repeating: 7, count: 100_000))],
            get: { $0.blob }
        ) { $0.blob = $1 },
        TypedProperty(
            "ident", values: [.uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))), .uuid(UUID())],
            get: { $0.ident }
        ) { $0.ident = $1 },
        TypedProperty(
            "link", values: [.uri("https://example.org/ä?b=c#d"), .uri("")], get: { $0.link.map { Value.uri($0) } }
        ) {
            $0.link = if case .uri(let text)? = $1 { text } else { nil }
        },
        TypedProperty(
            "oid", values: [.objectID(ObjectID("Album", key: 1)), .objectID(ObjectID("Clip", key: .max))],
            get: { $0.oid }
        ) {
            $0.oid = $1
        },
        TypedProperty(
            "place",
            values: [.composite(["street": "Main", "number": 5]), .composite(["street": "only"]), .composite([:])],
            get: { $0.place.map { Value.composite($0) } }
        ) {
            $0.place = if case .composite(let elements)? = $1 { elements } else { nil }
        },
    ]
}
