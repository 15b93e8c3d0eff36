internal import RoostCore

extension PredicateEvaluator {
    /// Whether a condition is true for the current record and variables; undefined after an error.
    func isTrue(_ index: PredicateProgram.Index) -> Bool {
        switch program.nodes[index] {
        case .truth(let truth): return truth
        case .and(let members):
            for position in members.start..<members.start + members.count where !isTrue(program.links[position]) {
                return false
            }
            return true
        case .or(let members):
            for position in members.start..<members.start + members.count where isTrue(program.links[position]) {
                return true
            }
            return false
        case .not(let member): return !isTrue(member)
        case .compare(let left, let operation, let right):
            return PredicateOperand.compare(value(left), operation: operation, right: value(right))
        case .between(let left, let low, let high):
            let operand = value(left)
            return PredicateOperand.compare(operand, operation: .greaterOrEqual, right: value(low))
                && PredicateOperand.compare(operand, operation: .lessOrEqual, right: value(high))
        case .match(let left, let matcher, let whenNull):
            return match(value(left), matcher: matcher, whenNull: whenNull)
        case .compareText(let left, let operation, let right, let options):
            return compareText(value(left), operation: operation, right: value(right), options: options)
        case .member(let left, let set, let options): return isMember(value(left), set: set, options: options)
        case .any(let collection, let variable, let condition):
            return !forEach(collection, repetition: .once) { element in
                variables[variable] = element
                return !isTrue(condition)
            } && !hasFailed
        case .all(let collection, let variable, let condition):
            return forEach(collection, repetition: .once) { element in
                variables[variable] = element
                return isTrue(condition)
            }
        default: return false
        }
    }

    private func match(_ operand: PredicateOperand, matcher: Int, whenNull: Bool) -> Bool {
        guard case .bytes(let text) = operand else {
            if case .null = operand { return whenNull }
            return false
        }
        let matcher = program.matchers[matcher]
        guard matcher.isExpression else { return matcher.matchesPlainly(text) }
        do throws(StoreError) {
            return try matcher.matches(text)
        } catch {
            fail(error)
            return false
        }
    }

    private func compareText(
        _ left: PredicateOperand, operation: FetchRequest.Comparison.Operator, right: PredicateOperand,
        options: FetchRequest.Comparison.Options
    ) -> Bool {
        guard case .bytes(let text) = left, case .bytes(let pattern) = right else {
            return PredicateOperand.compare(left, operation: operation, right: right)
        }
        do throws(StoreError) {
            return try StringMatcher(operation, pattern: String(decoding: pattern, as: UTF8.self), options: options)
                .matches(text)
        } catch {
            fail(error)
            return false
        }
    }

    private func isMember(
        _ operand: PredicateOperand, set: Int, options: FetchRequest.Comparison.Options
    ) -> Bool {
        let set = program.sets[set]
        guard case .bytes(let text) = operand, !options.isEmpty else { return set.contains(operand) }
        return TextFolding.withFolded(text, by: options) { set.contains(.bytes($0)) }
    }
}

extension PredicateOperand {
    /// Compares two values; if exactly one is null, only `!=` is true.
    @inline(__always)
    static func compare(_ left: Self, operation: FetchRequest.Comparison.Operator, right: Self) -> Bool {
        switch operation {
        case .equal: return equal(left, right)
        case .notEqual: return !equal(left, right)
        case .less: return order(left, right).map { $0 < 0 } ?? false
        case .lessOrEqual: return order(left, right).map { $0 <= 0 } ?? false
        case .greater: return order(left, right).map { $0 > 0 } ?? false
        case .greaterOrEqual: return order(left, right).map { $0 >= 0 } ?? false
        // `compareText` passes these operators only if a side is null. Null matches nothing.
        case .beginsWith, .between, .contains, .endsWith, .isIn, .like, .matches: return false
        }
    }
}
