internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery
internal import RoostStores

extension GraphCheck {
    static let saving: [GraphCheck] = [
        GraphCheck(
            "save.order-of-hooks",
            "A save of an insert, an update and a delete runs willSave (until stable), validation, commit, didSave, notice, in this order.",
            .apple
        ) { bench in
            var ids: [ObjectID] = []
            let (container, meter) = try bench.makeMetered { context in
                for title in ["updated", "deleted"] {
                    let draft: Draft = try context.insert()
                    draft.title = title
                    ids.append(draft.objectID)
                }
            }
            let context = container.makeContext()
            let journal = Journal()
            let updated = try require(try context.existingObject(with: ids[0]) as? Draft, "a draft")
            let deleted = try require(try context.existingObject(with: ids[1]) as? Draft, "a draft")
            let inserted: Draft = try context.insert()
            inserted.title = "inserted"
            for draft in [updated, deleted, inserted] { draft.journal = journal }
            updated.count = 1
            updated.whenSaving = { draft in if draft.count < 3 { draft.count += 1 } }
            context.delete(deleted)
            let token = context.observeSaves { _ in journal.append("notice") }
            meter.beforeNextCommit { journal.append("commit") }
            try context.save()
            let lines = journal.lines
            let phases = lines.map { $0.split(separator: " ").first.map(String.init) ?? "" }.map {
                $0.hasPrefix("validate") ? "validate" : $0
            }
            let order = phases.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
            try expectEqual(order, ["willSave", "validate", "commit", "didSave", "notice"], "the phases of \(lines)")
            try expectEqual(
                lines.filter { $0.hasPrefix("validate") }.sorted(),
                ["validateForDelete deleted", "validateForInsert inserted", "validateForUpdate updated"],
                "the validations")
            try expectEqual(
                lines.filter { $0.hasPrefix("didSave") }.sorted(),
                ["didSave deleted", "didSave inserted", "didSave updated"], "the calls of didSave")
            try expectEqual(
                lines.filter { $0 == "willSave updated" }.count, 3,
                "the calls of willSave of an object that changes twice")
            try expectEqual(
                Set(lines.filter { $0.hasPrefix("willSave") }),
                ["willSave deleted", "willSave inserted", "willSave updated"], "the objects of willSave")
            try expectEqual(try bench.storedValues(ids[0], in: container)?["count"], 3, "the stored count")
            withExtendedLifetime(token) {}
        },
        GraphCheck(
            "save.will-save-changes",
            "A date that willSave sets once is stored. A willSave that always sets a value ends with an error after 1,000 rounds.",
            .both
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let draft: Draft = try context.insert()
            let date = Date(timeIntervalSinceReferenceDate: 5)
            draft.whenSaving = { if $0.stamp == nil { $0.stamp = date } }
            try context.save()
            try expectEqual(
                try bench.storedValues(draft.objectID, in: container)?["stamp"], .date(date), "the stored date")
            try expect(!context.hasChanges, "no changes after the save")
            draft.calls = []
            draft.whenSaving = { $0.count += 1 }
            draft.title = "endless"
            try expectError(.invalidRequest, in: "an endless willSave") { try context.save() }
            try expectEqual(draft.calls.filter { $0 == "willSave" }.count, 1_000, "the calls of willSave")
            try expectEqual(try bench.storedVersion(draft.objectID, in: container), 1, "the stored version")
            draft.whenSaving = nil
            try context.save()
            try expectEqual(
                try bench.storedValues(draft.objectID, in: container)?["title"], "endless", "the stored title")
            // Values that willSave sets without tracking are stored and cause no further round.
            draft.calls = []
            draft.whenSaving = { draft in draft.context?.withoutTracking { draft.count += 1 } }
            draft.title = "quiet"
            let count = draft.count
            try context.save()
            try expectEqual(draft.calls.filter { $0 == "willSave" }.count, 1, "the calls of a quiet willSave")
            try expectEqual(
                try bench.storedValues(draft.objectID, in: container)?["count"], .int(count + 1), "the stored count")
        },
        GraphCheck(
            "save.nothing",
            "A save without changes posts no notice and leaves the store's generation unchanged.", .apple
        ) { bench in
            let container = try bench.makeContainer()
            try bench.change(container) { try insertBlue(into: $0) }
            let context = container.makeContext()
            _ = try context.fetch(Fetch<Album>()).map(\.tracks.count)
            var noticeCount = 0
            let token = context.observeSaves { _ in noticeCount += 1 }
            let before = try bench.generation(of: container)
            try context.save()
            try expectEqual(noticeCount, 0, "the notices")
            try expectEqual(try bench.generation(of: container), before, "the generation")
            withExtendedLifetime(token) {}
        },
        GraphCheck(
            "save.versions",
            "After the save of an update, the version is one higher in the context and in the store. A second save works without reading.",
            .apple
        ) { bench in
            var id = ObjectID("Genre", key: 1)
            let (container, meter) = try bench.makeMetered { context in
                let genre: Genre = try context.insert()
                genre.name = "a"
                id = genre.objectID
            }
            let context = container.makeContext()
            let genre = try require(try context.existingObject(with: id) as? Genre, "a genre")
            try expectEqual(genre.version, 1, "the version as read")
            for version in 2...5 as ClosedRange<UInt32> {
                genre.name = "version \(version)"
                let counts = try meter.counting { try context.save() }
                try expectEqual(counts, .init(commitCount: 1), "the reads of save \(version)")
                try expectEqual(genre.version, version, "the version in the context")
                try expectEqual(try bench.storedVersion(id, in: container), version, "the stored version")
            }
        },
        GraphCheck(
            "save.failed-keeps", "After a failed commit (busy, no space), a retry writes all pending changes.", .apple
        ) { bench in
            var ids: [ObjectID] = []
            let (container, meter) = try bench.makeMetered { context in
                for title in ["updated", "deleted"] {
                    let album: Album = try context.insert()
                    album.title = title
                    ids.append(album.objectID)
                }
                ids.append(try context.insert("Tag").objectID)
            }
            let context = container.makeContext()
            let updated = try require(try context.existingObject(with: ids[0]) as? Album, "an album")
            let deleted = try context.existingObject(with: ids[1])
            let inserted: Track = try context.insert()
            updated.title = "new"
            updated.tracks.append(inserted)
            inserted.tags.insert(try context.existingObject(with: ids[2]))
            context.delete(deleted)
            for code in [.busy, .noSpace, .ioFailure] as [StoreError.Code] {
                meter.failNextCommit(with: StoreError(code, "The commit fails, because the check says so."))
                try expectError(code, in: "the save") { try context.save() }
                try expect(
                    updated.isUpdated && inserted.isInserted && deleted.isDeleted, "everything is pending after \(code)"
                )
                try expectEqual(updated.version, 1, "the version after \(code)")
            }
            try context.save()
            try expect(!context.hasChanges, "no changes after the retry")
            let other = container.makeContext()
            let copy = try require(try other.existingObject(with: ids[0]) as? Album, "an album")
            try expectEqual(copy.title, "new", "the stored title")
            try expectEqual(copy.tracks.map(\.objectID), [inserted.objectID], "the stored tracks")
            try expectEqual(copy.tracks.first?.tags.map(\.objectID), [ids[2]], "the stored tags")
            try expectError(.objectNotFound, in: "reading the deleted album") {
                _ = try other.existingObject(with: ids[1])
            }
        },
        GraphCheck(
            "save.derived",
            "A save that changes the sources of derived attributes sets their new values in the context and in the store.",
            .both
        ) { bench in
            let container = try bench.makeContainer()
            let context = container.makeContext()
            let artist: Artist = try context.insert()
            artist.name = "Joni"
            let albums = try (0..<3).map { _ in try context.insert() as Album }
            artist.albums.formUnion(albums)
            let start = Date()
            func expectDerived(_ name: String?, count: Int64, text: String) throws {
                try context.save()
                try expectEqual(artist.upperName, name, "the upper name \(text)")
                try expectEqual(artist.albumCount, count, "the number of albums \(text)")
                try expect(artist.stamp.map { $0 >= start - 1 } ?? false, "the stamp \(text)")
                let stored = try bench.storedValues(artist.objectID, in: container)
                try expectEqual(
                    stored?["upperName"] ?? .null, name.map { .string($0) } ?? .null, "the stored upper name \(text)")
                try expectEqual(stored?["albumCount"], .int(count), "the stored number of albums \(text)")
                try expectEqual(stored?["stamp"] ?? .null, artist["stamp"], "the stored stamp \(text)")
                try expectEqual(
                    artist.version, try bench.storedVersion(artist.objectID, in: container), "the version \(text)")
                try expect(!artist.hasChanges, "no changes \(text)")
            }
            try expectDerived("JONI", count: 3, text: "after the insert")
            artist.name = "ella"
            try expectDerived("ELLA", count: 3, text: "after another name")
            albums[0].artist = nil
            try expectDerived("ELLA", count: 2, text: "after a member left")
            context.delete(albums[1])
            try expectDerived("ELLA", count: 1, text: "after a member was deleted")
            artist.name = nil
            artist.albums.insert(albums[0])
            try expectDerived(nil, count: 2, text: "after null")
            try bench.change(container) { other in
                let album: Album = try other.insert()
                album.artist = try other.existingObject(artist.id)
            }
            artist.name = "last"
            context.mergePolicy = .mergeByPropertyObjectTrump
            try expectDerived("LAST", count: 3, text: "after another context added a member")
            try expectError(.invalidRequest, in: "setting a derived attribute") {
                try artist.setValue("MINE", for: "upperName")
            }
        },
        GraphCheck(
            "save.several-stores",
            "If the second of two stores refuses, the error lists the store that was saved, and a retry writes only the rest.",
            .apple
        ) { bench in
            let model = try GraphModel.twoStores.get()
            let stores = [
                try bench.workbench.create(model, name: "left"), try bench.workbench.create(model, name: "right"),
            ]
            let meter = StoreMeter()
            let container = try PersistentContainer(
                [try bench.wrapped(stores[0]), try bench.wrapped(MeteredStore(stores[1], meter: meter))], model: model,
                configurations: ["left", "right"])
            let context = container.makeContext()
            let (left, right) = (try context.insert("Left"), try context.insert("Right"))
            (left["name"], right["name"]) = ("l", "r")
            meter.failNextCommit(with: StoreError(.noSpace, "The disk is full, because the check says so."))
            let error = try expectError(.noSpace, in: "the save") { try context.save() }
            try expect(
                error.message.contains("\(stores[0].location)"), "the saved store in the message",
                otherwise: error.message)
            try expect(!left.isInserted && right.isInserted, "the pending changes")
            let generation = try bench.generation(of: stores[0])
            try context.save()
            try expectEqual(try bench.generation(of: stores[0]), generation, "the generation of the first store")
            try expect(!context.hasChanges, "no changes after the retry")
            let other = container.makeContext()
            try expectEqual(try other.existingObject(with: left.objectID)["name"], "l", "the object of the first store")
            try expectEqual(
                try other.existingObject(with: right.objectID)["name"], "r", "the object of the second store")
            try expectEqual(left.version, 1, "the version of the object of the first store")
        },
    ]
}
