internal import RoostCore

/// A cursor that returns a row for each group that meets the condition, in the order of the groups'
/// first objects.
///
/// Reads all objects before the first row, unless the store computes the aggregates.
final class GroupedRows: RowCursor {
    let columns: [String]
    let types: [AttributeType?]
    private let grouping: RowPlan.Grouping
    private let source: Source
    private let evaluator: PredicateEvaluator
    private let groupEvaluator: PredicateEvaluator
    private let aggregates: [any RowAggregate]
    private var groups = KeyTable()
    /// The key values of each group's first object, in group order.
    private var keyValues: [Value] = []
    private var read: RecordBatch
    /// The visitor that reads records in place; nil before its first use, or if records are copied.
    private var visitor: (any RecordVisitor)?
    private var asked = false
    private var isRead = false
    private var isAtEnd = false
    private var given = 0

    struct Source {
        let snapshot: any StoreSnapshot
        let request: CheckedFetchRequest
        let records: any RecordCursor
    }

    init(_ plan: RowPlan, grouping: RowPlan.Grouping, of source: Source, evaluator: PredicateEvaluator) {
        (self.grouping, self.source, self.evaluator) = (grouping, source, evaluator)
        columns = plan.columns + [String](repeating: "", count: grouping.columns.count - plan.columns.count)
        types = grouping.columnTypes
        groupEvaluator = PredicateEvaluator(grouping.program, graph: source.snapshot.objectGraph())
        aggregates = grouping.aggregates.map { $0() }
        read = RecordBatch(model: evaluator.program.model)
    }

    func next(into batch: inout RowBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        batch.columns = columns
        guard !isAtEnd else { return false }
        // If a damaged object ended the previous call, this call continues reading.
        if !isRead {
            if asked || !ask() { try readAll() }
            isRead = true
        }
        do throws(StoreError) {
            let count = grouping.isWhole ? 1 : groups.count
            while given < count, batch.count < RecordBatch.capacityCount {
                try append(given, to: &batch)
                given += 1
            }
        } catch {
            batch.removeAll()
            isAtEnd = true
            throw error.withoutDamagedObject
        }
        return !batch.isEmpty
    }

    // MARK: Reading

    /// Requests all aggregates from the store, and returns whether the store computed them.
    ///
    /// Returns false after an error. The caller then reads the objects, and so finds any damaged
    /// object.
    private func ask() -> Bool {
        asked = true
        var questions: [WholeNumberAggregate] = []
        var askable: [any WholeNumberRowAggregate] = []
        for aggregate in aggregates {
            guard let aggregate = aggregate as? any WholeNumberRowAggregate else { return false }
            askable.append(aggregate)
            questions += aggregate.questions
        }
        guard grouping.isWhole, !questions.isEmpty, var answers = answers(questions)?[...] else { return false }
        for aggregate in askable {
            aggregate.take(Array(answers.prefix(aggregate.questions.count)))
            answers = answers.dropFirst(aggregate.questions.count)
        }
        return true
    }

    private func answers(_ questions: [WholeNumberAggregate]) -> [Int64?]? {
        do throws(StoreError) {
            guard questions.allSatisfy({ $0 == .objects }) else {
                let answers = try source.snapshot.wholeNumbers(questions, of: source.request)
                return answers?.count == questions.count ? answers : nil
            }
            let count = Int64(try source.snapshot.count(checked: source.request))
            return questions.map { _ in count }
        } catch {
            return nil
        }
    }

    private func readAll() throws(StoreError) {
        if try readInPlace() { return }
        var numbers: [Int] = []
        while try source.records.next(into: &read) {
            do throws(StoreError) {
                evaluator.begin(nil)
                evaluator.prefetch(for: read)
                for source in grouping.keys { source.prefetch(for: read, evaluator: evaluator) }
                try number(read, numbers: &numbers)
                let count = grouping.isWhole ? 1 : groups.count
                for aggregate in aggregates {
                    try aggregate.add(read, groups: numbers, groupCount: count, evaluator: evaluator)
                }
            } catch {
                isAtEnd = true
                throw error.withoutDamagedObject
            }
        }
    }

    /// Reads the records in place, if the only result is a single aggregate of a field.
    ///
    /// Returns false if records must be copied.
    private func readInPlace() throws(StoreError) -> Bool {
        guard grouping.isWhole, aggregates.count == 1, let aggregate = aggregates[0] as? any FieldAggregate else {
            return false
        }
        if visitor == nil { visitor = try source.snapshot.visitor(source.request) }
        guard let visitor else { return false }
        try aggregate.add { (body) throws(StoreError) in
            _ = try visitor.visit { record in
                body(record)
                return true
            }
        }
        return true
    }

    /// Sets `numbers` to the index of each record's group.
    private func number(_ batch: RecordBatch, numbers: inout [Int]) throws(StoreError) {
        guard !grouping.isWhole else {
            if numbers.count > batch.count { numbers.removeLast(numbers.count - batch.count) }
            if numbers.count < batch.count { numbers += repeatElement(0, count: batch.count - numbers.count) }
            return
        }
        numbers.removeAll(keepingCapacity: true)
        var key: [UInt8] = []
        for index in 0..<batch.count {
            batch.withRecord(at: index) { record in
                evaluator.begin(record)
                key.removeAll(keepingCapacity: true)
                for source in grouping.keys { source.append(of: record, evaluator: evaluator, to: &key) }
                let (number, isNew) = groups.insert(key)
                numbers.append(number)
                if isNew { keyValues += grouping.keys.map { $0.value(of: record, evaluator: evaluator) } }
            }
            try evaluator.requireSuccess()
        }
    }

    // MARK: Rows

    private func append(_ group: Int, to batch: inout RowBatch) throws(StoreError) {
        groupEvaluator.begin(nil)
        let keys = keyValues[(group * grouping.keys.count)..<((group + 1) * grouping.keys.count)]
        let operands = aggregates.map { $0.value(of: group) }
        if grouping.having != nil || grouping.hasExpressions {
            for (slot, value) in zip(grouping.keySlots, keys) {
                groupEvaluator.variables[slot] = groupEvaluator.encoded(value)
            }
            for (slot, operand) in zip(grouping.aggregateSlots, operands) { groupEvaluator.variables[slot] = operand }
        }
        if let having = grouping.having {
            let isWanted = groupEvaluator.isTrue(having)
            try groupEvaluator.requireSuccess()
            guard isWanted else { return }
        }
        for (column, kind) in zip(grouping.columns, grouping.columnKinds) {
            switch column {
            case .key(let index): batch.values.append(keys[keys.startIndex + index])
            case .aggregate(let index): batch.values.append(groupEvaluator.decoded(operands[index], kind: kind))
            case .expression(let node):
                batch.values.append(groupEvaluator.decoded(groupEvaluator.value(node), kind: kind))
            }
        }
        batch.count += 1
        try groupEvaluator.requireSuccess()
    }
}

extension RowPlan.Grouping {
    var hasExpressions: Bool {
        columns.contains { column in
            if case .expression = column { return true }
            return false
        }
    }
}
