// swift-tools-version: 6.2

import PackageDescription

/// The same settings as those of the package that is measured.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    // Without this trait nothing needs libpq: `swift build --traits PostgreSQL` measures the PostgreSQL backend too.
    traits: [.trait(name: "PostgreSQL", description: "The PostgreSQL backend and its baseline; needs libpq.")],
    dependencies: [
        .package(
            name: "Roost", path: "..",
            traits: [.defaults, .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))])
    ],
    targets: [
        // What both sides keep: the objects, made from their numbers, and the checksum that proves they read the same.
        .target(name: "CTracks"),
        // A module map, for the trait only.
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // What a C programmer would write with the same libraries (C++ where the library asks for it).
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
        // Commits to stores that record their changes, beside others.
        .executableTarget(
            name: "HistoryBenchmarks",
            dependencies: [
                .product(name: "Roost", package: "Roost"), .product(name: "RoostCore", package: "Roost"),
            ],
            swiftSettings: strict),
        // Commits side by side to a PostgreSQL server, in C and in Swift.
        .target(
            name: "CWriters", dependencies: [.target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"]))],
            cSettings: [.define("BASELINES_POSTGRESQL", .when(traits: ["PostgreSQL"]))]),
        .executableTarget(
            name: "WriterBenchmarks",
            dependencies: [
                "CWriters", .product(name: "Roost", package: "Roost"), .product(name: "RoostCore", package: "Roost"),
            ],
            swiftSettings: strict),
        // Objects in contexts; others can be put beside them by hand.
        .executableTarget(
            name: "ObjectBenchmarks", dependencies: [.product(name: "Roost", package: "Roost")],
            swiftSettings: strict, plugins: [.plugin(name: "RoostModelPlugin", package: "Roost")]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
