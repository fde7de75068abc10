/** The file systems that the power cuts are tested on: their least size, how to create and how to mount them. */
export interface FileSystem {
  readonly type: string;
  readonly bytes: number;
  /** The first version of Linux, major and minor, that mounts copies of one disk at the same time. Default: any. */
  readonly linuxMin?: readonly [number, number];
  /** The program that creates it, and the Debian package with that program. */
  readonly maker: string;
  readonly package: string;
  readonly makerOptions: readonly string[];
  readonly makerEnvironment?: Readonly<Record<string, string>>;
  readonly mountOptions: readonly string[];
}

export type FileSystemKind = "ext4" | "ext4-writeback" | "xfs" | "btrfs";

/** Leaves no work for the background, so that the log holds little but the workload. */
const ext4: FileSystem = {
  type: "ext4",
  bytes: 32 * 2 ** 20,
  maker: "mkfs.ext4",
  package: "e2fsprogs",
  makerOptions: "-q -F -b 4096 -N 2048 -J size=4 -E lazy_itable_init=0,lazy_journal_init=0,nodiscard".split(" "),
  mountOptions: ["noinit_itable", "errors=remount-ro"],
};

export const fileSystems: Readonly<Record<FileSystemKind, FileSystem>> = {
  ext4,
  /** Without the two features by which ext4 protects programs that do not flush. */
  "ext4-writeback": { ...ext4, mountOptions: [...ext4.mountOptions, "data=writeback", "noauto_da_alloc"] },
  /** Needs 300 MiB by default. The variables of its own test suite allow a smaller one. */
  xfs: {
    type: "xfs",
    bytes: 64 * 2 ** 20,
    maker: "mkfs.xfs",
    package: "xfsprogs",
    makerOptions: ["-q", "-f", "-K", "--unsupported", "-d", "agcount=1"],
    makerEnvironment: { TEST_DIR: "1", TEST_DEV: "1", QA_CHECK_FS: "1" },
    // Without it, XFS refuses to mount a copy of a mounted disk.
    mountOptions: ["nouuid"],
  },
  btrfs: {
    type: "btrfs",
    bytes: 64 * 2 ** 20,
    linuxMin: [6, 7],
    maker: "mkfs.btrfs",
    package: "btrfs-progs",
    makerOptions: ["-q", "-K", "-m", "single"],
    mountOptions: [],
  },
};
