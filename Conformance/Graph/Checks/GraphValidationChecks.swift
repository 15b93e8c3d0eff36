internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery

extension GraphCheck {
    static let validation: [GraphCheck] = [
        GraphCheck(
            "validation.each-reason",
            "Each kind of violation gives one failure with object, property, reason and Core Data's code.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            let cases: [(property: String, value: Value, kind: ValidationFailure.Kind, code: Int)] = [
                ("required", .null, .missing, 1570), ("number", 0, .tooSmall, 1620), ("number", 11, .tooLarge, 1610),
                ("amount", 0.25, .tooSmall, 1620),
                ("day", .date(Date(timeIntervalSinceReferenceDate: -1)), .tooEarly, 1640),
                ("day", .date(Date(timeIntervalSinceReferenceDate: 1001)), .tooLate, 1630),
                ("text", "a", .tooShort, 1670),
                ("text", "abcdef", .tooLong, 1660), ("code", "abc", .noMatch, 1680), ("code", "ABc", .noMatch, 1680),
            ]
            for isInsert in [true, false] {
                for entry in cases {
                    let context = container.makeContext()
                    let rule = try context.insert("Rule")
                    rule["required"] = "there"
                    if !isInsert { try context.save() }
                    rule[entry.property] = entry.value
                    let error = try expectError(.validationFailed, in: "a save of \(entry.kind)") { try context.save() }
                    let failure = try require(error.failures.first, "a failure")
                    try expectEqual(error.failures.count, 1, "the number of failures of \(entry.kind)")
                    try expectEqual(failure.kind, entry.kind, "the reason of '\(entry.property)'")
                    try expectEqual(failure.code, entry.code, "the code of \(entry.kind)")
                    try expectEqual(failure.property, entry.property, "the property of \(entry.kind)")
                    try expectEqual(failure.subject, .object(rule.objectID), "the object of \(entry.kind)")
                    try expectEqual(failure.entity, "Rule", "the entity of \(entry.kind)")
                    try expect(rule.hasChanges, "the object keeps its change")
                }
            }
            let context = container.makeContext()
            for (count, kind, code) in [
                (1, ValidationFailure.Kind.tooFew(minimum: 2), 1580), (4, .tooMany(maximum: 3), 1590),
            ] {
                let club = try context.insert("Club")
                var members = try club.objects("members")
                for _ in 0..<count { members.insert(try context.insert("ClubMember")) }
                let error = try expectError(.validationFailed, in: "a save with \(count) members") {
                    try context.save()
                }
                try expectEqual(error.failures.map(\.kind), [kind], "the failures with \(count) members")
                try expectEqual(error.failures.map(\.code), [code], "the code with \(count) members")
                try expectEqual(error.failures.map(\.property), ["members"], "the property with \(count) members")
                try expectEqual(
                    error.failures.map(\.subject), [.object(club.objectID)], "the object with \(count) members")
                context.rollback()
            }
            let must = try context.insert("Must")
            let error = try expectError(.validationFailed, in: "a save without a mandatory reference") {
                try context.save()
            }
            try expectEqual(error.failures.map(\.kind), [.missing], "the failures of a reference")
            try expectEqual(error.failures.map(\.subject), [.object(must.objectID)], "the object with the reference")
        },
        GraphCheck(
            "validation.combined",
            "Five violations in three objects give one error that lists all five. Nothing is written and everything stays pending.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            var id = ObjectID("Rule", key: 1)
            try bench.change(container) { context in
                let rule = try context.insert("Rule")
                rule["required"] = "there"
                id = rule.objectID
            }
            let context = container.makeContext()
            let (first, second, third) = (
                try context.existingObject(with: id), try context.insert("Rule"), try context.insert("Rule")
            )
            let valid = try context.insert("Genre")
            (first["number"], first["text"]) = (0, "a")
            (second["code"], second["required"]) = ("lower", .null)
            (third["required"], third["number"]) = ("there", 99)
            let before = try bench.generation(of: container)
            let error = try expectError(.validationFailed, in: "the save") { try context.save() }
            let expected: Set<[String]> = [
                ["\(id)", "number"], ["\(id)", "text"], ["\(second.objectID)", "code"],
                ["\(second.objectID)", "required"], ["\(third.objectID)", "number"],
            ]
            let found = error.failures.map { failure -> [String] in
                guard case .object(let id) = failure.subject else { return ["\(failure.subject)"] }
                return ["\(id)", failure.property ?? "-"]
            }
            try expectEqual(found.count, 5, "the number of failures")
            try expectEqual(Set(found), expected, "the failures")
            try expectEqual(try bench.generation(of: container), before, "the generation")
            try expectEqual(context.insertedObjects, [second, third, valid], "the inserts that are pending")
            try expectEqual(context.updatedObjects, [first], "the updates that are pending")
            try expectEqual(first["number"], 0, "a pending value")
        },
        GraphCheck(
            "validation.optional-null", "A null value of an optional attribute with a minimum is valid.", .apple
        ) { bench in
            let context = try bench.makeContainer().makeContext()
            let rule = try context.insert("Rule")
            rule["required"] = ""
            try context.save()
            for (name, value) in [("number", 5), ("amount", 1.5), ("text", "abc"), ("code", "ABC")] as [(String, Value)]
            {
                rule[name] = value
                try context.save()
                rule[name] = .null
                try context.save()
            }
        },
        GraphCheck(
            "validation.custom",
            "If a validation override trims a text, the trimmed text is stored. If it throws, its failure is passed on unchanged.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let draft: Draft = try context.insert()
            draft.trimsTitle = true
            draft.title = "  padded  "
            try context.save()
            try expectEqual(draft.title, "padded", "the text in the context")
            try expectEqual(
                try bench.storedValues(draft.objectID, in: container)?["title"], "padded", "the stored text")
            try expect(!context.hasChanges, "no changes after the save")
            // The title is too long until the override shortens it.
            draft.title = String(repeating: " ", count: 30) + "short"
            try context.save()
            try expectEqual(draft.title, "short", "a text that is valid when it is trimmed")
            draft.refusal = "is not what we publish"
            draft.title = "other"
            let error = try expectError(.validationFailed, in: "a save that the override refuses") {
                try context.save()
            }
            try expectEqual(
                error.failures, [draft.validationFailure("is not what we publish", for: "title")], "the failures")
            try expectEqual(error.failures.first?.code, 1550, "the code")
            try expectEqual(draft.title, "other", "the text in the context")
            try expectEqual(try bench.storedValues(draft.objectID, in: container)?["title"], "short", "the stored text")
        },
        GraphCheck(
            "validation.deleted-exempt", "For an invalid object that is deleted, only delete validation applies.",
            .apple
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let draft: Draft = try context.insert()
            draft.title = "fine"
            let rule = try context.insert("Rule")
            rule["required"] = "there"
            try context.save()
            draft.calls = []
            draft.title = "much too long to be a title of a draft"
            draft.refusal = "is refused"
            rule["number"] = 99
            context.delete(draft)
            context.delete(rule)
            try context.save()
            try expectEqual(draft.calls.filter { $0.hasPrefix("validate") }, ["validateForDelete"], "the validations")
            try expectEqual(try bench.storedCount("Draft", in: container), 0, "the stored drafts")
            try expectEqual(try bench.storedCount("Rule", in: container), 0, "the stored rules")
        },
        GraphCheck("validation.no-value-in-message", "No failure's message contains a stored value.", .roost) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let rule = try context.insert("Rule")
            rule["required"] = .string(plantedSecret)
            (rule["text"], rule["code"]) = (.string(plantedSecret), .string(plantedSecret))
            rule["number"] = 987_654_321
            let error = try expectError(.validationFailed, in: "the save") { try context.save() }
            try expectEqual(error.failures.count, 3, "the number of failures")
            for text in error.failures.map(\.message) + ["\(error)", error.message] {
                try expect(
                    !text.contains(plantedSecret) && !text.contains("987"), "no value in a message", otherwise: text)
            }
            context.rollback()
            let album: Album = try context.insert()
            let texts: [String] = [
                try expectError(.invalidValue, in: "a value of another type") {
                    try album.setValue(.string(plantedSecret), for: "year")
                }.message, album.description, context.insertedObjects.description,
            ]
            for text in texts { try expect(!text.contains(plantedSecret), "no value in a text", otherwise: text) }
        },
    ]
}
