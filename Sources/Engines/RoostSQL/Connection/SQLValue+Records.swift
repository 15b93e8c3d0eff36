internal import Foundation
internal import RoostCore

// Conversion between rows and records, value by value, for all databases.

extension SQLValue {
    /// Creates a record's value for the first column of a field.
    init(_ field: RecordLayout.Field, of record: RecordReader) {
        guard !record.isNull(field) else {
            self = .null
            return
        }
        switch field.kind {
        case .integer64, .integer32, .integer16, .boolean, .order: self = .integer(record.integer(field))
        case .composite: self = .integer(1)
        case .reference, .polymorphicReference, .objectID: self = .integer(record.reference(field)?.key ?? 0)
        case .double, .date: self = .real(record.double(field))
        case .float: self = .real(Self.widened(record.floatBits(field)))
        case .decimal: self = .text((record.decimal(field) ?? .nan).description)
        case .uuid, .data, .transformable: self = .blob(Array(record.bytes(field)))
        case .string, .uri: self = .text(String(decoding: record.bytes(field), as: UTF8.self))
        }
    }

    /// Returns the double with the value of a float, given its bits.
    ///
    /// Keeps all bits of a NaN; a conversion by the processor may make a signaling NaN quiet.
    package static func widened(_ bits: UInt32) -> Double {
        let number = Float(bitPattern: bits)
        guard number.isNaN else { return Double(number) }
        let (sign, payload) = (UInt64(bits >> 31), UInt64(bits & 0x7F_FFFF))
        return Double(bitPattern: sign << 63 | 0x7FF << 52 | payload << 29)
    }

    /// Returns the bits of the float that is nearest to a number; nil if the number is too large.
    package static func narrowed(_ number: Double) -> UInt32? {
        guard number.isNaN else {
            let narrow = Float(number)
            return narrow.isFinite || !number.isFinite ? narrow.bitPattern : nil
        }
        let bits = number.bitPattern
        let payload = UInt32(truncatingIfNeeded: bits >> 29) & 0x7F_FFFF
        // Without the added bit, a NaN with a payload only in the lower bits would become infinity.
        return UInt32(truncatingIfNeeded: bits >> 63) << 31 | 0xFF << 23 | (payload == 0 ? 1 << 22 : payload)
    }

    fileprivate var doubleBits: UInt64? {
        switch self {
        case .real(let number): number.bitPattern
        case .integer(let number): Double(number).bitPattern
        case .text(let text): SQLFloatingText.bits64(Array(text.utf8))
        default: nil
        }
    }

    fileprivate var floatBits: UInt32? {
        if case .text(let text) = self, let bits = SQLFloatingText.bits32(Array(text.utf8)) { return bits }
        return doubleBits.flatMap { Self.narrowed(Double(bitPattern: $0)) }
    }

    fileprivate var decimal: DecimalNumber? {
        switch self {
        case .text(let text): DecimalNumber(utf8: text.utf8)
        case .integer(let number):
            DecimalNumber(isNegative: number < 0, mantissa: UInt128(number.magnitude), exponent: 0)
        default: nil
        }
    }
}

extension SQLReadPlan {
    /// Adds the record of the statement's current row to a batch.
    ///
    /// Unless `accepting`, a row that does not match its checksum is not added. `row` is reused for
    /// internal work.
    ///
    /// - Returns: The damage of a row that is not added, otherwise nil.
    func append(
        _ statement: some SQLStatement, to batch: inout RecordBatch, by row: inout RecordBatch, accepting: Bool
    ) throws(StoreError) -> StoreError? {
        guard case .integer(let key) = try statement.value(at: 0) else {
            return damaged(key: 0, entity: nil, reason: "its key is not an integer")
        }
        guard case .integer(let number) = try statement.value(at: 1), number >= 0, number < entities.count,
            let entity = entities[Int(number)]
        else { return damaged(key: key, entity: nil, reason: "its entity does not belong to the table") }
        guard case .integer(let stored) = try statement.value(at: 2), let version = UInt32(exactly: stored) else {
            return damaged(key: key, entity: entity.number, reason: "its key or version is invalid")
        }
        guard key > 0 else { return damaged(key: key, entity: entity.number, reason: "its key is not positive") }
        row.removeAll()
        let layout = model.entities[entity.number].layout
        row.beginRecord(layout, key: key, version: version)
        for step in entity.steps {
            let value = try valueAbandoning(&row) { () throws(StoreError) in try statement.value(at: Int(step.column)) }
            guard value != .null else { continue }
            let number =
                step.entityColumn < 0
                ? SQLValue.null
                : try valueAbandoning(&row) { () throws(StoreError) in
                    try statement.value(at: Int(step.entityColumn))
                }
            if let reason = set(
                value, entity: number, field: layout.fields[Int(step.fieldIndex)], step: step, row: &row)
            {
                row.abandonRecord()
                return damaged(key: key, entity: entity.number, field: step.fieldIndex, reason: reason)
            }
        }
        row.endRecord()
        if !accepting {
            let hash = row.withRecord(at: 0) { $0.storedContentHash }
            guard case .integer(let stored) = try statement.value(at: 3),
                UInt64(bitPattern: stored) == checksum.checksum(contentHash: hash, version: version)
            else { return changed(key: key, entity: entity.number) }
        }
        batch.append(row, at: 0)
        return nil
    }

    private func valueAbandoning(
        _ row: inout RecordBatch, _ body: () throws(StoreError) -> SQLValue
    ) throws(StoreError) -> SQLValue {
        do throws(StoreError) { return try body() } catch {
            row.abandonRecord()
            throw error
        }
    }

    /// Sets a field of the record under construction; returns the problem with the value, or nil.
    private func set(
        _ value: SQLValue, entity: SQLValue, field: RecordLayout.Field, step: SQLStep, row: inout RecordBatch
    ) -> String? {
        do throws(StoreError) {
            switch field.kind {
            case .integer64, .order:
                guard case .integer(let number) = value else { return "is not an integer" }
                row.setInteger64(number, for: field)
            case .integer32, .integer16:
                let reason = "is not an integer of \(field.kind == .integer32 ? 32 : 16) bits"
                guard case .integer(let number) = value else { return reason }
                let isPossible =
                    field.kind == .integer32 ? Int32(exactly: number) != nil : Int16(exactly: number) != nil
                guard isPossible else { return reason }
                try row.setInteger(number, for: field)
            case .boolean:
                guard case .integer(let number) = value, number == 0 || number == 1 else {
                    return "is neither 0 nor 1"
                }
                try row.setInteger(number, for: field)
            case .composite:
                guard value == .integer(1) else { return "is not 1" }
                row.setComposite(field)
            case .double, .date:
                guard let bits = value.doubleBits else { return "is not a number" }
                try row.setDouble(Double(bitPattern: bits), for: field)
            case .float:
                guard let bits = value.floatBits else { return "is not a number of 32 bits" }
                row.setFloatBits(bits, for: field)
            case .decimal:
                guard let number = value.decimal else { return "is not a decimal number" }
                row.setDecimal(number, for: field)
            case .uuid:
                guard case .blob(let bytes) = value, let uuid = UUID(bytes) else { return "is not a blob of 16 bytes" }
                try row.set(.uuid(uuid), for: field)
            case .reference:
                guard case .integer(let key) = value, key > 0, let destination = field.destination else {
                    return "is not a key"
                }
                try row.setReference(entity: destination, key: key, for: field)
            case .polymorphicReference, .objectID:
                guard case .integer(let key) = value, key > 0, case .integer(let number) = entity,
                    allows(number, at: step)
                else { return "is not a key with a valid entity number" }
                try row.setReference(entity: Int(number), key: key, for: field)
            case .string:
                guard case .text(let text) = value else { return "is not a text" }
                try row.set(.string(text), for: field)
            case .uri:
                guard case .text(let text) = value else { return "is not a text" }
                try row.set(.uri(text), for: field)
            case .data, .transformable:
                guard case .blob(let bytes) = value else { return "is not a blob" }
                try row.set(.data(Data(bytes)), for: field)
            }
            return nil
        } catch {
            return "is too large"
        }
    }
}

extension UUID {
    fileprivate init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        let b = bytes
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            ))
    }
}
