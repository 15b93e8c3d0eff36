import Testing

@testable import RoostFiles

@Suite("Network file systems")
struct NetworkFileSystemTests {
    #if os(Linux)
        @Test(
            "the type numbers of network file systems are recognized",
            arguments: [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B, 0x0102_1997, 0x6573_5546, 0x0BD0_0BD0])
        func recognizesNetworkFileSystem(type: UInt64) {
            #expect(StoreFile.networkFileSystem(type: type) != nil)
        }

        @Test(
            "ext4, XFS, Btrfs, tmpfs and overlayfs count as local file systems",
            arguments: [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630])
        func treatsDiskFileSystemAsLocal(type: UInt64) {
            #expect(StoreFile.networkFileSystem(type: type) == nil)
        }
    #endif
}
