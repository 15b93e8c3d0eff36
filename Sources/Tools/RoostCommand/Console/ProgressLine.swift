internal import Foundation
internal import RoostCore
internal import RoostMigration

/// The progress of a conversion in one line, updated at most ten times a second in each phase.
final class ProgressLine: Sendable {
    private struct State {
        var lastShown: ContinuousClock.Instant?
        var lastPhase: ConversionProgress.Phase?
    }

    private let console: Console
    private let state = Mutex(State())
    private let clock = ContinuousClock()

    init(_ console: Console) { self.console = console }

    func show(_ progress: ConversionProgress) {
        let now = clock.now
        let isDue = state.withLock { state in
            let isDue =
                state.lastPhase != progress.phase || state.lastShown.map { now - $0 > .milliseconds(100) } ?? true
            if isDue { (state.lastShown, state.lastPhase) = (now, progress.phase) }
            return isDue
        }
        if isDue { console.showProgress(Self.text(progress)) }
    }

    func clear() { console.showProgress("") }

    static func text(_ progress: ConversionProgress) -> String {
        var parts = progress.step.map { ["step \($0.number) of \($0.count)"] } ?? []
        parts.append(progress.phase.rawValue)
        if let fraction = progress.fraction { parts.append("\(Int(fraction * 100)) %") }
        if progress.objects > 0 { parts.append("\(progress.objects) objects") }
        if progress.links > 0 { parts.append("\(progress.links) links") }
        if progress.rate > 0 { parts.append("\(Int(progress.rate))/s") }
        if let secondsLeft = progress.secondsLeft { parts.append("\(Int(secondsLeft.rounded(.up))) s left") }
        if let current = progress.current { parts.append(current) }
        return parts.joined(separator: "  ")
    }
}
