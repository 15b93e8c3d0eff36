#if Interactive
    internal import Foundation
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostStores

    /// Statistics about the content of a store.
    struct OverviewView {
        let viewed: ViewedStore

        func answer() throws -> JSONNode {
            let store = viewed.store.persistentStore
            let metadata = try store.metadata()
            return try viewed.read { snapshot in
                let tally = try snapshot.recordedTally()
                return JSONNode([
                    "name": JSONNode(viewed.name), "title": JSONNode(viewed.title),
                    "type": JSONNode(store.location.type), "formatVersion": JSONNode(metadata.formatVersion),
                    "path": JSONNode(store.location.path), "uuid": JSONNode(metadata.storeUUID.description),
                    "digest": JSONNode(tally?.digest.description), "bytes": JSONNode(try store.byteCount()),
                    "capabilities": JSONNode(texts: store.type.capabilities.names),
                    "metadata": JSONNode(list: Self.metadata(try snapshot.userMetadata(), model: viewed.model)),
                    "notices": JSONNode(texts: try notices()),
                    "libraries": JSONNode(
                        list: store.type.libraries.map { library in
                            JSONNode([
                                "name": JSONNode(library.name), "version": JSONNode(library.version),
                                "warning": JSONNode(library.warning),
                            ])
                        }), "versionIdentifiers": JSONNode(texts: viewed.model.versionIdentifiers),
                    "hasHistory": JSONNode(try snapshot.hasHistory()), "writable": JSONNode(viewed.editor != nil),
                    "undo": viewed.undo, "entities": JSONNode(list: entities(try viewed.counts(snapshot))),
                    "links": JSONNode(list: links(tally)),
                ])
            }
        }

        private func notices() throws(StoreError) -> [String] {
            do throws(StoreError) { return try viewed.store.persistentStore.notices() } catch {
                guard error.code == .corrupted else { throw error }
                return [error.message]
            }
        }

        private func entities(_ counts: [Int]) -> [JSONNode] {
            let model = viewed.model
            return model.entities.map { entity in
                let total = entity.selfAndSubentities.reduce(0) { $0 + counts[$1] }
                return JSONNode([
                    "name": JSONNode(entity.name.text),
                    "superentity": JSONNode(entity.superentity.map { model.entities[$0].name.text }),
                    "isAbstract": JSONNode(entity.isAbstract), "count": JSONNode(counts[entity.number]),
                    "total": JSONNode(total), "attributes": JSONNode(entity.attributes.count),
                    "relationships": JSONNode(entity.relationships.count),
                ])
            }
        }

        private func links(_ tally: StoreTally?) -> [JSONNode] {
            guard let tally else { return [] }
            return viewed.model.linkRelationships.map { relationship in
                JSONNode([
                    "relationship": JSONNode(relationship.name.description),
                    "count": JSONNode(tally.relationships[relationship.number].count),
                ])
            }
        }

        private static func metadata(
            _ metadata: [String: MetadataValue], model: ManagedObjectModel
        ) -> [JSONNode] {
            metadata.sorted { $0.key < $1.key }.map { name, value in
                JSONNode([
                    "name": JSONNode(name), "value": node(value, writer: CellWriter(titles: ObjectTitles(model))),
                ])
            }
        }

        private static func node(_ value: MetadataValue, writer: CellWriter) -> JSONNode {
            switch value {
            case .string(let text): writer.node(.string(text))
            case .int(let number): JSONNode(number)
            case .double(let number): writer.node(.double(number))
            case .bool(let flag): JSONNode(flag)
            case .date(let date): CellWriter.date(date)
            case .data(let data): writer.node(.data(data))
            default: JSONNode(value.description)
            }
        }
    }
#endif
