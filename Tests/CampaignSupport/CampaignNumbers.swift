import Foundation

/// The lengths and the seed of campaigns, from environment variables or defaults.
public enum CampaignNumbers {
    /// Returns the number in an environment variable, or else `usually`.
    public static func count(_ variable: String, usually: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? usually
    }

    /// The seed of a campaign, `ROOST_CAMPAIGN_SEED` or a random one; tests print it.
    public static var seed: UInt64 {
        ProcessInfo.processInfo.environment["ROOST_CAMPAIGN_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
    }
}
