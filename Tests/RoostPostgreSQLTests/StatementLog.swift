#if PostgreSQL
    import Foundation
    import Testing

    /// The statements that a server logged for connections with one application name.
    ///
    /// `Scripts/postgres` starts servers whose log lines begin with the application name and the
    /// process ID.
    struct StatementLog {
        struct Violation: CustomStringConvertible {
            let reason: String
            let statement: String
            var description: String { "\(reason): \(statement)" }
        }

        let application = "roost-\(UUID().uuidString.prefix(13))"
        private let file: URL
        private let start: UInt64

        /// Starts at the end of the server's log; nil without a server or a log.
        init?() {
            guard let host = PostgreSQLServer.host else { return nil }
            file = URL(fileURLWithPath: host).appendingPathComponent("server.log")
            guard let handle = try? FileHandle(forReadingFrom: file), let end = try? handle.seekToEnd() else {
                return nil
            }
            start = end
        }

        /// The parameters of connections whose statements are logged.
        var parameters: String {
            "application_name=\(application) options='-c log_statement=all -c log_parameter_max_length=0'"
        }

        /// Returns the statements since the start, in order, each with its session's process ID.
        func statements() throws -> [(session: String, statement: String)] {
            let handle = try FileHandle(forReadingFrom: file)
            try handle.seek(toOffset: start)
            let text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
            var found: [(String, String)] = []
            var isOwn = false
            for line in text.split(separator: "\n") {
                // Further lines of a statement begin with a tab.
                if line.hasPrefix("\t") {
                    if isOwn, let last = found.indices.last { found[last].1 += " " + line.dropFirst() }
                    continue
                }
                isOwn = false
                guard line.hasPrefix(application + "|"), let range = line.firstRange(of: "|LOG:  ") else { continue }
                let message = line[range.upperBound...]
                guard message.hasPrefix("statement: ") || message.hasPrefix("execute "),
                    let colon = message.firstRange(of: ": ")
                else { continue }
                isOwn = true
                let session = line[..<range.lowerBound].split(separator: "|").dropFirst().first ?? ""
                found.append((String(session), String(message[colon.upperBound...])))
            }
            return found
        }

        /// Records an issue for statements that the portable profile forbids.
        func requireNoViolation() throws {
            let found = try violations()
            #expect(found.isEmpty, "\(found.prefix(3).map(\.description).joined(separator: "; "))")
        }

        func violations() throws -> [Violation] {
            var violations: [Violation] = []
            // Whether the open transaction of each session has changed tables or rows.
            var open: [String: (definition: Bool, data: Bool)] = [:]
            // Most texts occur thousands of times, so each is analyzed once.
            var known: [String: [Part]] = [:]
            for (session, text) in try statements() {
                func refuse(_ reason: String) { violations.append(Violation(reason: reason, statement: text)) }
                let parts = known[text] ?? text.split(separator: ";").map(Part.init)
                known[text] = parts
                for part in parts {
                    for reason in part.refusals { refuse(reason) }
                    switch part.effect {
                    case .begins: open[session] = (false, false)
                    case .ends: open[session] = nil
                    case .changesTables: open[session]?.definition = true
                    case .changesRows: open[session]?.data = true
                    case nil: break
                    }
                    if let state = open[session], state.definition, state.data {
                        refuse("tables and rows change in one transaction")
                    }
                }
            }
            return violations
        }

        /// One statement of a logged text, which can have several.
        private struct Part {
            enum Effect {
                case begins, ends, changesTables, changesRows
            }

            /// The effect on the open transaction.
            var effect: Effect?
            /// The reasons why the portable profile forbids the statement in any transaction.
            var refusals: [String]

            init(_ text: Substring) {
                let sql = text.uppercased().trimmingCharacters(in: .whitespacesAndNewlines)
                refusals = forbidden.filter { sql.contains($0.0) }.map(\.1)
                switch String(sql.prefix { $0.isLetter }) {
                case "BEGIN":
                    effect = .begins
                    if !sql.contains("READ ONLY"), !sql.contains("SERIALIZABLE") {
                        refusals.append("a transaction that is not serializable")
                    }
                case "COMMIT", "ROLLBACK": effect = sql.contains("TO SAVEPOINT") ? nil : .ends
                case "CREATE", "ALTER", "DROP", "COMMENT": effect = .changesTables
                case "INSERT", "UPDATE", "DELETE", "WITH", "COPY": effect = .changesRows
                default: effect = nil
                }
            }
        }

        private static let forbidden = [
            ("ADVISORY", "a lock by name"), ("HASHTEXT", "a function of PostgreSQL's own"),
            ("LISTEN ", "a notification"), ("NOTIFY ", "a notification"),
            ("PG_EXPORT_SNAPSHOT", "an exported snapshot"),
            ("SET TRANSACTION SNAPSHOT", "an exported snapshot"), ("FORMAT BINARY", "COPY in binary format"),
            ("SKIP LOCKED", "a lock of rows that are free"), ("KEY SHARE", "a weak lock"),
            ("NO KEY UPDATE", "a weak lock"), ("FOR SHARE", "a weak lock"),
            ("PG_POSTMASTER", "a function of PostgreSQL's own"), ("COLLATE", "a collation"),
        ]
    }
#endif
