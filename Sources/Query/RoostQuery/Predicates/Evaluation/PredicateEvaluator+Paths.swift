internal import RoostCore

extension PredicateEvaluator {
    private static var countPerRead: Int { 128 }

    /// Reads the objects that paths from the records reach before any to-many relationship.
    ///
    /// Errors are ignored, because the evaluation repeats a failed read and reports its error.
    func prefetch(for records: RecordBatch) {
        for index in 0..<program.paths.count where program.paths[index].start == nil {
            let path = program.paths[index]
            var root = -1
            var keys: [Int64] = []
            for step in path.steps {
                // If a path ends at objects, the last objects need not be read.
                guard case .toOne(let slots) = program.steps[step],
                    step + 1 < path.steps.upperBound || path.slots != nil
                else { break }
                var found: [Int64] = []
                var foundRoot = -1
                func follow(_ record: RecordReader) {
                    guard case .object(let root, let key) = program.operand(slots, in: record) else { return }
                    found.append(key)
                    foundRoot = root
                }
                if step == path.steps.lowerBound {
                    records.forEachRecord { follow($0) }
                } else {
                    for key in keys { if let record = loadedRecord(key, inHierarchyOf: root) { follow(record) } }
                }
                (root, keys) = (foundRoot, found.sorted())
                guard loadQuietly(keys, inHierarchyOf: root) else { break }
            }
        }
    }

    func value(of path: PredicateProgram.Path) -> PredicateOperand {
        var accumulator = PredicateAccumulator()
        switch path.collectionOperator {
        case .union, .distinctUnion: return .null
        case nil:
            var value = PredicateOperand.null
            _ = walk(path, repetition: .everyWay) { element in
                value = element
                return false
            }
            return value
        case .minimum, .maximum:
            _ = walk(path, repetition: .once) { element in
                accumulator.compare(element)
                return true
            }
            return path.collectionOperator == .minimum ? accumulator.least : accumulator.greatest
        case .count, .sum, .average:
            _ = walk(path, repetition: .everyWay) { element in
                accumulator.add(element)
                return true
            }
            switch path.collectionOperator {
            case .sum: return accumulator.sum
            case .average: return accumulator.average
            default: return .integer(Int64(accumulator.count))
            }
        }
    }

    /// Calls `body` with each value of a path; returns false as soon as `body` does, or after an
    /// error.
    func forEach(
        _ path: PredicateProgram.Path, repetition: Repetition, _ body: (PredicateOperand) -> Bool
    ) -> Bool {
        switch path.collectionOperator {
        case .union:
            return walk(path, repetition: repetition) { element in
                if case .null = element { return true }
                return body(element)
            }
        case .distinctUnion:
            var given = DistinctOperands()
            return walk(path, repetition: .once) { element in
                if case .null = element { return true }
                return !given.insert(element) || body(element)
            }
        case nil: return walk(path, repetition: repetition, body)
        case .count, .sum, .average, .minimum, .maximum: return body(value(of: path)) && !hasFailed
        }
    }

    /// Calls `body` with the value at the end of each route along a path.
    private func walk(
        _ path: PredicateProgram.Path, repetition: Repetition, _ body: (PredicateOperand) -> Bool
    ) -> Bool {
        // Visited objects matter only if an expensive step may reach an object twice.
        guard repetition == .once, path.firstRepetition <= path.lastReading else {
            return walk(path, repetition: repetition, visited: nil, body)
        }
        return withVisitedObjects { walk(path, repetition: repetition, visited: $0, body) }
    }

    private func walk(
        _ path: PredicateProgram.Path, repetition: Repetition, visited: VisitedObjects?,
        _ body: (PredicateOperand) -> Bool
    ) -> Bool {
        guard let start = path.start else {
            guard let record else { return ended(path, at: 0, body) }
            return walk(path, step: path.steps.lowerBound, record: record, visited: visited, body)
        }
        return forEach(start, repetition: repetition) { object in
            // A path without steps and without a field ends at its start, which may be any value.
            if path.steps.isEmpty, path.slots == nil { return body(object) }
            return go(path, step: path.steps.lowerBound, to: object, visited: visited, body)
        }
    }

    /// Continues a path from an object that a step has reached.
    private func go(
        _ path: PredicateProgram.Path, step: Int, to object: PredicateOperand, visited: VisitedObjects?,
        _ body: (PredicateOperand) -> Bool
    ) -> Bool {
        guard case .object(let root, let key) = object else {
            return ended(path, at: step - path.steps.lowerBound, body)
        }
        if let visited, path.isWorthNoting(step), !visited.insert(key, at: step) { return true }
        if step == path.steps.upperBound, path.slots == nil { return body(object) && !hasFailed }
        guard let record = relatedRecord(key, inHierarchyOf: root) else {
            return !hasFailed && ended(path, at: step - path.steps.lowerBound, body)
        }
        return walk(path, step: step, record: record, visited: visited, body)
    }

    /// Ends a path at a null or dangling relationship.
    ///
    /// The value is null. But if a to-many relationship follows, the path has no value.
    private func ended(_ path: PredicateProgram.Path, at step: Int, _ body: (PredicateOperand) -> Bool) -> Bool {
        step > path.lastToMany ? body(.null) && !hasFailed : true
    }

    private func walk(
        _ path: PredicateProgram.Path, step: Int, record: RecordReader, visited: VisitedObjects?,
        _ body: (PredicateOperand) -> Bool
    ) -> Bool {
        guard step < path.steps.upperBound else {
            if let slots = path.slots { return body(program.operand(slots, in: record)) && !hasFailed }
            return body(.object(root: record.root, key: record.key)) && !hasFailed
        }
        switch program.steps[step] {
        case .toOne(let slots):
            return go(path, step: step + 1, to: program.operand(slots, in: record), visited: visited, body)
        case .toMany(let relationship, let root):
            let endsAtObjects = step + 1 == path.steps.upperBound && path.slots == nil
            return withDestinations(of: relationship, from: record.key) { keys in
                for start in stride(from: 0, to: keys.count, by: Self.countPerRead) {
                    let part = keys[start..<min(keys.count, start + Self.countPerRead)]
                    if !endsAtObjects || path.readsEnd { load(part, inHierarchyOf: root) }
                    for key in part
                    where !go(path, step: step + 1, to: .object(root: root, key: key), visited: visited, body) {
                        return false
                    }
                }
                return true
            }
        }
    }
}

/// The rule for an object that a path reaches several times.
enum Repetition {
    /// The object gives its value each time, as counts, sums and ordered values require.
    case everyWay
    /// Later visits may be skipped, because repeated values do not change the result.
    case once
}

extension PredicateProgram.Path {
    /// The last step at which continuing from an object is expensive.
    fileprivate var lastReading: Int { slots == nil && readsEnd ? steps.count : lastToMany }

    /// Whether the visited objects should include the objects that a step reaches.
    ///
    /// If the rest of the path has only to-one relationships or a field, following it again is as
    /// fast as a lookup in the visited objects.
    fileprivate func isWorthNoting(_ step: Int) -> Bool {
        let step = step - steps.lowerBound
        guard step >= firstRepetition else { return false }
        return step == steps.count ? slots == nil && readsEnd : step <= lastToMany
    }
}
