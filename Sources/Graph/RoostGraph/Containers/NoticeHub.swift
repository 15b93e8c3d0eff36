internal import RoostCore
internal import RoostSystem

/// A hub that passes save notices between the contexts of a container.
final class NoticeHub: Sendable {
    private struct WeakInbox {
        weak var inbox: Inbox?
    }

    private let inboxes = Mutex<[WeakInbox]>([])

    func makeInbox() -> Inbox {
        let inbox = Inbox()
        inboxes.withLock { inboxes in
            inboxes.removeAll { $0.inbox == nil }
            inboxes.append(WeakInbox(inbox: inbox))
        }
        return inbox
    }

    /// Returns whether another context collects notices.
    func hasReceivers(except sender: Inbox) -> Bool {
        inboxes.withLock { $0.contains { $0.inbox.map { $0 !== sender && $0.isOpen } ?? false } }
    }

    /// Puts a notice into all open inboxes except the sender's.
    func post(_ notice: SaveNotice, from sender: Inbox?) {
        let receivers = inboxes.withLock { $0.compactMap(\.inbox) }
        for inbox in receivers where inbox !== sender { inbox.put(notice) }
    }
}

/// The notices that a context has not merged yet.
///
/// The inbox is the only part of a context that other threads access.
final class Inbox: Sendable {
    private struct State {
        var notices = WaitingNotices()
        var isOpen = false
        var wakesUp: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Sets whether the inbox collects notices; closing discards the notices.
    ///
    /// A context that does not merge automatically closes its inbox.
    func setOpen(_ isOpen: Bool) {
        state.withLock { state in
            state.isOpen = isOpen
            if !isOpen { state.notices = WaitingNotices() }
        }
    }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Sets the closure that the posting thread calls when a notice arrives in an empty inbox.
    func setWakeUp(_ body: (@Sendable () -> Void)?) { state.withLock { $0.wakesUp = body } }

    func put(_ notice: SaveNotice) {
        let wakeUp = state.withLock { state in
            guard state.isOpen else { return nil as (@Sendable () -> Void)? }
            defer { state.notices.append(isLost(state) ? notice.withoutObjects : notice) }
            return state.notices.isEmpty ? state.wakesUp : nil
        }
        wakeUp?()
    }

    /// Returns whether a planted fault removes the object lists of the next notice.
    private func isLost(_ state: State) -> Bool { isPlanted(.dropsJoinedObjects) && !state.notices.isEmpty }

    var hasNotices: Bool { state.withLock { !$0.notices.isEmpty } }

    func take() -> [SaveNotice] {
        state.withLock { $0.notices.takeAll() }
    }
}

extension SaveNotice {
    fileprivate var withoutObjects: SaveNotice {
        SaveNotice(store: store, generations: (previousGeneration, generation), lists: Lists())
    }
}
