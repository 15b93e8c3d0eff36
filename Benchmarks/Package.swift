// swift-tools-version: 6.2

import PackageDescription

/// The compiler settings of every Swift target, as in Roost.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    // The PostgreSQL backend requires libpq; build with `--traits PostgreSQL` to measure it too.
    traits: [.trait(name: "PostgreSQL", description: "The PostgreSQL backend and its baseline; needs libpq.")],
    dependencies: [
        .package(
            name: "Roost", path: "..",
            traits: [.defaults, .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))])
    ],
    targets: [
        // Computes objects from their numbers, and checksums of objects.
        .target(name: "CTracks"),
        // A module map, used only with the trait.
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // The baselines: the work of each benchmark in C or C++, with Roost's libraries.
        .target(
            name: "CBaselines",
            dependencies: ["CTracks", .target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"]))],
            cSettings: [.define("BASELINES_POSTGRESQL", .when(traits: ["PostgreSQL"]))],
            linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("lmdb"), .linkedLibrary("simdjson")]),
        .executableTarget(
            name: "RoostBenchmarks",
            dependencies: [
                "CTracks", "CBaselines", .product(name: "Roost", package: "Roost"),
                .product(name: "RoostCore", package: "Roost"), .product(name: "RoostQuery", package: "Roost"),
            ],
            swiftSettings: strict),
        // Commits to stores with and without a history.
        .executableTarget(
            name: "HistoryBenchmarks",
            dependencies: [
                .product(name: "Roost", package: "Roost"), .product(name: "RoostCore", package: "Roost"),
            ],
            swiftSettings: strict),
        // Concurrent commits to a PostgreSQL server, in C and in Swift.
        .target(
            name: "CWriters", dependencies: [.target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"]))],
            cSettings: [.define("BASELINES_POSTGRESQL", .when(traits: ["PostgreSQL"]))]),
        .executableTarget(
            name: "WriterBenchmarks",
            dependencies: [
                "CWriters", .product(name: "Roost", package: "Roost"), .product(name: "RoostCore", package: "Roost"),
            ],
            swiftSettings: strict),
        // Objects in contexts. Other object libraries can be added by hand.
        .executableTarget(
            name: "ObjectBenchmarks", dependencies: [.product(name: "Roost", package: "Roost")],
            swiftSettings: strict, plugins: [.plugin(name: "RoostModelPlugin", package: "Roost")]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
