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
    dependencies: [.package(name: "Roost", path: "..")],
    targets: [
        // What both sides keep: the objects, made from their numbers, and the checksum that proves they read the same.
        .target(name: "CTracks"),
        // What a C programmer would write with the same libraries (C++ where the library asks for it).
        .target(
            name: "CBaselines", dependencies: ["CTracks"],
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
        // Objects in contexts; others can be put beside them by hand.
        .executableTarget(
            name: "ObjectBenchmarks", dependencies: [.product(name: "Roost", package: "Roost")],
            swiftSettings: strict, plugins: [.plugin(name: "RoostModelPlugin", package: "Roost")]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
