package import RoostCore
package import RoostMigration
internal import RoostStores

extension TextImport {
    /// Sends a record for each valid row.
    package func send(to sink: ContentSink) throws(StoreError) {
        let reader = try reader()
        var mapping = ColumnMapping(options, entity: entity, in: model, of: input.name)
        var recordRules = rules.records
        let hasRules = !recordRules.isEmpty(forEntity: entity.number)
        let defaults = try BatchProperties(entity, in: model).defaults()
        let defaultFields = entity.layout.fields.filter { !defaults[$0.index].isNull }
        var batch = sink.emptyRecords()
        var single = RecordBatch(model: model)
        var key: Int64 = 0
        var rowCount = 0
        while try reader.next() {
            rowCount += 1
            // Sending a batch checks for cancellation too, but many faulty rows can precede the next batch.
            if rowCount % 4096 == 0 { try checkCancellation() }
            if mapping.columnCount < reader.columns.count { try mapping.extend(to: reader.columns) }
            if let problem = reader.row.problem {
                try faults.add(problem, line: reader.row.line, of: input.name)
                continue
            }
            single.removeAll()
            single.beginRecord(entity.layout, key: key + 1, version: 1)
            if let problem = try fill(
                &single, reader: reader, mapping: mapping, defaultFields: defaultFields, defaults: defaults)
            {
                single.abandonRecord()
                try faults.add(problem, line: reader.row.line, of: input.name)
                continue
            }
            single.endRecord()
            if hasRules {
                var failures = FailureList()
                try single.withRecord(at: 0) { (record) throws(StoreError) in
                    try failures.check(record, rules: &recordRules) { _, _ in .row(Self.rowNumber) }
                }
                if let failure = failures.failures.first {
                    try faults.add(Self.problem(failure), line: reader.row.line, of: input.name)
                    continue
                }
            }
            addOffsets(columnsWithOffset(of: reader, targets: mapping.targets))
            key += 1
            batch.append(single, at: 0)
            guard batch.isFull else { continue }
            try sink.send(batch)
            batch = sink.emptyRecords()
        }
        if !batch.isEmpty { try sink.send(batch) }
        try input.requireUnchanged()
    }

    /// Sets the fields of a record, or returns the problem of the first invalid cell.
    private func fill(
        _ batch: inout RecordBatch, reader: any TextRowReader, mapping: ColumnMapping,
        defaultFields: [RecordLayout.Field], defaults: [Value]
    ) throws(StoreError) -> String? {
        let cells = reader.row.cells
        var next = 0
        for target in mapping.targets {
            // Texts and data must be set in the order of the fields, so defaults are set between
            // the cells.
            while next < defaultFields.count, defaultFields[next].index < target.field.index {
                let field = defaultFields[next]
                try batch.set(defaults[field.index], for: field)
                next += 1
            }
            let hasDefault = next < defaultFields.count && defaultFields[next].index == target.field.index
            if hasDefault { next += 1 }
            let cell = target.position < cells.count ? cells[target.position] : .absent
            switch cell.kind {
            case .null: continue
            case .absent:
                if hasDefault { try batch.set(defaults[target.field.index], for: target.field) }
            default:
                let bytes = reader.bytes(of: cell)
                guard try format.set(bytes, for: target.field, in: &batch) else {
                    return Self.problem(bytes, column: target.column, field: target.field)
                }
            }
        }
        while next < defaultFields.count {
            let field = defaultFields[next]
            try batch.set(defaults[field.index], for: field)
            next += 1
        }
        return nil
    }

    /// A placeholder for the row number in a failure, which ``problem(_:)`` removes from the
    /// message.
    static let rowNumber = 0

    static func problem(_ failure: ValidationFailure) -> String {
        failure.message.replacing(" of row \(rowNumber) (\(failure.entity))", with: "")
    }

    static func problem(
        _ bytes: UnsafeRawBufferPointer, column: String, field: RecordLayout.Field
    ) -> String {
        let text = String(decoding: bytes.prefix(60), as: UTF8.self)
        let shown = text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
        return
            "column '\(column)' has '\(shown)'\(bytes.count > 60 ? "…" : ""), which is not \(CellFormat.expectation(of: field.kind))."
    }
}
