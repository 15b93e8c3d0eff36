import CampaignSupport
import Foundation
import Roost
import RoostCore

/// The child process of `DamageCampaign`; it tries damaged files.
///
/// Its arguments are `TYPE BASE DIRECTORY SEED FIRST STEP LAST`; the last three select the files by
/// number. With `reproduce` as first argument, it tries only file FIRST, which remains as
/// DIRECTORY/d.
@main
struct CampaignChild {
    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isReproducing = arguments.first == "reproduce"
        if isReproducing { arguments.removeFirst() }
        guard arguments.count == 7, let seed = UInt64(arguments[3]), let first = Int(arguments[4]),
            let step = Int(arguments[5]), let last = Int(arguments[6]), step > 0
        else {
            FileHandle.standardError.write(
                Data("usage: CampaignChild [reproduce] TYPE BASE DIRECTORY SEED FIRST STEP LAST\n".utf8))
            exit(3)
        }
        do {
            let trials = try DamageTrials(
                type: arguments[0], base: arguments[1], directory: arguments[2], seed: seed,
                registry: StoreRegistry.standard)
            for number in stride(from: first, through: isReproducing ? first : last, by: step) {
                try say("begin \(number)")
                try say(try trials.run(number).line)
            }
        } catch {
            FileHandle.standardError.write(Data("CampaignChild: \(error)\n".utf8))
            exit(3)
        }
    }

    private static func say(_ text: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }
}
