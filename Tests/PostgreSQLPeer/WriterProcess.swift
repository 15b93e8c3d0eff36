#if PostgreSQL
    import Dispatch
    import Foundation
    import RoostCore
    import RoostPostgreSQL

    /// A process whose threads increment the values of nodes and insert nodes.
    ///
    /// The arguments are `writers`, the path of the location, the number of threads, the number of
    /// the first thread, the number of rounds and the number of nodes. Each commit of an insertion
    /// prints its generation on a line.
    struct WriterProcess: Sendable {
        private let location: StoreLocation
        private let threads: Int
        private let firstThread: Int
        private let rounds: Int
        private let nodes: Int

        /// Returns nil if the arguments are not those of a writer process.
        init?(arguments: ArraySlice<String>) {
            let words = Array(arguments)
            guard words.count == 6, words[0] == "writers", let threads = Int(words[2]), let firstThread = Int(words[3]),
                let rounds = Int(words[4]), let nodes = Int(words[5])
            else { return nil }
            location = StoreLocation(type: "postgresql", path: words[1])
            (self.threads, self.firstThread, self.rounds, self.nodes) = (threads, firstThread, rounds, nodes)
        }

        /// Runs all threads and returns 0; an error ends the process with 1.
        func run() -> Int32 {
            do throws(StoreError) {
                let store = try PostgreSQLStoreType().open(location, options: StoreOptions(timeoutSeconds: 60))
                let group = DispatchGroup()
                for number in firstThread..<firstThread + threads {
                    group.enter()
                    Thread.detachNewThread {
                        do throws(StoreError) { try write(number, to: store) } catch { Self.fail(error) }
                        group.leave()
                    }
                }
                group.wait()
                try store.close()
                return 0
            } catch { Self.fail(error) }
        }

        private static func fail(_ error: StoreError) -> Never {
            FileHandle.standardError.write(Data("A writer failed: \(error)\n".utf8))
            exit(1)
        }

        private func write(_ number: Int, to store: any PersistentStore) throws(StoreError) {
            for round in 0..<rounds {
                let key = Int64((round * 7 + number) % nodes + 1)
                while try !increment(key, in: store) {}
                var changes = ChangeSet(model: store.model)
                let new = try store.reserveKeys(1, for: "Node").lowerBound
                try changes.insert(ObjectID("Node", key: new), values: ["value": 1])
                let receipt = try store.commit(changes)
                FileHandle.standardOutput.write(Data("\(receipt.generation)\n".utf8))
            }
        }

        /// Adds one to the value of a node; returns false if a conflict prevents that.
        private func increment(_ key: Int64, in store: any PersistentStore) throws(StoreError) -> Bool {
            let id = ObjectID("Node", key: key)
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            var batch = RecordBatch(model: store.model)
            guard try snapshot.record(with: id, into: &batch),
                case .int(let value)? = batch.record(at: 0).values()["value"]
            else { throw StoreError(.corrupted, "The node \(key) has no value.") }
            var changes = ChangeSet(model: store.model)
            try changes.update(id, version: batch.record(at: 0).version, values: ["value": .int(value + 1)])
            do throws(StoreError) { _ = try store.commit(changes) } catch {
                guard error.code == .conflict else { throw error }
                return false
            }
            return true
        }
    }
#endif
