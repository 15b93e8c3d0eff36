// swift-tools-version: 6.2

import CompilerPluginSupport
import Foundation
import PackageDescription

/// The settings of all Swift targets, in addition to language mode 6.
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
        .library(name: "RoostQuery", targets: ["RoostQuery"]),
        .library(name: "RoostFiles", targets: ["RoostFiles"]),
        .library(name: "RoostKeyValue", targets: ["RoostKeyValue"]),
        .library(name: "RoostSQL", targets: ["RoostSQL"]),
        .library(name: "RoostConformance", targets: ["RoostConformance"]),
        .library(name: "RoostModels", targets: ["RoostModels"]),
        .executable(name: "roost", targets: ["RoostCommand"]),
        .executable(name: "roost-model-compiler", targets: ["roost-model-compiler"]),
        .plugin(name: "RoostModelPlugin", targets: ["RoostModelPlugin"]),
    ],
    traits: [
        .trait(name: "SQLite", description: "The SQLite backend and the Core Data reader; needs libsqlite3."),
        .trait(name: "LMDB", description: "The LMDB backend; needs liblmdb."),
        .trait(name: "PostgreSQL", description: "The PostgreSQL backend; needs libpq."),
        .trait(name: "Macros", description: "Models in Swift: the macro @Model of the product RoostModels."),
        .trait(
            name: "Interactive",
            description: "`roost browse` and line editing in `roost shell`; needs libmicrohttpd and libedit."),
        .trait(name: "PlantedFaults", description: "Faults that Roost's own tests plant; never for programs."),
        .default(enabledTraits: ["SQLite", "LMDB"]),
    ],
    targets: [
        // MARK: System libraries (only module maps), and targets in C

        .systemLibrary(
            name: "CSQLite", path: "Sources/C/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .systemLibrary(
            name: "CLMDB", path: "Sources/C/CLMDB", pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CPostgreSQL", path: "Sources/C/CPostgreSQL", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(
            name: "CXXHash", path: "Sources/C/CXXHash", pkgConfig: "libxxhash",
            providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
        .systemLibrary(
            name: "CZlib", path: "Sources/C/CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CMicroHTTPD", path: "Sources/C/CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        .systemLibrary(
            name: "CEdit", path: "Sources/C/CEdit", pkgConfig: "libedit",
            providers: [.apt(["libedit-dev"]), .brew(["libedit"])]),
        // The files of the page of `roost browse`, as constants.
        .target(name: "CRoostPage", path: "Sources/C/CRoostPage"),
        // Smaller data of ICU for the installed program; empty in every other build.
        .target(name: "CRoostICU", path: "Sources/C/CRoostICU"),
        // C functions for system calls such as renameat2, file locks and ioctl, and for prefetching memory.
        .target(name: "CRoostSystem", path: "Sources/C/CRoostSystem"),

        // MARK: Modules

        .target(
            name: "RoostSystem",
            dependencies: [
                "CRoostSystem"
            ], path: "Sources/Core/RoostSystem", swiftSettings: strict
        ),
        .target(
            name: "RoostJSONText",
            dependencies: [
                "CXXHash", "RoostSystem",
            ], path: "Sources/Core/RoostJSONText",
            swiftSettings: strict),
        .target(
            name: "RoostCore",
            dependencies: [
                "CXXHash", "RoostJSONText", "RoostSystem",
            ],
            path: "Sources/Core/RoostCore",
            exclude: ["History/HISTORY-FORMAT.md", "Model/MODEL-FORMAT.md", "Values/RECORD-FORMAT.md"],
            swiftSettings: strict),
        .target(
            name: "RoostQuery",
            dependencies: [
                "CXXHash", "RoostCore", "RoostJSONText", "RoostSystem",
            ],
            path: "Sources/Query/RoostQuery", swiftSettings: strict),
        .target(
            name: "RoostPredicates",
            dependencies: [
                "RoostCore", "RoostQuery",
            ],
            path: "Sources/Query/RoostPredicates", swiftSettings: strict),
        .target(
            name: "RoostText",
            dependencies: [
                "RoostCore", "RoostJSONText", "RoostSystem",
            ],
            path: "Sources/Core/RoostText",
            swiftSettings: strict),
        .target(
            name: "RoostFiles",
            dependencies: [
                "RoostCore", "RoostSystem",
            ], path: "Sources/Core/RoostFiles",
            swiftSettings: strict),
        .target(
            name: "RoostKeyValue",
            dependencies: [
                "RoostCore", "RoostQuery", "RoostSystem",
            ],
            path: "Sources/Engines/RoostKeyValue", exclude: ["FORMAT.md"], swiftSettings: strict),
        .target(
            name: "RoostSQL",
            dependencies: [
                "RoostCore", "RoostQuery", "RoostSystem",
            ],
            path: "Sources/Engines/RoostSQL", swiftSettings: strict),
        .target(
            name: "RoostMemory",
            dependencies: [
                "RoostCore", "RoostKeyValue", "RoostSystem",
            ],
            path: "Sources/Backends/RoostMemory", swiftSettings: strict),
        .target(
            name: "RoostJSON",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostJSONText", "RoostKeyValue", "RoostMemory", "RoostQuery", "RoostSystem",
                "RoostText",
            ], path: "Sources/Backends/RoostJSON",
            exclude: ["FORMAT.md"], swiftSettings: strict),
        .target(
            name: "RoostLMDB",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostKeyValue", "RoostSystem",
                .target(name: "CLMDB", condition: .when(traits: ["LMDB"])),
            ], path: "Sources/Backends/RoostLMDB",
            exclude: ["FORMAT.md"],
            swiftSettings: strict),
        .target(
            name: "RoostSQLite",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostQuery", "RoostSQL", "RoostSystem",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ], path: "Sources/Backends/RoostSQLite",
            exclude: ["FORMAT.md"],
            swiftSettings: strict),
        .target(
            name: "RoostPostgreSQL",
            dependencies: [
                "RoostCore", "RoostJSONText", "RoostSQL", "RoostSystem",
                .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ], path: "Sources/Backends/RoostPostgreSQL",
            exclude: ["FORMAT.md"],
            swiftSettings: strict),
        .target(
            name: "RoostGraph",
            dependencies: [
                "RoostCore", "RoostPredicates", "RoostQuery", "RoostStores", "RoostSystem",
            ], path: "Sources/Graph/RoostGraph",
            swiftSettings: strict),
        .target(
            name: "RoostAppleModels",
            dependencies: [
                "RoostCore", "RoostSystem",
            ], path: "Sources/Apple/RoostAppleModels",
            swiftSettings: strict),
        // SQLite databases of other programs, read and never changed.
        .target(
            name: "RoostForeignSQLite",
            dependencies: [
                "RoostCore", "RoostSystem",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ], path: "Sources/Core/RoostForeignSQLite",
            swiftSettings: strict),
        .target(
            name: "RoostCoreData",
            dependencies: [
                "CZlib", "RoostAppleModels", "RoostCore", "RoostFiles", "RoostForeignSQLite", "RoostMigration",
                "RoostQuery",
                "RoostSystem",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ], path: "Sources/Apple/RoostCoreData",
            swiftSettings: strict),
        .target(
            name: "RoostMigration",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostJSONText", "RoostPredicates", "RoostQuery", "RoostSystem", "RoostText",
            ],
            path: "Sources/Migration/RoostMigration",
            exclude: ["Mapping/MAPPING-FORMAT.md", "Dumps/DUMP-FORMAT.md"], swiftSettings: strict),
        .target(
            name: "RoostStores",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostJSONText", "RoostMigration", "RoostPredicates", "RoostQuery",
                "RoostSystem",
            ],
            path: "Sources/Stores/RoostStores", swiftSettings: strict),
        .target(
            name: "Roost",
            dependencies: [
                "RoostAppleModels", "RoostCore", "RoostCoreData", "RoostFiles", "RoostGraph", "RoostJSON",
                "RoostMemory", "RoostMigration", "RoostPredicates", "RoostQuery", "RoostStores",
                .target(name: "RoostLMDB", condition: .when(traits: ["LMDB"])),
                .target(name: "RoostPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "RoostSQLite", condition: .when(traits: ["SQLite"])),
            ],
            swiftSettings: strict),
        .target(
            name: "RoostConformance",
            dependencies: [
                "RoostCore", "RoostGraph", "RoostMigration", "RoostPredicates", "RoostQuery", "RoostStores",
                "RoostSystem",
            ],
            path: "Conformance", swiftSettings: strict),
        .target(
            name: "RoostModelCode",
            dependencies: [
                "RoostCore"
            ], path: "Sources/Graph/RoostModelCode",
            swiftSettings: strict),
        .target(
            name: "RoostExpansion",
            dependencies: [
                "RoostJSONText"
            ], path: "Sources/Graph/RoostExpansion",
            swiftSettings: strict),
        // The program that the compiler runs for @Model. It speaks the compiler's plugin protocol itself, so it needs no other package.
        // No test has it as a direct dependency: SwiftPM would build all tests and what they need a second time, for the host.
        .macro(
            name: "RoostMacros",
            dependencies: [
                "RoostExpansion", "RoostSystem",
            ], path: "Sources/Graph/RoostMacros",
            swiftSettings: strict),
        .target(
            name: "RoostModels",
            dependencies: [
                "Roost", "RoostCore", "RoostGraph",
                .target(name: "RoostMacros", condition: .when(traits: ["Macros"])),
            ], path: "Sources/Graph/RoostModels",
            swiftSettings: strict),
        // Named like its product, because SwiftPM looks for the tools of plugins by the names of their targets.
        .executableTarget(
            name: "roost-model-compiler",
            dependencies: [
                "RoostAppleModels", "RoostCore", "RoostFiles", "RoostModelCode",
            ], path: "Sources/Tools/RoostModelCompiler",
            swiftSettings: strict),
        .plugin(
            name: "RoostModelPlugin", capability: .buildTool(), dependencies: ["roost-model-compiler"]),
        // Imports text files and databases of other programs.
        .target(
            name: "RoostImport",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostForeignSQLite", "RoostJSONText", "RoostMigration", "RoostQuery",
                "RoostStores", "RoostSystem",
                .target(name: "RoostPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ], path: "Sources/Tools/RoostImport",
            swiftSettings: strict),
        // The page of `roost browse` and the server that it talks to.
        .target(
            name: "RoostViewer",
            dependencies: [
                "RoostAppleModels", "RoostCore", "RoostGraph", "RoostImport", "RoostJSONText", "RoostMigration",
                "RoostQuery", "RoostStores", "RoostSystem",
                .target(name: "CMicroHTTPD", condition: .when(traits: ["Interactive"])),
                .target(name: "CRoostPage", condition: .when(traits: ["Interactive"])),
            ], path: "Sources/Tools/RoostViewer",
            exclude: ["Page"],
            swiftSettings: strict),
        .executableTarget(
            name: "RoostCommand",
            dependencies: [
                "CRoostICU", "Roost", "RoostConformance", "RoostCore", "RoostCoreData", "RoostFiles", "RoostGraph",
                "RoostImport", "RoostJSONText", "RoostMemory", "RoostMigration", "RoostModelCode", "RoostQuery",
                "RoostStores",
                "RoostSystem", "RoostText", "RoostViewer",
                .target(name: "CEdit", condition: .when(traits: ["Interactive"])),
            ], path: "Sources/Tools/RoostCommand",
            swiftSettings: strict),

        // MARK: The examples of docs/write-a-backend.md; Examples/Backends makes them a package of their own

        .target(
            name: "SortedFile",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostKeyValue",
            ],
            path: "Examples/Backends/Sources/SortedFile", swiftSettings: strict),
        .target(
            name: "CSV",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostQuery",
            ], path: "Examples/Backends/Sources/CSV",
            swiftSettings: strict),
        .executableTarget(
            name: "SortedFilePeer",
            dependencies: [
                "RoostConformance", "SortedFile",
            ],
            path: "Examples/Backends/Sources/SortedFilePeer", swiftSettings: strict),
        .executableTarget(
            name: "SortedFileSuite",
            dependencies: [
                "RoostConformance", "SortedFile",
            ],
            path: "Examples/Backends/Sources/SortedFileSuite", swiftSettings: strict),
        .testTarget(
            name: "SortedFileTests",
            dependencies: [
                "RoostConformance", "SortedFile", "SortedFilePeer",
            ],
            path: "Examples/Backends/Tests/SortedFileTests", swiftSettings: strict),
        .testTarget(
            name: "CSVTests",
            dependencies: [
                "CSV", "Roost", "RoostConformance", "RoostCore",
            ],
            path: "Examples/Backends/Tests/CSVTests", swiftSettings: strict),

        // MARK: Tests

        // Models, values and random numbers that several test modules use.
        .target(
            name: "TestSamples",
            dependencies: [
                "RoostCore", "RoostQuery",
            ], path: "Tests/TestSamples",
            swiftSettings: strict),
        .testTarget(
            name: "RoostCoreTests",
            dependencies: [
                "RoostCore", "RoostSystem", "TestSamples",
            ], swiftSettings: strict),
        .testTarget(
            name: "RoostQueryTests",
            dependencies: [
                "RoostCore", "RoostPredicates", "RoostQuery", "TestSamples",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostJSONTextTests",
            dependencies: [
                "RoostJSONText"
            ], swiftSettings: strict),
        .testTarget(
            name: "RoostTextTests",
            dependencies: [
                "RoostCore", "RoostJSONText", "RoostText",
            ], swiftSettings: strict),
        .testTarget(
            name: "RoostFilesTests",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostSystem",
            ], swiftSettings: strict),
        .testTarget(
            name: "RoostKeyValueTests",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostKeyValue", "RoostMemory", "RoostPredicates", "RoostQuery",
                "RoostSystem",
                .target(name: "CLMDB", condition: .when(traits: ["LMDB"])),
                .target(name: "RoostLMDB", condition: .when(traits: ["LMDB"])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostJSONTests",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostJSON", "RoostJSONText", "RoostKeyValue", "RoostStores", "RoostText",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostSQLTests",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostMemory", "RoostPredicates", "RoostQuery", "RoostSQL", "RoostStores",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
                .target(name: "RoostSQLite", condition: .when(traits: ["SQLite"])),
            ],
            exclude: ["Fixtures"], swiftSettings: strict),
        .executableTarget(
            name: "PostgreSQLPeer",
            dependencies: [
                "RoostConformance", "RoostCore",
                .target(name: "RoostPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ], path: "Tests/PostgreSQLPeer",
            swiftSettings: strict),
        .testTarget(
            name: "RoostPostgreSQLTests",
            dependencies: [
                "PostgreSQLPeer", "RoostConformance", "RoostCore", "RoostMemory", "RoostMigration", "RoostQuery",
                "RoostSQL", "RoostStores", "RoostSystem",
                .target(name: "RoostPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ], swiftSettings: strict),
        .testTarget(
            name: "RoostCoreDataTests",
            dependencies: [
                "CampaignChild", "CampaignSupport", "Roost", "RoostAppleModels", "RoostCore", "RoostCoreData",
                "RoostMigration", "RoostQuery", "TestSamples",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostMigrationTests",
            dependencies: [
                "Roost", "RoostConformance", "RoostCore", "RoostFiles", "RoostMigration", "RoostQuery", "RoostStores",
                "RoostSystem", "TestSamples",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostStoresTests",
            dependencies: [
                "Roost", "RoostCore", "RoostMigration", "RoostPredicates", "RoostQuery", "RoostStores", "RoostSystem",
                "TestSamples",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostGraphTests",
            dependencies: [
                "Roost", "RoostConformance", "RoostCore", "RoostGraph", "RoostQuery", "RoostStores", "RoostSystem",
                "TestSamples",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostTests",
            dependencies: [
                "CSV", "Roost", "RoostCore", "RoostFiles", "RoostMigration", "RoostStores", "RoostSystem", "SortedFile",
            ],
            swiftSettings: strict),
        // Stores that older programs wrote, in Tests/Fixtures.
        .testTarget(
            name: "FormatTests",
            dependencies: [
                "Roost", "RoostCore", "RoostMigration", "RoostStores", "RoostSystem",
            ],
            swiftSettings: strict),
        // The tests run the model compiler, which is built beside them, as a process.
        .testTarget(
            name: "RoostModelCodeTests",
            dependencies: [
                "RoostAppleModels", "RoostCore", "RoostModelCode", "roost-model-compiler",
            ],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "RoostExpansionTests",
            dependencies: [
                "RoostExpansion", "RoostJSONText",
            ], swiftSettings: strict),
        .testTarget(
            name: "RoostModelsTests",
            dependencies: [
                "Roost", "RoostCore", "RoostExpansion", "RoostGraph", "RoostModelCode", "RoostModels",
            ], exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "RoostImportTests",
            dependencies: [
                "Roost", "RoostCore", "RoostImport", "RoostMigration", "RoostStores", "RoostSystem", "TestSamples",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
                .target(name: "RoostPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostViewerTests",
            dependencies: [
                "Roost", "RoostCore", "RoostJSONText", "RoostQuery", "RoostStores", "RoostSystem", "RoostViewer",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostCommandTests",
            dependencies: [
                "Roost", "RoostCommand", "RoostConformance", "RoostCore", "RoostFiles", "RoostMigration", "RoostSystem",
                "TestSamples",
            ],
            swiftSettings: strict),
        // An SQL backend with only the required members of the SQL engine's protocols. Its checks start PlainSQLPeer as
        // their second process.
        .target(
            name: "PlainSQL",
            dependencies: [
                "RoostCore", "RoostFiles", "RoostSQL",
                .target(name: "RoostSQLite", condition: .when(traits: ["SQLite"])),
            ], path: "Tests/PlainSQL", swiftSettings: strict),
        .executableTarget(
            name: "PlainSQLPeer",
            dependencies: [
                "PlainSQL", "RoostConformance",
            ], path: "Tests/PlainSQLPeer",
            swiftSettings: strict),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "PlainSQL", "PlainSQLPeer", "Roost", "RoostCommand", "RoostConformance", "RoostCore", "RoostFiles",
                "RoostKeyValue", "RoostQuery",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RoostGraphConformanceTests",
            dependencies: [
                "Roost", "RoostConformance", "RoostCore", "RoostGraph", "SortedFile",
            ], swiftSettings: strict),
        // CostChild is the process that counts what operations cost. In it, functions of CallCounter replace functions
        // of the C library and SQLite.
        .target(name: "CallCounter", path: "Tests/CallCounter"),
        .executableTarget(
            name: "CostChild",
            dependencies: [
                "CallCounter", "Roost", "RoostConformance", "RoostCore", "RoostGraph", "RoostMigration", "RoostStores",
            ],
            path: "Tests/CostChild", swiftSettings: strict),
        .testTarget(
            name: "CostTests",
            dependencies: [
                "CostChild"
            ], exclude: ["instructions.json", "instructions-tests.json", "limits.json"], swiftSettings: strict),
        // The process that CrashTests start and kill.
        .executableTarget(
            name: "CrashChild",
            dependencies: [
                "Roost", "RoostConformance", "RoostCore", "RoostMigration", "RoostStores",
            ],
            path: "Tests/CrashChild", swiftSettings: strict),
        // CrashTests start CrashLabChild, in which functions of CrashRecorder replace functions of the C library and
        // record its changes of files. CrashTests do not depend on it, because their own process would get these
        // functions too. They find the program beside the tests, because every build includes it.
        .target(name: "CrashRecorder", path: "Tests/CrashRecorder"),
        .executableTarget(
            name: "CrashLabChild",
            dependencies: [
                "CrashRecorder", "Roost", "RoostConformance", "RoostCore", "RoostMigration",
            ],
            path: "Tests/CrashLabChild", swiftSettings: strict),
        // Long campaigns of damaged files, kills and limits; the usual tests have a sample of each.
        .target(
            name: "CampaignSupport",
            dependencies: [
                "RoostCore", "RoostMigration", "RoostStores", "RoostSystem",
            ],
            path: "Tests/CampaignSupport",
            swiftSettings: strict),
        .executableTarget(
            name: "CampaignChild",
            dependencies: [
                "CampaignSupport", "Roost", "RoostCore",
            ],
            path: "Tests/CampaignChild", swiftSettings: strict),
        .testTarget(
            name: "CampaignTests",
            dependencies: [
                "CampaignChild", "CampaignSupport", "Roost", "RoostCommand", "RoostMigration", "RoostSystem",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "CrashChild", "Roost", "RoostConformance", "RoostCore", "RoostFiles", "RoostMigration", "RoostStores",
                "RoostSystem",
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// `ROOST_ONLY=RoostQuery` keeps only the tests of one module and what they need, so that they build in a fraction of the time.
if let only = Context.environment["ROOST_ONLY"] {
    let tests = only.hasSuffix("Tests") ? only : "\(only)Tests"
    let known = package.targets.filter { $0.type == .test }.map { String($0.name.dropLast("Tests".count)) }.sorted()
    guard package.targets.contains(where: { $0.type == .test && $0.name == tests }) else {
        let message = "ROOST_ONLY: '\(only)' has no tests of its own. Use one of: \(known.joined(separator: ", "))\n"
        FileHandle.standardError.write(Data(message.utf8))
        exit(1)
    }
    var needed: Set<String> = [tests]
    var count = 0
    while count != needed.count {
        count = needed.count
        for target in package.targets where needed.contains(target.name) {
            for dependency in target.dependencies {
                switch dependency {
                case .targetItem(let name, _), .byNameItem(let name, _): needed.insert(name)
                default: break
                }
            }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}

// `ROOST_OPTIMIZED=1` also optimizes debug builds of the libraries that stores and contexts consist of. Their build
// takes longer, but the tests save more time. Optimizing the other libraries would cost as much build time as it saves.
if Context.environment["ROOST_OPTIMIZED"] != nil {
    let flags = [
        "-O", "-whole-module-optimization", "-num-threads", "2", "-disable-batch-mode", "-assert-config", "Debug",
    ]
    let folders = [
        "Sources/Core/", "Sources/Query/", "Sources/Engines/", "Sources/Backends/", "Sources/Stores/", "Sources/Roost",
        "Sources/Graph/RoostGraph", "Tests/CostChild",
    ]
    for target in package.targets {
        guard let path = target.path, folders.contains(where: { path.hasPrefix($0) }) else { continue }
        target.swiftSettings?.append(.unsafeFlags(flags, .when(configuration: .debug)))
    }
}

// `ROOST_UNOPTIMIZED="RoostConformance RoostMigration"` turns off the optimization of these libraries in release
// builds, for programs that hardly use them. Optimizing RoostConformance would take a quarter of `make demo`.
if let names = Context.environment["ROOST_UNOPTIMIZED"]?.split(separator: " ").map(String.init) {
    for target in package.targets where names.contains(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
    }
}
