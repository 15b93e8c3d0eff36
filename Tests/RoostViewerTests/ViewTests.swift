#if Interactive
    import Foundation
    import RoostCore
    import RoostJSONText
    import RoostQuery
    import RoostStores
    import Testing

    @testable import RoostViewer

    @Suite("Views of the browser")
    struct ViewTests {
        @Test("the overview counts the objects of an entity with and without subentities")
        func overview() throws {
            let view = try ViewedLibrary().get("/library.json")
            let albums = try #require(view["entities"]?.elements?.first { $0["name"]?.text == "Album" })
            #expect(albums["count"]?.integer == 20)
            #expect(albums["total"]?.integer == 21)
            #expect(view["hasHistory"]?.line == "false")
        }

        @Test(
            "the pages of a table have every object once, also sorted or filtered",
            arguments: ["", "&sort=-title", "&where=year%20%3E%201970", "&sort=year&where=isLive%20%3D%3D%20YES"])
        func pages(query: String) throws {
            let library = try ViewedLibrary()
            var (keys, page) = ([Int64](), 1)
            let count = try #require(try library.get("/library/Album.json?size=0\(query)")["count"]?.integer)
            while true {
                let view = try library.get("/library/Album.json?size=4&page=\(page)\(query)")
                let rows = try #require(view["rows"]?.elements)
                #expect(view["count"]?.integer == count)
                if rows.isEmpty { break }
                keys += rows.compactMap { $0["key"]?.integer }
                page += 1
            }
            #expect(keys.count == Int(count) && Set(keys).count == keys.count)
        }

        @Test("a later page of a table shows changes committed meanwhile")
        func changesBetweenPages() throws {
            let library = try ViewedLibrary()
            let address = "/library/Album.json?size=5&page=2&sort=-year"
            let before = try library.get(address)
            try library.store.insert("Album", rows: [["title": "Zzz", "year": 2050]])
            let after = try library.get(address)
            #expect(before["count"]?.integer == 21)
            #expect(after["count"]?.integer == 22)
            #expect(before.at("rows.0.key")?.integer == after.at("rows.1.key")?.integer)
        }

        @Test(
            "a list is kept for the next page, unless it depends on the time",
            arguments: [
                ("year > 1970", true), ("released < now()", false), ("year == 1 OR NOT (released < now())", false),
                ("ANY tags.name IN {\"a\", \"b\"}", true),
                ("SUBQUERY(tags, $t, $t.name == \"a\" AND now() > CAST(0, \"NSDate\")).@count > 0", false),
                ("TERNARY(released < now(), 1, 2) == 1", false),
            ])
        func keptLists(text: String, isKept: Bool) throws {
            let snapshot = try ViewedLibrary().store.persistentStore.snapshot()
            defer { snapshot.close() }
            let lists = ObjectLists()
            let request = FetchRequest(
                "Album", where: try FetchRequest.Predicate(text, for: "Album", model: snapshot.model))
            let ids = try lists.ids(request, snapshot: snapshot)
            let known = lists.known(request, generation: try snapshot.recordedTally()?.generation)
            #expect(known == (isKept ? ids : nil))
        }

        @Test("a table shows chosen columns, titles of to-one objects and to-many counts")
        func columns() throws {
            let view = try ViewedLibrary().get("/library/Artist.json?select=albums,name")
            #expect(view.at("rows.0.values")?.line == #"[{"count":10},"Queen"]"#)
            let albums = try ViewedLibrary().get("/library/Album.json?select=artist&size=1")
            #expect(albums.at("rows.0.values.0")?.line == #"{"entity":"Artist","key":2,"title":"Björk"}"#)
        }

        @Test("an error in a predicate has its offset in UTF-16 units")
        func predicateErrors() throws {
            let library = try ViewedLibrary()
            let address = "/library/Album.json?where=title%20%3D%3D%20%22%F0%9F%98%80%22%20AND%20yeer%20%3D%3D%201"
            let answer = try library.send(address)
            #expect(answer.status == .badRequest)
            // The emoji is one character and two units.
            #expect(try answer.json().at("error.offset")?.integer == 18)
            #expect(try answer.json().at("error.message")?.text?.contains("'year'") == true)
        }

        @Test("a comma in a property's name can be part of an address")
        func commasInNames() throws {
            let library = try ViewedLibrary { store in
                try store.insert("Note", rows: [1, 3, 2].map { ["width, mm": .int($0), "text": "a"] })
            }
            let view = try library.get("/library/Note.json?sort=text,-width%5C,%20mm&select=width%5C,%20mm,text")
            #expect(view["columns"]?.elements?.compactMap { $0["name"]?.text } == ["width, mm", "text"])
            let keys = try #require(view["rows"]?.elements).compactMap { $0["key"]?.line }
            #expect(keys == ["2", "3", "1"])
        }

        @Test(
            "each view address returns the right status, and a wrong address returns a hint",
            arguments: [
                ("/library/Albun.json", 404, "Did you mean 'Album'?"),
                ("/library/Album.json?select=titel", 400, "'title'"),
                ("/library/Album.json?size=501", 400, "from 0 to 500"), ("/library/Album.json?page=x", 400, "from 1"),
                ("/library/Album.json?sort=", 200, ""), ("/library/Album.json?sort=,", 400, "names with commas"),
                ("/library/Album.json?sort=title%5Bq%5D", 400, "title[q]"), ("/other.json", 404, "not shown"),
                ("/library/Album/0.json", 404, "positive"), ("/library/Album/999.json", 404, "does not exist"),
                ("/library/Artist/3.json", 404, "does not exist"),
                ("/library/Compilation/1.json", 404, "does not exist"),
                ("/library/Album/1/nothing.json", 404, "'nothing'"), ("/library/Album.json?facet=tags", 400, "many"),
                ("/library/-/nothing.json", 404, "does not exist"), ("/-/jobs/77.json", 404, "77"),
                ("/-/jobs/x.json", 404, "'x' is not the number of a job"),
                ("/library/Album.json?\(String(repeating: "facet=year&", count: 9))", 400, "at most 8 facets"),
                ("/library/-/history.json", 404, "keeps no history"),
                ("/library/-/history.json?entity=Albun", 404, "Did you mean 'Album'?"),
            ] as [(String, Int, String)])
        func refusals(address: String, status: Int, text: String) throws {
            let answer = try ViewedLibrary().send(address)
            #expect(Int(answer.status.code) == status)
            #expect(text.isEmpty || answer.text.contains(text), "\(answer.text)")
        }

        @Test(
            "the condition of each facet value finds as many objects as the facet counts",
            arguments: ["year", "artist", "isLive", "title"])
        func facets(property: String) throws {
            let library = try ViewedLibrary()
            let facet = try #require(
                try library.get("/library/Album.json?size=0&facet=\(property)").at("facets.0"))
            for value in try #require(facet["values"]?.elements) {
                let condition = try #require(value["where"]?.text)
                let encoded = try #require(condition.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let found = try library.get("/library/Album.json?size=0&where=\(encoded)")["count"]
                #expect(found?.integer == value["count"]?.integer, "\(condition)")
            }
        }

        @Test(
            "a facet value is applied if the condition requires it in any notation",
            arguments: [
                ("year == 1970", [1970]), ("isLive == YES && (year=1970 AND title != 'x')", [1970]),
                ("year == 1970 OR year == 1971", []), ("year == 1970 AND isLive == YES OR year == 1971", []),
                ("NOT (year == 1970 AND isLive == YES)", []), ("title != ' AND year == 1970 AND '", []),
            ] as [(String, [Int64])])
        func appliedFacets(condition: String, years: [Int64]) throws {
            let encoded = try #require(condition.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let view = try ViewedLibrary().get("/library/Album.json?size=0&facet=year&where=\(encoded)")
            let values = try #require(view.at("facets.0.values")?.elements)
            #expect(values.contains { $0["value"]?.integer == 1970 })
            #expect(values.filter { $0["isApplied"]?.line == "true" }.compactMap { $0["value"]?.integer } == years)
        }

        @Test("a facet value whose condition is too long for an address has no condition")
        func longFacetValue() throws {
            let library = try ViewedLibrary { store in
                try store.insert("Album", rows: [["title": .string(String(repeating: "y", count: 9000))]])
            }
            let value = try #require(
                try library.get("/library/Album.json?size=0&facet=title").at("facets.0.values.0"))
            #expect(value["count"]?.integer == 1)
            #expect(value["where"]?.line == "null")
        }

        @Test("an object shows the references to it that have no inverse")
        func references() throws {
            let view = try ViewedLibrary().get("/library/Album/1.json")
            #expect(view.at("referencedBy.0.relationship")?.text == "about")
            #expect(view.at("referencedBy.0.count")?.integer == 1)
            #expect(view.at("referencedBy.0.where")?.text == "about == 1")
        }

        @Test("an object under a superentity's address shows its own entity and properties")
        func inheritance() throws {
            let library = try ViewedLibrary()
            let view = try library.get("/library/Album/21.json")
            #expect(view["entity"]?.text == "Compilation")
            #expect(view["superentities"]?.line == #"["Album"]"#)
            let editor = try #require(view["properties"]?.elements?.first { $0["name"]?.text == "editor" })
            #expect(editor["declaredBy"]?.text == "Compilation")
            #expect(try library.get("/library/Album/21/editor.json").at("property.value")?.text == "Ann")
        }

        @Test("an inherited transient attribute shows the entity that declares it")
        func inheritedTransient() throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Item", attributes: [.init("name", type: .string), .init("mood", type: .string).transient()]),
                EntityDescription(
                    "Book", superentity: "Item",
                    attributes: [.init("pages", type: .integer32), .init("shelf", type: .string).transient()]),
            ])
            let library = try ViewedLibrary(model: model) { store in
                try store.insert("Book", rows: [["name": "a"]])
            }
            let properties = try #require(try library.get("/library/Book/1.json")["properties"]?.elements)
            let transient = properties.filter { $0["isTransient"]?.line == "true" }
            let declarers = transient.map { [$0["name"]?.text, $0["declaredBy"]?.text] }
            #expect(declarers == [["mood", "Item"], ["shelf", "Book"]])
        }

        @Test("the table of a relationship has the relationship's order, and can be sorted and filtered")
        func relationships() throws {
            let library = try ViewedLibrary()
            func titles(_ view: JSONNode) throws -> [String] {
                try #require(view["rows"]?.elements).compactMap { $0.at("values.0")?.text }
            }
            let ordered = try library.get("/library/Artist/1/albums.json?size=3&select=title")
            #expect(ordered["count"]?.integer == 10)
            #expect(try titles(ordered) == ["Album 2", "Album 4", "Album 6"])
            let narrowed = try library.get("/library/Artist/1/albums.json?where=isLive%20%3D%3D%20NO&sort=-title")
            #expect(narrowed["count"]?.integer == 0)
            let sorted = try library.get("/library/Artist/1/albums.json?sort=-title&size=3&select=title")
            #expect(try titles(sorted) == ["Album 8", "Album 6", "Album 4"])
            #expect(sorted.at("owner.title")?.text == "Queen")
        }

        /// Returns the completions at the end of a predicate for albums.
        private func completions(_ text: String, in library: ViewedLibrary) throws -> [String] {
            let encoded = try #require(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let view = try library.get("/library/Album/-/predicate.json?text=\(encoded)&cursor=\(text.utf16.count)")
            return try #require(view["completions"]?.elements).compactMap { $0["text"]?.text }
        }

        @Test("the predicate bar completes operators, words, and names along paths")
        func completions() throws {
            let library = try ViewedLibrary()
            func texts(_ text: String) throws -> [String] { try completions(text, in: library) }
            #expect(try texts("ti") == ["title"])
            #expect(try texts("artist.").contains("name"))
            #expect(try texts("artist.albums.").contains("@count"))
            #expect(try texts("year ").contains("BEGINSWITH"))
            #expect(try texts("year == 1970 ") == ["AND", "OR"])
            #expect(try texts("isLive == ").prefix(40).contains("YES"))
            #expect(try texts("nothing.") == [])
            // Text in quotes is not a name.
            #expect(try texts("title == \"a ").isEmpty)
            #expect(try texts("title == \"a\" ") == ["AND", "OR"])
        }

        @Test(
            "the predicate bar completes YES and NO only as a value of a boolean attribute",
            arguments: [
                ("isLive == ", true), ("isLive != Y", true), ("title == \"a\" AND isLive = ", true),
                ("isLive IN {YES, ", true), ("isLive == YES AND ", false), ("isLive == YES OR Y", false),
                ("isLive IN {YES} AND NOT ", false), ("year == ", false), ("", false),
            ])
        func completedBooleans(text: String, isOffered: Bool) throws {
            #expect(try completions(text, in: try ViewedLibrary()).contains("YES") == isOffered)
        }

        @Test(
            "the predicate bar completes nothing inside a string with escaped quotes, and completes after it",
            arguments: [
                (#"title == 'it\'s "#, []), (#"title == 'it\'"#, []), (#"title == "a \" t"#, []),
                (#"title == 'it\'s' "#, ["AND", "OR"]), (#"title == 'a\\' "#, ["AND", "OR"]),
            ] as [(String, [String])])
        func completionsAfterEscapes(text: String, expected: [String]) throws {
            #expect(try completions(text, in: try ViewedLibrary()) == expected)
        }

        @Test("long values are cut in a table and whole in their own view")
        func longValues() throws {
            let text = String(repeating: "ä", count: 300)
            let library = try ViewedLibrary { store in
                try store.insert(
                    "Album",
                    rows: [
                        [
                            "title": .string(text),
                            "cover": .data(Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1])),
                        ]
                    ])
            }
            let view = try library.get("/library/Album.json?select=title,cover")
            #expect(view.at("rows.0.values.0.length")?.integer == 300)
            #expect(view.at("rows.0.values.0.text")?.text?.count == 200)
            #expect(view.at("rows.0.values.1")?.line == #"{"bytes":9,"kind":"png","hex":"89504e470d0a1a0a01"}"#)
            #expect(try library.get("/library/Album/1/title.json").at("property.value")?.text == text)
            let file = try library.send("/library/Album/1/cover.bin")
            #expect(file.headers.first { $0.name == "Content-Type" }?.value == "image/png")
            #expect(file.body.count == 9)
        }

        @Test(
            "bytes that a browser might run are sent as an attachment",
            arguments: [
                "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>", "<script>alert(1)</script>",
                "%PDF-1.4", "",
            ])
        func hostileBytes(text: String) throws {
            let library = try ViewedLibrary { store in
                try store.insert("Album", rows: [["title": "x", "cover": .data(Data(text.utf8))]])
            }
            let file = try library.send("/library/Album/1/cover.bin")
            let headers = Dictionary(file.headers.map { ($0.name, $0.value) }) { $1 }
            #expect(headers["Content-Type"] == "application/octet-stream")
            #expect(headers["Content-Disposition"]?.hasPrefix("attachment;") == true)
            #expect(headers["Content-Security-Policy"]?.contains("sandbox") == true)
        }

        @Test(
            "an address that ends in .bin and names no property is not found",
            arguments: [
                "/library.bin", "/library/Album.bin", "/library/Album/1.bin", "/library/-/model.bin", "/-/session.bin",
                "/library/Album/-/predicate.bin",
            ])
        func fileOfNoProperty(address: String) throws {
            let library = try ViewedLibrary { store in try store.insert("Album", rows: [["title": "x"]]) }
            #expect(try library.send(address).status == .notFound)
        }

        @Test("numbers that a script would round are sent as text")
        func largeNumbers() throws {
            let library = try ViewedLibrary { store in
                let price = try #require(Decimal(string: "0.10"))
                try store.insert(
                    "Album",
                    rows: [
                        ["title": "x", "year": .int(.max), "price": .decimal(price)],
                        ["title": "y", "year": .int(1 << 53)],
                    ])
            }
            let view = try library.get("/library/Album.json?select=year,price")
            #expect(view.at("rows.0.values")?.line == #"["9223372036854775807","0.1"]"#)
            #expect(view.at("rows.1.values.0")?.line == "9007199254740992")
        }

        @Test("the views show a check without findings, an equal comparison and the model")
        func wholeStore() throws {
            let library = try ViewedLibrary()
            #expect(try library.get("/library/-/check.json")["findings"]?.line == "[]")
            #expect(try library.get("/-/compare.json?a=library&b=library")["equal"]?.line == "true")
            let entities = try #require(try library.get("/library/-/model.json")["entities"]?.elements)
            #expect(entities.count == 6)
            let compilation = try #require(entities.first { $0["name"]?.text == "Compilation" })
            let title = try #require(compilation["attributes"]?.elements?.first { $0["name"]?.text == "title" })
            #expect(title["isInherited"]?.line == "true")
        }

        @Test("a long request gets a job number, reports progress and can be cancelled")
        func jobs() throws {
            let jobs = JobList()
            let headers = ["prefer": "respond-async"]
            let request = try #require(HTTPRequest("GET", address: "/x", headers: headers))
            let answer = jobs.answer(request, what: "Counting") { job in
                job.setTotal(10)
                job.add(3)
                while !Task.isCancelled { usleep(1000) }
                throw StoreError(.cancelled, "It was cancelled.")
            }
            #expect(answer.status == .accepted)
            let number = try #require(try answer.json()["job"]?.integer)
            let job = try jobs.job(Int(number))
            #expect(job.json["state"]?.text == "running")
            #expect(job.json["done"]?.integer == 3 && job.json["total"]?.integer == 10)
            job.cancel()
            let end = try #require(job.wait(milliseconds: nil))
            #expect(job.json["state"]?.text == "cancelled")
            #expect(end.text.contains("cancelled"))
        }
    }
#endif
