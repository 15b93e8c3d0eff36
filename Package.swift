// swift-tools-version: 6.2

import PackageDescription

/// Settings every Swift target of the package is built with; language mode 6 comes with the tools version.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Roost",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Roost", targets: ["Roost"]),
        .library(name: "RoostCore", targets: ["RoostCore"]),
        .library(name: "RoostFiles", targets: ["RoostFiles"]),
        .library(name: "RoostKeyValue", targets: ["RoostKeyValue"]),
        .library(name: "RoostSQL", targets: ["RoostSQL"]),
        .library(name: "RoostConformance", targets: ["RoostConformance"]),
        .executable(name: "roost", targets: ["RoostCommand"]),
    ],
    traits: [
        .trait(name: "SQLite", description: "The SQLite backend and the Core Data reader; needs libsqlite3."),
        .trait(name: "LMDB", description: "The LMDB backend; needs liblmdb."),
        .default(enabledTraits: ["SQLite", "LMDB"]),
    ],
    targets: [
        // MARK: System libraries: module maps, nothing else

        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        // What Swift does not show of the system: renameat2, ioctl and statfs constants, memmem, fetching memory ahead.
        .target(name: "CRoostSystem"),

        // MARK: The house, from the ground up

        .target(
            name: "RoostCore", dependencies: ["CXXHash", "CRoostSystem"],
            exclude: ["Mapping/MAPPING-FORMAT.md", "Model/MODEL-FORMAT.md", "Values/RECORD-FORMAT.md"],
            swiftSettings: strict),
        .target(name: "RoostText", dependencies: ["RoostCore", "CXXHash"], swiftSettings: strict),
        .target(name: "RoostFiles", dependencies: ["RoostCore", "CRoostSystem"], swiftSettings: strict),
        .target(
            name: "RoostKeyValue", dependencies: ["RoostCore"], exclude: ["FORMAT.md"], swiftSettings: strict),
        .target(name: "RoostSQL", dependencies: ["RoostCore"], swiftSettings: strict),
        .target(
            name: "RoostMemory", dependencies: ["RoostCore", "RoostKeyValue", "CRoostSystem"], swiftSettings: strict),
        .target(
            name: "RoostJSON",
            dependencies: ["RoostCore", "RoostFiles", "RoostKeyValue", "RoostMemory", "RoostText"],
            exclude: ["FORMAT.md"], swiftSettings: strict),
        .target(
            name: "RoostLMDB",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostKeyValue",
                .target(name: "CLMDB", condition: .when(traits: ["LMDB"])),
            ],
            exclude: ["FORMAT.md"],
            swiftSettings: strict),
        .target(
            name: "RoostSQLite",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostSQL",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ],
            exclude: ["FORMAT.md"],
            swiftSettings: strict),
        .target(
            name: "RoostCoreData",
            dependencies: [
                "RoostCore", "RoostFiles", "CZlib",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ],
            swiftSettings: strict),
        .target(
            name: "RoostMigration", dependencies: ["RoostCore", "RoostFiles", "RoostText"],
            exclude: ["Dump/DUMP-FORMAT.md"], swiftSettings: strict),
        .target(
            name: "Roost",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostKeyValue", "RoostSQL", "RoostMemory", "RoostJSON",
                "RoostCoreData", "RoostMigration",
                .target(name: "RoostLMDB", condition: .when(traits: ["LMDB"])),
                .target(name: "RoostSQLite", condition: .when(traits: ["SQLite"])),
            ],
            swiftSettings: strict),
        .target(name: "RoostConformance", dependencies: ["RoostCore"], path: "Conformance", swiftSettings: strict),
        .executableTarget(
            name: "RoostCommand",
            dependencies: [
                "Roost", "RoostCore", "RoostFiles", "RoostText", "RoostConformance", "RoostMigration", "CRoostSystem",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ],
            swiftSettings: strict),

        // MARK: The examples of docs/write-a-backend.md; Examples/Backends makes them a package of their own

        .target(
            name: "SortedFile", dependencies: ["RoostCore", "RoostFiles", "RoostKeyValue"],
            path: "Examples/Backends/Sources/SortedFile", swiftSettings: strict),
        .target(
            name: "CSV", dependencies: ["RoostCore", "RoostFiles"], path: "Examples/Backends/Sources/CSV",
            swiftSettings: strict),
        .executableTarget(
            name: "SortedFilePeer", dependencies: ["SortedFile", "RoostConformance"],
            path: "Examples/Backends/Sources/SortedFilePeer", swiftSettings: strict),
        .executableTarget(
            name: "SortedFileSuite", dependencies: ["SortedFile", "RoostConformance"],
            path: "Examples/Backends/Sources/SortedFileSuite", swiftSettings: strict),
        .testTarget(
            name: "SortedFileTests", dependencies: ["SortedFile", "SortedFilePeer", "RoostConformance"],
            path: "Examples/Backends/Tests/SortedFileTests", swiftSettings: strict),
        .testTarget(
            name: "CSVTests", dependencies: ["CSV", "RoostConformance", "RoostCore"],
            path: "Examples/Backends/Tests/CSVTests", swiftSettings: strict),

        // MARK: Tests

        .testTarget(name: "RoostCoreTests", dependencies: ["RoostCore"], swiftSettings: strict),
        .testTarget(name: "RoostTextTests", dependencies: ["RoostText", "RoostCore"], swiftSettings: strict),
        .testTarget(name: "RoostFilesTests", dependencies: ["RoostFiles", "RoostCore"], swiftSettings: strict),
        .testTarget(
            name: "RoostKeyValueTests",
            dependencies: [
                "RoostKeyValue", "RoostMemory", "RoostCore", "RoostFiles",
                .target(name: "RoostLMDB", condition: .when(traits: ["LMDB"])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostJSONTests",
            dependencies: ["RoostJSON", "RoostCore", "RoostFiles", "RoostKeyValue", "RoostMemory", "RoostText"],
            swiftSettings: strict),
        .testTarget(
            name: "RoostSQLTests",
            dependencies: [
                "RoostSQL", "RoostCore", "RoostFiles", "RoostMemory",
                .target(name: "RoostSQLite", condition: .when(traits: ["SQLite"])),
            ],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "RoostCoreDataTests",
            dependencies: [
                "RoostCoreData", "RoostCore", "RoostMigration", "Roost", "CampaignSupport", "CampaignChild",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostMigrationTests",
            dependencies: ["RoostMigration", "Roost", "RoostCore", "RoostFiles", "RoostConformance"],
            swiftSettings: strict),
        .testTarget(
            name: "RoostTests", dependencies: ["Roost", "RoostCore", "RoostFiles", "CSV", "SortedFile"],
            swiftSettings: strict),
        // Stores that older programs wrote, in Tests/Fixtures.
        .testTarget(
            name: "FormatTests", dependencies: ["Roost", "RoostCore", "RoostMigration"], swiftSettings: strict),
        .testTarget(
            name: "RoostCommandTests",
            dependencies: ["RoostCommand", "Roost", "RoostFiles", "RoostMigration", "RoostConformance"],
            swiftSettings: strict),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "RoostConformance", "Roost", "RoostCore", "RoostCommand", "RoostFiles", "RoostKeyValue",
            ],
            swiftSettings: strict),
        // The process that counts what operations cost, with functions of its own in the place of the C library's.
        .target(name: "CallCounter", path: "Tests/CallCounter"),
        .executableTarget(
            name: "CostChild",
            dependencies: ["CallCounter", "Roost", "RoostCore", "RoostConformance", "RoostMigration"],
            path: "Tests/CostChild", swiftSettings: strict),
        .testTarget(
            name: "CostTests", dependencies: ["CostChild"], exclude: ["limits.json"], swiftSettings: strict),
        // The process that CrashTests start and kill.
        .executableTarget(
            name: "CrashChild", dependencies: ["Roost", "RoostCore", "RoostConformance", "RoostMigration"],
            path: "Tests/CrashChild", swiftSettings: strict),
        // The process whose changes of files they record, with functions of its own in the place of the C library's. No dependency of
        // CrashTests, whose process would get these functions too: it is built with everything else and found beside the tests.
        .target(name: "CrashRecorder", path: "Tests/CrashRecorder"),
        .executableTarget(
            name: "CrashLabChild",
            dependencies: ["CrashRecorder", "Roost", "RoostCore", "RoostConformance", "RoostMigration"],
            path: "Tests/CrashLabChild", swiftSettings: strict),
        // Long campaigns of damaged files, kills and limits; the usual tests have a sample of each.
        .target(
            name: "CampaignSupport", dependencies: ["RoostCore", "RoostMigration"], path: "Tests/CampaignSupport",
            swiftSettings: strict),
        .executableTarget(
            name: "CampaignChild", dependencies: ["CampaignSupport", "Roost", "RoostCore"],
            path: "Tests/CampaignChild", swiftSettings: strict),
        .testTarget(
            name: "CampaignTests",
            dependencies: [
                "CampaignSupport", "CampaignChild", "RoostCommand", "Roost", "RoostCore", "RoostMigration",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CrashTests",
            dependencies: ["Roost", "RoostCore", "RoostFiles", "RoostConformance", "RoostMigration", "CrashChild"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
