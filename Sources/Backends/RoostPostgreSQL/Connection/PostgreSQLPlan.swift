#if PostgreSQL
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostSQL

    enum PostgreSQLPlan {
        /// Returns the plan of a statement for any values of its parameters.
        static func plan(of sql: String, on connection: PostgreSQLConnection) throws(StoreError) -> SQLPlan {
            let count = try connection.parameterCount(of: sql)
            connection.lastNumber += 1
            let name = "roost_\(connection.lastNumber)"
            return try connection.attempting { () throws(StoreError) in
                try connection.query("PREPARE \(name) AS \(sql)")
                try connection.query("SET LOCAL plan_cache_mode = force_generic_plan")
                let values =
                    count == 0 ? "" : "(" + Array(repeating: "NULL", count: count).joined(separator: ", ") + ")"
                let result = try connection.query("EXPLAIN (FORMAT JSON) EXECUTE \(name)\(values)")
                let text = result.text(0, column: 0) ?? "[]"
                try connection.query("DEALLOCATE \(name)")
                try connection.query("SET LOCAL plan_cache_mode TO DEFAULT")
                var plan = SQLPlan()
                let tree: JSONNode
                do throws(JSONSyntaxError) { tree = try JSONNode(Array(text.utf8)) } catch {
                    throw StoreError(
                        .internalInconsistency, "The plan of a statement on '\(connection.name)' cannot be read.",
                        underlying: error)
                }
                if case .array(let items) = tree.content, let item = items.first { read(item, plan: &plan) }
                return plan
            }
        }

        private static func read(_ node: JSONNode, plan: inout SQLPlan) {
            guard case .object(let members) = node.content else { return }
            for member in members {
                switch (member.key, member.value.content) {
                case ("Index Name", .string(let name)):
                    if name.hasSuffix(PostgreSQLDialect.primaryKeySuffix) {
                        plan.usesKeys = true
                    } else if !plan.indexes.contains(name) {
                        plan.indexes.append(name)
                    }
                case ("Node Type", .string(let type)):
                    if type == "Sort" || type == "Incremental Sort" { plan.sorts = true }
                case ("Plan", _): read(member.value, plan: &plan)
                case ("Plans", .array(let items)): for item in items { read(item, plan: &plan) }
                default: break
                }
            }
        }
    }
#endif
