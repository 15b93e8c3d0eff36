#if Interactive
    internal import Foundation
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostMigration
    internal import RoostQuery
    internal import RoostStores

    /// The result of checking a store.
    struct CheckView {
        let viewed: ViewedStore

        func answer(_ job: Job) throws -> JSONNode {
            let start = Date()
            let total = try viewed.read { snapshot in
                try snapshot.recordedTally().map { tally in
                    (tally.entities + tally.relationships).reduce(0) { $0 + $1.count }
                } ?? viewed.counts(snapshot).reduce(0, +)
            }
            job.setTotal(total)
            let findings = try checkStore(viewed.store.persistentStore, limit: 100) { (count) throws(StoreError) in
                job.add(count)
                try FetchCancellation.check()
            }
            return JSONNode([
                "findings": JSONNode(
                    list: findings.map { finding in
                        JSONNode([
                            "severity": JSONNode(finding.severity.rawValue), "kind": JSONNode(finding.kind),
                            "text": JSONNode(finding.message), "property": JSONNode(finding.property),
                            "object": finding.object.map(HistoryView.object) ?? .null, "count": JSONNode(finding.count),
                        ])
                    }), "isTruncated": JSONNode(findings.contains { $0.count > 1 }),
                "milliseconds": JSONNode(Int(Date().timeIntervalSince(start) * 1000)),
            ])
        }
    }

    /// A page of the transactions in a store's history, from the beginning or after a token.
    struct HistoryView {
        private static let changeCount = 100

        let viewed: ViewedStore
        let request: HistoryRequest
        let size: Int

        init(_ viewed: ViewedStore, request: HTTPRequest) throws(ViewerError) {
            self.viewed = viewed
            size = try request.integer("size", in: 1...500, default: 50)
            var history = HistoryRequest()
            history.author = request.value("author")
            if let text = request.value("entity") { history.entity = try viewed.entity(text).name }
            if let text = request.value("after") {
                guard let token = HistoryToken(text) else {
                    throw ViewerError(.badRequest, message: "'\(text)' is not a token of a history.")
                }
                history.token = token
            }
            self.request = history
        }

        func answer() throws -> JSONNode {
            try viewed.read { snapshot in
                guard try snapshot.hasHistory() else {
                    throw ViewerError(.notFound, code: "noHistory", message: "\(viewed.title) keeps no history.")
                }
                let cursor = try snapshot.historyCursor(request)
                var (list, next) = ([JSONNode](), HistoryToken?.none)
                while let transaction = try cursor.next() {
                    try FetchCancellation.check()
                    if list.count == size {
                        return Self.page(list, next: next)
                    }
                    list.append(Self.node(transaction))
                    next = transaction.token
                }
                return Self.page(list, next: nil)
            }
        }

        private static func page(_ list: [JSONNode], next: HistoryToken?) -> JSONNode {
            JSONNode(["transactions": JSONNode(list: list), "next": JSONNode(next?.description)])
        }

        private static func node(_ transaction: HistoryTransaction) -> JSONNode {
            let links = transaction.linkChanges.prefix(changeCount).map { link in
                JSONNode([
                    "relationship": JSONNode(link.relationship.description), "source": object(link.source),
                    "target": object(link.target), "isAdded": JSONNode(link.isAdded),
                ])
            }
            return JSONNode([
                "token": JSONNode(transaction.token.description), "date": CellWriter.date(transaction.date),
                "author": JSONNode(transaction.author), "context": JSONNode(transaction.contextName),
                "kind": JSONNode(transaction.kind.rawValue),
                "changes": JSONNode(
                    list: transaction.changes.prefix(changeCount).map { change in
                        JSONNode([
                            "kind": JSONNode(change.kind.rawValue), "entity": JSONNode(change.id.entity.text),
                            "key": JSONNode(change.id.key), "properties": JSONNode(texts: change.changedProperties),
                        ])
                    }), "links": JSONNode(list: links),
                "changeCount": JSONNode(transaction.changes.count + transaction.linkChanges.count),
                "isWhole": JSONNode(transaction.isComplete),
            ])
        }

        static func object(_ id: ObjectID) -> JSONNode {
            JSONNode(["entity": JSONNode(id.entity.text), "key": JSONNode(id.key)])
        }
    }

    /// The difference of two stores.
    struct CompareView {
        let first: ViewedStore
        let second: ViewedStore
        let limit: Int

        func answer(_ job: Job) throws -> JSONNode {
            let differences = try StoreComparison.diff(
                first.store.persistentStore, second.store.persistentStore, limit: limit + 1,
                cancellation: job.cancellation)
            var models: [String] = []
            if differences.contains(where: { $0.kind == .model }) {
                models = second.model.difference(from: first.model).filter(\.changesVersionHash).map(\.text)
            }
            return JSONNode([
                "equal": JSONNode(differences.isEmpty), "isTruncated": JSONNode(differences.count > limit),
                "models": JSONNode(texts: models.prefix(limit)),
                "differences": JSONNode(list: differences.filter { $0.kind != .model }.prefix(limit).map(node)),
            ])
        }

        private func node(_ difference: StoreDifference) -> JSONNode {
            let isLink = difference.kind == .linkOnlyInFirst || difference.kind == .linkOnlyInSecond
            return JSONNode([
                "kind": JSONNode(difference.kind.rawValue), "object": object(difference.object),
                "properties": JSONNode(texts: difference.properties), "target": difference.target.map(object) ?? .null,
                "relationship": JSONNode(isLink ? difference.properties.first : nil),
            ])
        }

        /// Returns the object for a text such as `Album/p5`.
        private func object(_ text: String) -> JSONNode {
            ObjectID(description: text).map(HistoryView.object) ?? .null
        }
    }
#endif
