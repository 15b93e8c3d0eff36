#if Interactive
    internal import RoostCore
    internal import RoostGraph
    internal import RoostJSONText
    internal import RoostStores
    internal import RoostSystem

    /// The part of the viewer that authorizes and answers requests.
    final class PageServer: Sendable {
        private let stores: [ViewedStore]
        private let version: String
        private let allowsChanges: Bool
        private let jobs = JobList()
        /// The guard that authorizes requests, or nil until the server's port is known.
        private let access = Mutex<AccessGuard?>(nil)

        init(_ stores: [ViewedStore], version: String, allowsChanges: Bool) {
            (self.stores, self.version, self.allowsChanges) = (stores, version, allowsChanges)
        }

        /// Begins to answer requests.
        func begin(_ access: AccessGuard) { self.access.withLock { $0 = access } }

        func cancelAll() { jobs.cancelAll() }

        /// Returns the response, with the headers that protect the page.
        func answer(_ request: HTTPRequest) -> HTTPResponse {
            var response = guarded(request)
            response.headers += PageFiles.headers
            if !response.headers.contains(where: { $0.name == "Content-Security-Policy" }) {
                response.headers.append(("Content-Security-Policy", PageFiles.valuePolicy))
            }
            return response
        }

        private func guarded(_ request: HTTPRequest) -> HTTPResponse {
            guard let access = access.withLock({ $0 }) else {
                return HTTPResponse(.unavailable, text: "Not ready yet.")
            }
            let isData = request.segments.last?.hasSuffix(".json") ?? false
            switch access.verdict(request) {
            case .starts(let cookie):
                guard var response = PageFiles.response("start.html") else {
                    return HTTPResponse(.failure, text: "The start page is missing in this program.")
                }
                response.headers.append(("Set-Cookie", cookie))
                return response
            case .refused(let error) where isPageFile(request) && error.code == "noAccess": break
            case .refused(let error):
                return isData ? error.response : HTTPResponse(error.status, text: error.message)
            case .allowed: break
            }
            do throws(ViewerError) {
                return try route(request, isData: isData)
            } catch {
                return isData || request.method != "GET"
                    ? error.response : HTTPResponse(error.status, text: error.message)
            }
        }

        /// Returns whether a request is for a file of the page, which contains no data of a store.
        private func isPageFile(_ request: HTTPRequest) -> Bool {
            request.method == "GET" && request.segments.count == 3 && request.segments.starts(with: ["-", "page"])
        }

        private func route(_ request: HTTPRequest, isData: Bool) throws(ViewerError) -> HTTPResponse {
            if isPageFile(request) {
                guard let file = PageFiles.response(request.segments[2]) else {
                    throw ViewerError(.notFound, message: "The page has no file '\(request.segments[2])'.")
                }
                return file
            }
            if request.method == "GET", !isData, request.segments.last?.hasSuffix(".bin") != true {
                // Every view has the same page. A script of the page requests the data for the address.
                guard let page = PageFiles.response("index.html") else {
                    throw ViewerError(.failure, code: "failure", message: "The page is missing in this program.")
                }
                return page
            }
            var segments = request.segments
            guard request.method != "GET" || isData || segments.count == 4 && !segments.prefix(3).contains("-") else {
                throw ViewerError(.notFound, message: "This page does not exist: only a property has a file.")
            }
            if let last = segments.popLast() {
                segments.append(
                    String(last.dropLast(isData ? ".json".count : last.hasSuffix(".bin") ? ".bin".count : 0)))
            }
            if segments.first == "-" { return try whole(Array(segments.dropFirst()), request: request) }
            guard let name = segments.first, let viewed = stores.first(where: { $0.name == name }) else {
                throw ViewerError(.notFound, message: "The store '\(segments.first ?? "")' is not shown here.")
            }
            let rest = Array(segments.dropFirst())
            switch request.method {
            case "GET": return try read(viewed, segments: rest, request: request, isFile: !isData)
            case "POST", "PATCH", "DELETE": return try change(viewed, segments: rest, request: request)
            default:
                throw ViewerError(.methodNotAllowed, code: "method", message: "\(request.method) does nothing here.")
            }
        }

        // MARK: Requests without a store

        private func whole(_ segments: [String], request: HTTPRequest) throws(ViewerError) -> HTTPResponse {
            switch segments.first {
            case "session" where segments.count == 1: return HTTPResponse(json: session)
            case "compare" where segments.count == 1:
                let first = try store(request.value("a"))
                let second = try store(request.value("b"))
                let limit = try request.integer("limit", in: 1...10_000, default: 200)
                return jobs.answer(request, what: "Comparing \(first.title) and \(second.title)") { job in
                    HTTPResponse(json: try CompareView(first: first, second: second, limit: limit).answer(job))
                }
            case "jobs" where (2...3).contains(segments.count):
                guard let number = Int(segments[1]) else {
                    throw ViewerError(.notFound, message: "'\(segments[1])' is not the number of a job.")
                }
                let job = try jobs.job(number)
                if segments.count == 3 {
                    guard segments[2] == "result", let result = job.result else {
                        throw ViewerError(.notFound, message: "The work is not done yet.")
                    }
                    return result
                }
                if request.method == "DELETE" { job.cancel() }
                return HTTPResponse(json: job.json)
            default: throw ViewerError(.notFound, message: "This page does not exist.")
            }
        }

        private func store(_ name: String?) throws(ViewerError) -> ViewedStore {
            guard let viewed = stores.first(where: { $0.name == name }) else {
                throw ViewerError(.notFound, message: "The store '\(name ?? "")' is not shown here.")
            }
            return viewed
        }

        private var session: JSONNode {
            JSONNode([
                "version": JSONNode(version), "writable": JSONNode(allowsChanges),
                "stores": JSONNode(
                    list: stores.map { viewed in
                        // A store that cannot be read now is still listed.
                        let count = try? viewed.read { try viewed.counts($0).reduce(0, +) }
                        return JSONNode([
                            "name": JSONNode(viewed.name), "title": JSONNode(viewed.title),
                            "type": JSONNode(viewed.store.location.type), "path": JSONNode(viewed.store.location.path),
                            "writable": JSONNode(viewed.editor != nil), "objects": count.map { JSONNode($0) } ?? .null,
                        ])
                    }),
            ])
        }

        // MARK: Reading

        private func read(
            _ viewed: ViewedStore, segments: [String], request: HTTPRequest, isFile: Bool
        ) throws(ViewerError) -> HTTPResponse {
            switch (segments.count, segments.first) {
            case (0, _):
                return jobs.answer(request, what: "Reading \(viewed.title)") { _ in
                    HTTPResponse(json: try OverviewView(viewed: viewed).answer())
                }
            case (2, "-"): return try readWhole(viewed, name: segments[1], request: request)
            case (1, let name?):
                let table = try TableView(request, viewed: viewed, entity: try viewed.entity(name))
                return jobs.answer(request, what: "Reading objects of \(name)") {
                    HTTPResponse(json: try table.answer($0))
                }
            case (3, let name?) where segments[1] == "-" && segments[2] == "predicate":
                let entity = try viewed.entity(name)
                let cursor = try request.integer("cursor", in: 0...Int(Int32.max), default: Int(Int32.max))
                let help = PredicateHelp(
                    request.value("text") ?? "", cursor: cursor, entity: entity, model: viewed.model)
                return HTTPResponse(json: help.json)
            case (2, let name?):
                let id = try viewed.id(try viewed.entity(name), key: segments[1])
                return jobs.answer(request, what: "Reading \(id)") { _ in
                    HTTPResponse(json: try ObjectView(viewed: viewed, id: id).answer())
                }
            case (3, let name?):
                let id = try viewed.id(try viewed.entity(name), key: segments[1])
                return try readProperty(viewed, id: id, name: segments[2], request: request, isFile: isFile)
            default: throw ViewerError(.notFound, message: "This page does not exist.")
            }
        }

        private func readWhole(
            _ viewed: ViewedStore, name: String, request: HTTPRequest
        ) throws(ViewerError) -> HTTPResponse {
            switch name {
            case "model": return HTTPResponse(json: ModelView(model: viewed.model).answer())
            case "check":
                return jobs.answer(request, what: "Checking \(viewed.title)") { job in
                    HTTPResponse(json: try CheckView(viewed: viewed).answer(job))
                }
            case "history":
                let view = try HistoryView(viewed, request: request)
                return jobs.answer(request, what: "Reading the history of \(viewed.title)") { _ in
                    HTTPResponse(json: try view.answer())
                }
            default: throw ViewerError(.notFound, message: "This page does not exist.")
            }
        }

        private func readProperty(
            _ viewed: ViewedStore, id: ObjectID, name: String, request: HTTPRequest, isFile: Bool
        ) throws(ViewerError) -> HTTPResponse {
            let named = try viewed.entity(id.entity.text)
            // The object may belong to a subentity of the named entity, with more properties.
            let own: ObjectID
            do { own = try viewed.read { try viewed.record(id, entity: named, snapshot: $0).id } } catch {
                throw ViewerError(any: error)
            }
            let entity = try viewed.entity(own.entity.text)
            if let attribute = entity.attribute(name), attribute.isStored {
                let view = PropertyView(viewed: viewed, id: own, attribute: attribute)
                return jobs.answer(request, what: "Reading \(name) of \(own)") { _ in
                    isFile ? try view.file() : HTTPResponse(json: try view.answer())
                }
            }
            guard let relationship = entity.relationship(name), relationship.isToMany, !isFile else {
                throw ViewerError(.notFound, message: "'\(entity.name)' has no value or list of objects '\(name)'.")
            }
            let table = try TableView(
                request, viewed: viewed, entity: viewed.model.entities[relationship.destination],
                owner: .init(id: own, relationship: relationship))
            return jobs.answer(request, what: "Reading \(name) of \(own)") { HTTPResponse(json: try table.answer($0)) }
        }

        // MARK: Changing

        private func change(
            _ viewed: ViewedStore, segments: [String], request: HTTPRequest
        ) throws(ViewerError) -> HTTPResponse {
            guard let editor = viewed.editor else {
                throw ViewerError(
                    .forbidden, code: "readOnly",
                    message: allowsChanges
                        ? "\(viewed.title) can only be read."
                        : "Nothing can be changed here: start 'roost browse' with --write.")
            }
            // For a page of another origin, this type makes a browser send a preflight request, which is refused.
            guard request.headers["content-type"]?.hasPrefix("application/json") ?? false else {
                throw ViewerError(
                    .badRequest, code: "contentType", message: "A change needs 'Content-Type: application/json'.")
            }
            let changes = ObjectChanges(viewed: viewed, editor: editor)
            do {
                switch (request.method, segments.count) {
                case ("POST", 2) where segments == ["-", "undo"]:
                    return try changes.undo(redoing: false, body: request.body)
                case ("POST", 2) where segments == ["-", "redo"]:
                    return try changes.undo(redoing: true, body: request.body)
                case ("POST", 1): return try changes.insert(try viewed.entity(segments[0]), body: request.body)
                case ("PATCH", 2):
                    return try changes.update(
                        try viewed.id(try viewed.entity(segments[0]), key: segments[1]), body: request.body)
                case ("DELETE", 2):
                    let version = try request.integer("version", in: 0...Int(UInt32.max), default: 0)
                    return try changes.delete(
                        try viewed.id(try viewed.entity(segments[0]), key: segments[1]), version: UInt32(version),
                        shown: request.value("state"),
                        isTrial: request.value("dry") == "1")
                default:
                    throw ViewerError(
                        .methodNotAllowed, code: "method", message: "The method \(request.method) is not allowed here.")
                }
            } catch {
                throw ViewerError(any: error)
            }
        }
    }
#endif
