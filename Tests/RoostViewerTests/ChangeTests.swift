#if Interactive
    import RoostCore
    import RoostJSONText
    import RoostQuery
    import RoostStores
    import Testing

    @testable import RoostViewer

    @Suite("Changes in the browser")
    struct ChangeTests {
        private let library: ViewedLibrary

        init() throws { library = try ViewedLibrary(allowsChanges: true) }

        private func value(_ property: String, at address: String) throws -> String? {
            try library.get(address)["properties"]?.elements?.first { $0["name"]?.text == property }?["value"]?.line
        }

        @Test(
            "a server without --write refuses every change",
            arguments: [
                ("POST", "/library/Album.json"), ("PATCH", "/library/Album/1.json"),
                ("DELETE", "/library/Album/1.json"), ("POST", "/library/-/undo.json"),
            ])
        func readOnly(method: String, address: String) throws {
            let library = try ViewedLibrary()
            #expect(try library.send(method, to: address, body: #"{"version":1,"values":{}}"#).status == .forbidden)
        }

        @Test("a change that is not declared as JSON is refused")
        func contentType() throws {
            let answer = try library.send(
                "POST", to: "/library/Album.json", body: #"{"values":{"title":"x"}}"#,
                headers: ["content-type": "text/plain"])
            #expect(answer.status == .badRequest)
            #expect(try library.store.count("Album") == 21)
        }

        @Test("an edit is saved at once, undone and redone")
        func edit() throws {
            let edit = try library.send(
                "PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"title":"New","year":"1980"}}"#)
            #expect(edit.status == .ok)
            #expect(try edit.json().at("undo.undoName")?.text == "Edit Album 1")
            #expect(try library.store.record("Album", key: 1)?.value("title") == "New")
            #expect(try library.send("POST", to: "/library/-/undo.json", body: "{}").status == .ok)
            #expect(try value("title", at: "/library/Album/1.json") == #""Album 1""#)
            #expect(try value("year", at: "/library/Album/1.json") == "1971")
            #expect(try library.send("POST", to: "/library/-/redo.json", body: "{}").status == .ok)
            #expect(try value("title", at: "/library/Album/1.json") == #""New""#)
            #expect(try library.send("POST", to: "/library/-/redo.json", body: "{}").status == .conflict)
        }

        @Test("an edit of an object that changed meanwhile is a conflict that names the new version")
        func conflict() throws {
            try library.store.update("Album", set: ["year": 2000], where: "title == \"Album 1\"")
            let answer = try library.send(
                "PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"year":"1980"}}"#)
            #expect(answer.status == .conflict)
            #expect(try answer.json().at("error.current.version")?.integer == 2)
            #expect(try value("year", at: "/library/Album/1.json") == "2000")
        }

        @Test("an undo of an edit is a conflict if the value was changed again")
        func undoConflict() throws {
            _ = try library.send("PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"year":"1980"}}"#)
            try library.store.update("Album", set: ["year": 2000], where: "title == \"Album 1\"")
            #expect(try library.send("POST", to: "/library/-/undo.json", body: "{}").status == .conflict)
            #expect(try value("year", at: "/library/Album/1.json") == "2000")
        }

        @Test("an undo of an insert is a conflict if another object refers to the new one")
        func undoOfInsert() throws {
            let inserted = try library.send("POST", to: "/library/Artist.json", body: #"{"values":{"name":"New"}}"#)
            let key = try #require(try inserted.json()["key"]?.integer)
            try library.store.insert(
                "Album", rows: [["title": "Theirs", "artist": .objectID(ObjectID("Artist", key: key))]])
            let undo = try library.send("POST", to: "/library/-/undo.json", body: "{}")
            #expect(undo.status == .conflict)
            #expect(try undo.json().at("error.code")?.text == "conflict")
            #expect(try library.store.count("Artist", where: "name == 'New'") == 1)
        }

        @Test("an insert is undone and redone separately from an earlier edit")
        func insertIsStep() throws {
            _ = try library.send("PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"year":"1980"}}"#)
            let inserted = try library.send("POST", to: "/library/Artist.json", body: #"{"values":{"name":"New"}}"#)
            #expect(try inserted.json().at("undo.undoName")?.text == "New Artist")
            #expect(try library.send("POST", to: "/library/-/undo.json", body: "{}").status == .ok)
            #expect(try library.store.count("Artist", where: "name == 'New'") == 0)
            #expect(try value("year", at: "/library/Album/1.json") == "1980")
            #expect(try library.send("POST", to: "/library/-/redo.json", body: "{}").status == .ok)
            #expect(try library.store.count("Artist", where: "name == 'New'") == 1)
            #expect(try library.send("POST", to: "/library/-/undo.json", body: "{}").status == .ok)
            #expect(try library.send("POST", to: "/library/-/undo.json", body: "{}").status == .ok)
            #expect(try value("year", at: "/library/Album/1.json") == "1971")
        }

        @Test("an undo of an insert is a conflict if another program changed the new object")
        func undoOfChangedInsert() throws {
            _ = try library.send("PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"year":"1980"}}"#)
            _ = try library.send("POST", to: "/library/Artist.json", body: #"{"values":{"name":"New"}}"#)
            try library.store.update("Artist", set: ["name": "Theirs"], where: "name == 'New'")
            let undo = try library.send("POST", to: "/library/-/undo.json", body: "{}")
            #expect(try undo.json().at("error.code")?.text == "conflict")
            #expect(try library.store.count("Artist", where: "name == 'Theirs'") == 1)
        }

        @Test("an undo with an outdated or malformed revision is refused")
        func revision() throws {
            let edit = try library.send(
                "PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"year":"1980"}}"#)
            let seen = try #require(try edit.json().at("undo.revision")?.integer)
            _ = try library.send("PATCH", to: "/library/Album/2.json", body: #"{"version":1,"values":{"year":"1980"}}"#)
            let old = try library.send("POST", to: "/library/-/undo.json", body: #"{"revision":\#(seen)}"#)
            #expect(old.status == .conflict)
            for body in ["", "{", #"{"revision":"x"}"#, #"{"revision":null}"#] {
                #expect(
                    try library.send("POST", to: "/library/-/undo.json", body: body).status == .badRequest, "\(body)")
            }
            #expect(try value("year", at: "/library/Album/2.json") == "1980")
            #expect(
                try library.send("POST", to: "/library/-/undo.json", body: #"{"revision":\#(seen + 1)}"#).status == .ok)
        }

        @Test("replacing a list is a conflict if `was` is not the current list")
        func lists() throws {
            let tracks = try library.store.insert(
                "Track", rows: [["name": "1"], ["name": "2"], ["name": "3"]], result: .objectIDs
            ).objectIDs
            #expect(tracks?.count == 3)
            func set(_ keys: String, was: String) throws -> HTTPResponse.Status {
                let version = try #require(try library.get("/library/Album/1.json")["version"]?.integer)
                let body = #"{"version":\#(version),"values":{"tracks":{"set":[\#(keys)],"was":[\#(was)]}}}"#
                return try library.send("PATCH", to: "/library/Album/1.json", body: body).status
            }
            #expect(try set(#"{"key":1},{"key":2}"#, was: "") == .ok)
            #expect(try set(#"{"key":3}"#, was: "") == .conflict)
            #expect(try set(#"{"key":2},{"key":1}"#, was: "2,1") == .conflict)
            #expect(try library.get("/library/Album/1/tracks.json")["count"]?.integer == 2)
            #expect(try set(#"{"key":2},{"key":1}"#, was: "1,2") == .ok)
        }

        @Test("a deletion is refused if more objects are affected than its trial showed")
        func shownDeletion() throws {
            let trial = try library.send("DELETE", to: "/library/Artist/1.json?version=1&dry=1", body: "{}").json()
            let state = try #require(trial["state"]?.text)
            let artist = Value.objectID(ObjectID("Artist", key: 1))
            try library.store.insert("Album", rows: [["title": "Theirs", "artist": artist]])
            let address = "/library/Artist/1.json?version=1&state=\(state)"
            #expect(try library.send("DELETE", to: address, body: "{}").status == .conflict)
            #expect(try library.store.count("Album") == 22)
            let again = try library.send("DELETE", to: "/library/Artist/1.json?version=1&dry=1", body: "{}").json()
            let shown = try #require(again["state"]?.text)
            let deleted = try library.send("DELETE", to: "/library/Artist/1.json?version=1&state=\(shown)", body: "{}")
            #expect(deleted.status == .ok)
        }

        @Test("the undo of a deletion restores the places in ordered relationships")
        func orderAfterUndo() throws {
            try library.store.insert("Track", rows: [["name": "1"], ["name": "2"], ["name": "3"]])
            _ = try library.send(
                "PATCH", to: "/library/Album/1.json",
                body: #"{"version":1,"values":{"tracks":{"set":[{"key":3},{"key":1},{"key":2}]}}}"#)
            func order(_ address: String) throws -> [Int64?] {
                try #require(try library.get(address)["rows"]?.elements).map { $0["key"]?.integer }
            }
            let albums = try order("/library/Artist/1/albums.json")
            for address in ["/library/Track/3.json?version=1", "/library/Album/4.json?version=1"] {
                #expect(try library.send("DELETE", to: address, body: "{}").status == .ok, "\(address)")
                #expect(try library.send("POST", to: "/library/-/undo.json", body: "{}").status == .ok)
            }
            #expect(try order("/library/Album/1/tracks.json") == [3, 1, 2])
            #expect(try order("/library/Artist/1/albums.json") == albums)
        }

        @Test("a refused change keeps the redo steps")
        func redoAfterRefusal() throws {
            _ = try library.send("PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"year":"1980"}}"#)
            _ = try library.send("POST", to: "/library/-/undo.json", body: "{}")
            #expect(
                try library.send("PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"year":"1"}}"#)
                    .status
                    == .conflict)
            #expect(try library.send("POST", to: "/library/-/redo.json", body: "{}").status == .ok)
            #expect(try value("year", at: "/library/Album/1.json") == "1980")
        }

        @Test(
            "a refused edit names the property and keeps the undo steps",
            arguments: [
                (#"{"title":null}"#, "title"), (#"{"plays":"2000"}"#, "plays"), (#"{"year":"abc"}"#, "year"),
                (#"{"title":"Album 2"}"#, "title"), (#"{"artist":{"key":99}}"#, "artist"),
                (#"{"nothing":"1"}"#, "nothing"), (#"{"year":5}"#, "year"),
            ])
        func failures(values: String, property: String) throws {
            _ = try library.send("PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"year":"1980"}}"#)
            let answer = try library.send(
                "PATCH", to: "/library/Album/1.json", body: #"{"version":2,"values":\#(values)}"#)
            #expect(answer.status == .unprocessable, "\(answer.text)")
            #expect(try answer.json().at("error.failures.0.property")?.text == property, "\(answer.text)")
            let view = try library.get("/library/Album/1.json")
            #expect(view["version"]?.integer == 2)
            #expect(view.at("undo.canUndo")?.line == "true")
            #expect(view.at("undo.canRedo")?.line == "false")
            #expect(try library.send("POST", to: "/library/-/undo.json", body: "{}").status == .ok)
            #expect(try value("year", at: "/library/Album/1.json") == "1971")
            #expect(try library.get("/library.json").at("undo.redoName")?.text == "Edit Album 1")
        }

        @Test("a deletion follows the delete rules, can be tried without effect and is undone as a whole")
        func delete() throws {
            let trial = try library.send("DELETE", to: "/library/Artist/1.json?version=1&dry=1", body: "{}")
            #expect(
                try trial.json()["deleted"]?.line == #"[{"entity":"Album","count":10},{"entity":"Artist","count":1}]"#)
            #expect(try library.store.count("Album") == 21)
            #expect(try library.send("DELETE", to: "/library/Artist/1.json?version=1", body: "{}").status == .ok)
            #expect(try library.store.count("Album") == 11)
            #expect(try library.send("POST", to: "/library/-/undo.json", body: "{}").status == .ok)
            #expect(try library.store.count("Album") == 21)
            #expect(try library.get("/library/Artist/1/albums.json")["count"]?.integer == 10)
        }

        @Test("edits add, remove and order the objects of a relationship")
        func relationships() throws {
            let tags = try library.store.insert("Tag", rows: [["name": "a"], ["name": "b"]], result: .objectIDs)
                .objectIDs
            let tracks = try library.store.insert("Track", rows: [["name": "1"], ["name": "2"]], result: .objectIDs)
                .objectIDs
            #expect(tags?.count == 2 && tracks?.count == 2)
            func patch(_ version: Int, values: String) throws -> HTTPResponse {
                try library.send(
                    "PATCH", to: "/library/Album/1.json", body: #"{"version":\#(version),"values":\#(values)}"#)
            }
            #expect(try patch(1, values: #"{"tags":{"add":[{"key":1},{"key":2}]}}"#).status == .ok)
            #expect(try value("tags", at: "/library/Album/1.json") == #"{"count":2}"#)
            var version = try #require(try library.get("/library/Album/1.json")["version"]?.integer)
            #expect(
                try patch(
                    Int(version), values: #"{"tags":{"remove":[{"key":1}]},"tracks":{"set":[{"key":2},{"key":1}]}}"#
                )
                .status == .ok)
            #expect(try library.get("/library/Album/1/tracks.json").at("rows.0.key")?.integer == 2)
            version = try #require(try library.get("/library/Album/1.json")["version"]?.integer)
            #expect(
                try patch(Int(version), values: #"{"tracks":{"set":[{"key":1},{"key":2}]},"artist":null}"#).status
                    == .ok)
            #expect(try library.get("/library/Album/1/tracks.json").at("rows.0.key")?.integer == 1)
            #expect(try value("artist", at: "/library/Album/1.json") == "null")
            for _ in 0..<3 { #expect(try library.send("POST", to: "/library/-/undo.json", body: "{}").status == .ok) }
            #expect(try value("tags", at: "/library/Album/1.json") == #"{"count":0}"#)
            #expect(try library.get("/library/Album/1/tracks.json")["count"]?.integer == 0)
        }

        @Test("an edit sets one element of a composite, also of a null one")
        func composites() throws {
            let first = try library.send(
                "PATCH", to: "/library/Album/1.json", body: #"{"version":1,"values":{"label.city":"Rome"}}"#)
            #expect(first.status == .ok, "\(first.text)")
            #expect(try value("label", at: "/library/Album/1.json") == #"{"composite":{"city":"Rome"}}"#)
            _ = try library.send(
                "PATCH", to: "/library/Album/1.json", body: #"{"version":2,"values":{"label.founded":"1958"}}"#)
            #expect(try value("label", at: "/library/Album/1.json") == #"{"composite":{"city":"Rome","founded":1958}}"#)
            let whole = try library.send(
                "PATCH", to: "/library/Album/1.json", body: #"{"version":3,"values":{"label":"x"}}"#)
            #expect(whole.status == .unprocessable)
        }

        @Test("an insert accepts texts as values, such as a date without a time")
        func insert() throws {
            let answer = try library.send(
                "POST", to: "/library/Compilation.json",
                body:
                    #"{"values":{"title":"New","released":"2024-05-01","isLive":"yes","artist":{"entity":"Artist","key":1}}}"#
            )
            #expect(answer.status == .created, "\(answer.text)")
            let key = try #require(try answer.json()["key"]?.integer)
            #expect(try value("released", at: "/library/Album/\(key).json") == #""2024-05-01T00:00:00Z""#)
        }

        @Test(
            "an insert with a malformed body or a wrong reference is refused",
            arguments: ["", "[]", "{", #"{"values":1}"#, #"{"values":{"artist":{"entity":"Tag","key":1}}}"#])
        func wrongInsert(body: String) throws {
            let refusal = try library.send("POST", to: "/library/Album.json", body: body)
            #expect(refusal.status == .badRequest || refusal.status == .unprocessable)
        }
    }
#endif
