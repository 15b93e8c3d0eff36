internal import Foundation
internal import RoostCore

final class FaultyHistoryCursor: HistoryCursor {
    private let base: any HistoryCursor
    private let fault: FaultyStoreType.Fault
    private var count = 0

    init(_ base: any HistoryCursor, fault: FaultyStoreType.Fault) { (self.base, self.fault) = (base, fault) }

    func next() throws(StoreError) -> HistoryTransaction? {
        guard var transaction = try base.next() else { return nil }
        count += 1
        switch fault {
        case .losesTransaction where count == 2: return try base.next()
        case .skipsParts where !transaction.isComplete: return try next()
        case .turnsTimeBack: transaction.date -= Double(count) * 3600
        case .forgetsProperty:
            for index in transaction.changes.indices {
                transaction.changes[index].changedProperties = Array(
                    transaction.changes[index].changedProperties.dropLast())
            }
        case .forgetsDeletedValues:
            for index in transaction.changes.indices { transaction.changes[index].preservedValues = [:] }
        case .recordsNoLinks: transaction.linkChanges = []
        default: break
        }
        return transaction
    }
}
