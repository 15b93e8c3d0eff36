#if PostgreSQL
    package import RoostCore

    /// An error of the server or of the connection.
    package struct PostgreSQLError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The five characters of SQLSTATE; empty for an error of the connection.
        package let state: String
        /// The constraint, column or table that the server's message names.
        package let object: String?
        /// The text of an error of the connection.
        package let text: String

        package init(state: String, object: String? = nil, text: String = "") {
            (self.state, self.object, self.text) = (state, object, text)
        }

        package var description: String {
            let name = object.map { " '\($0)'" } ?? ""
            return state.isEmpty ? "PostgreSQL: \(text)" : "PostgreSQL \(state)\(name)"
        }

        /// Whether the connection is lost, so that the outcome of a commit is unknown.
        var isConnectionLoss: Bool {
            state.isEmpty || state.hasPrefix("08") || ["57P01", "57P02", "57P03"].contains(state)
        }

        /// Returns whether concurrent transactions made the transaction fail, so that a retry may
        /// succeed.
        ///
        /// In the portable profile, this includes a lack of memory for locks, which other
        /// transactions free when they end.
        func isTransient(in profile: PostgreSQLProfile) -> Bool {
            ["40001", "40P01"].contains(state) || profile == .portable && state == "53200"
        }

        /// The corresponding error code; see
        /// <https://www.postgresql.org/docs/15/errcodes-appendix.html>.
        package var storeCode: StoreError.Code {
            switch state {
            case "23505":
                return object?.hasSuffix(PostgreSQLDialect.primaryKeySuffix) == true
                    ? .duplicateObject : .constraintViolation
            case "40001", "40P01", "55P03", "55006", "57P03", "53300": return .busy
            case "57014": return .cancelled
            case "53100", "53400": return .noSpace
            case "53000", "53200": return .outOfResources
            case "22003", "54000", "54001", "54011", "54023": return .limitExceeded
            case "42501", "28000", "28P01": return .permissionDenied
            case "25006": return .readOnly
            case "25P03": return .snapshotExpired
            case "3D000": return .notFound
            case "3F000", "42P01": return .storeReplaced
            case "42P06", "42P07": return .alreadyExists
            case "42703", "42804", "42883", "XX001", "XX002", "22021": return .corrupted
            case "0A000": return .unsupported
            default: return isConnectionLoss || state == "58030" ? .ioFailure : .internalInconsistency
            }
        }
    }

    extension StoreError {
        /// Returns the store error for a PostgreSQL error during the action `what`.
        static func postgreSQL(_ error: PostgreSQLError, what: String, name: String) -> StoreError {
            let code = error.storeCode
            let remedy: String
            switch code {
            case .busy where error.state == "53300": remedy = "the server has no connection left; try again later"
            case .busy: remedy = "another transaction holds a lock; try again later"
            case .cancelled: remedy = "the statement was cancelled"
            case .noSpace: remedy = "the server's disk is full; nothing was written"
            case .outOfResources: remedy = "the server's memory is used up"
            case .limitExceeded: remedy = "a value, a row or a statement is larger than the server allows"
            case .permissionDenied:
                remedy = "the user may not log in, or has no right to the schema; ask the administrator of the server"
            case .readOnly: remedy = "the server or the transaction is read-only"
            case .snapshotExpired:
                remedy = "the server ended the transaction, which was idle too long; take a new snapshot"
            case .notFound: remedy = "the database does not exist; create it with createdb"
            case .storeReplaced: remedy = "the store was removed or replaced; close it and open the new one"
            case .alreadyExists: remedy = "the name is in use"
            case .corrupted: remedy = "its tables were changed; restore it from a backup"
            case .unsupported: remedy = "the server does not support the statement"
            case .duplicateObject:
                remedy = "an object with the same key, or a link between the same objects, exists already"
            case .constraintViolation: remedy = "a unique value is used twice"
            case .ioFailure where error.isConnectionLoss:
                remedy = "the server cannot be reached, or the connection to it is lost"
            case .ioFailure: remedy = "the server reported a system error"
            default: remedy = "please report this"
            }
            return StoreError(code, "\(what) '\(name)' failed: \(remedy).", underlying: error)
        }
    }
#endif
