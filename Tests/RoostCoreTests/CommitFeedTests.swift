import RoostSystem
import Testing

@testable import RoostCore

private let place = StoreLocation(type: "memory", path: "")

@Suite("The commit feed")
struct CommitFeedTests {
    private final class Origin: Sendable {}

    private final class Listening: Sendable {
        let feed = CommitFeed.of(nil)
        private let list = Mutex<[SaveNotice]>([])
        private let open = Mutex<[Int]>([])

        init(ignoring origin: Origin? = nil, at generation: UInt64 = 0) {
            _ = feed.add(ignoring: origin.map(ObjectIdentifier.init)) { [list] notice in
                list.withLock { $0.append(notice) }
            }
            look(at: generation)
        }

        /// The generations of the notices since the last call; a minus sign marks an incomplete
        /// notice.
        var taken: [String] {
            list.withLock { notices in
                defer { notices = [] }
                return notices.map { "\($0.isComplete ? "" : "-")\($0.previousGeneration)>\($0.generation)" }
            }
        }

        @discardableResult
        func begin(_ count: Int = 1) -> [Int] {
            let numbers = (0..<count).map { _ in feed.beginCommit() }
            open.withLock { $0 += numbers }
            return numbers
        }

        /// Ends the commit `number`; nil ends the first running commit.
        func end(_ from: UInt64, to: UInt64, by origin: Origin? = nil, number: Int? = nil) {
            let (from, to) = (Generation(number: from), Generation(number: to))
            let ended = open.withLock { open in
                let index = number.flatMap { open.firstIndex(of: $0) } ?? open.startIndex
                return open.remove(at: index)
            }
            feed.endCommit(
                ended, generations: (from, to), of: place, origin: origin.map(ObjectIdentifier.init),
                notice: SaveNotice(store: place, generations: (from, to), lists: SaveNotice.Lists()))
        }

        @discardableResult
        func look(at generation: UInt64, hasHistory: Bool = false) -> Bool {
            guard let ticket = feed.ticket() else { return false }
            var look = CommitFeed.Look(at: Generation(number: generation), of: place, ticket: ticket)
            look.hasHistory = hasHistory
            return feed.look(look)
        }
    }

    @Test("save notices come in the order of commits, whichever commit ends first")
    func arrivesInOrderOfCommits() {
        let listening = Listening()
        listening.begin(3)
        listening.end(2, to: 3)
        listening.end(1, to: 2)
        #expect(listening.taken.isEmpty)
        listening.end(0, to: 1)
        #expect(listening.taken == ["0>1", "1>2", "2>3"])
    }

    @Test("another process's commit gives an incomplete notice, even to a listener that ignores its own commits")
    func gaps() {
        for origin in [nil, Origin()] {
            let listening = Listening(ignoring: origin)
            listening.begin()
            listening.end(1, to: 2, by: origin)
            #expect(listening.taken == (origin == nil ? ["-0>1", "1>2"] : ["-0>1"]))
            listening.look(at: 2)
            #expect(listening.taken.isEmpty)
            listening.look(at: 5)
            #expect(listening.taken == ["-2>5"])
        }
    }

    @Test("looking at a store never mistakes a commit of this process for a foreign one")
    func looks() {
        let listening = Listening()
        let ticket = listening.feed.ticket()
        listening.begin()
        #expect(!listening.look(at: 1), "a commit is under way")
        listening.end(0, to: 1)
        #expect(listening.taken == ["0>1"])
        // The look began before the commit, and saw the previous state.
        if let ticket {
            #expect(!listening.feed.look(CommitFeed.Look(at: .initial, of: place, ticket: ticket)))
        }
        #expect(listening.taken.isEmpty)
        #expect(listening.look(at: 1))
        #expect(listening.taken.isEmpty)
    }

    @Test("a notice after a gap waits for the history of the gap, but for at most 64 commits")
    func history() {
        let listening = Listening()
        listening.look(at: 0, hasHistory: true)
        listening.begin()
        listening.end(1, to: 2)
        #expect(listening.taken.isEmpty)
        listening.look(at: 2, hasHistory: true)
        #expect(listening.taken == ["-0>2"])
        for number in UInt64(10)..<75 {
            listening.begin()
            listening.end(number, to: number + 1)
        }
        #expect(listening.taken.first == "-2>10")
    }

    @Test("notices of overlapping commits come in the order in which the commits began, without gaps")
    func overlapping() {
        let listening = Listening()
        listening.feed.setAddsGenerations(true)
        let numbers = listening.begin(4)
        // No commit has seen another commit. The second commit changes nothing.
        listening.end(0, to: 40, number: numbers[3])
        listening.end(0, to: 20, number: numbers[2])
        #expect(listening.taken.isEmpty)
        listening.end(0, to: 10, number: numbers[0])
        #expect(listening.taken == ["0>10"])
        listening.feed.endCommit(numbers[1])
        #expect(listening.taken == ["10>30", "30>70"])
        listening.look(at: 70)
        #expect(listening.taken.isEmpty)
        // Commits of another process added 5 to the generation.
        listening.look(at: 75)
        #expect(listening.taken == ["-70>75"])
    }

    @Test("a commit that outlasts 65 others stops delaying them and gives an incomplete notice")
    func overlappingForLong() {
        let listening = Listening()
        listening.feed.setAddsGenerations(true)
        let slow = listening.begin()[0]
        for _ in 0..<65 { listening.end(0, to: 1, number: listening.begin()[0]) }
        #expect(listening.taken.count == 65)
        listening.end(0, to: 100, number: slow)
        #expect(listening.taken == ["-65>165"])
    }

    @Test("waiting notices of a store whose generations are sums join into one")
    func joiningSums() {
        func notice(_ from: UInt64, to: UInt64, inserted id: ObjectID) -> SaveNotice {
            var notice = SaveNotice(
                store: place, generations: (Generation(number: from), Generation(number: to)),
                lists: SaveNotice.Lists(inserted: [id]))
            notice.addsGenerations = true
            return notice
        }
        var waiting = WaitingNotices()
        for key: Int64 in 1...3 { waiting.append(notice(1, to: 1 + UInt64(key), inserted: ObjectID("A", key: key))) }
        let notices = waiting.takeAll()
        #expect(notices.map(\.inserted.count) == [3])
        #expect(notices.first?.previousGeneration.number == 1 && notices.first?.generation.number == 7)
    }

    @Test("waiting notices join if no generation between them is missing")
    func joining() {
        func notice(_ from: UInt64, to: UInt64, lists: SaveNotice.Lists?) -> SaveNotice {
            SaveNotice(
                store: place, generations: (Generation(number: from), Generation(number: to)), lists: lists)
        }
        let (a, b, c) = (ObjectID("A", key: 1), ObjectID("A", key: 2), ObjectID("A", key: 3))
        var waiting = WaitingNotices()
        waiting.append(notice(0, to: 1, lists: .init(inserted: [a, b], updated: [c])))
        waiting.append(notice(1, to: 2, lists: .init(updated: [a], deleted: [b, c])))
        waiting.append(notice(2, to: 3, lists: .init(inserted: [c])))
        waiting.append(notice(7, to: 8, lists: .init(updated: [a])))
        let notices = waiting.takeAll()
        #expect(notices.map(\.generation.description) == ["3", "8"])
        #expect(notices[0].inserted == [a] && notices[0].updated == [c] && notices[0].deleted == [b])
        #expect(notices[0].previousGeneration == .initial && notices[0].isComplete)
        waiting.append(notice(0, to: 1, lists: .init(inserted: [a])))
        waiting.append(notice(1, to: 2, lists: nil))
        waiting.append(notice(2, to: 3, lists: .init(inserted: [b])))
        let last = waiting.takeFirst()
        #expect(last?.isComplete == false && last?.inserted.isEmpty == true && waiting.isEmpty)
    }
}
